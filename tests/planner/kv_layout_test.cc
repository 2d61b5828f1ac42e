// Grouping, packing, stages and checks: the parts of a KV layout that one number decides.
#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <vector>

#include "planner/kv_capacity.h"
#include "planner/packed_kv.h"
#include "planner/rank.h"
#include "profiles/units.h"
#include "tests/planner/kv_support.h"

namespace kvfit::planner {
namespace {

using models::Attention;
using models::Layer;
using models::Model;
using profiles::Bytes;
using profiles::from_gib;
using test::Deployment;

Layer with(const Attention& attention) {
  Layer out;
  out.attention = attention;
  return out;
}

// DeepSeek-V4-Flash: 43 layers, compress ratios 0, 0, 4, 128, 4, 128 ... 4; entries of 512, index keys of 128.
Model deepseek_v4_flash() {
  Model out;
  for (int i = 0; i < 43; ++i) {
    Attention attention;
    attention.kind = Attention::Kind::mla;
    attention.head_dim = 512;
    attention.window = 128;
    attention.compress_ratio = i < 2 ? 0 : (i % 2 == 0 ? 4 : 128);
    if (attention.compress_ratio == 4) attention.indexer = models::Indexer{64, 128, 512, true};
    out.layers.push_back(with(attention));
  }
  return out;
}

std::vector<KvLayout> packed(const std::string& version) {
  Settings settings;
  settings.kv_cache_dtype = "fp8_ds_mla";
  settings.block_size = 256;
  const Traits traits{{"compressed", std::string("yes")}, {"sparse", std::string("yes")}};
  return kv_layouts(deepseek_v4_flash(), nullptr, settings, test::vllm_rules(version), traits);
}

TEST_CASE("compressed caches pack into one full group, two of windows and two of compressor states") {
  const KvLayout layout = packed("0.30").front();
  CHECK(layout.group_count == 5);
  // 21 x (37,440 + 8,640) of ratio 4 and 20 x 1,728 of ratio 128
  CHECK(layout.bytes_per_block == 21 * (37440 + 8640) + 20 * 1728);
  CHECK(layout.bytes_per_block == 1002240);
  CHECK(layout.block_size == 256);
}

// v0.31-dev on 8 GPUs: 47.43 GiB, 262,144 tokens, 16,384 in flight -> 6.594x, 1,728,531 tokens (public boot).
// H200: 77.53 GiB, 131,072 tokens -> 11.55x, 1,513,358 tokens (public boot).
TEST_CASE("compressed caches: the two public boots are exact") {
  const KvLayout layout = packed("0.30").front();
  const std::int64_t wide = pool_blocks(layout, from_gib(47.43));
  CHECK(pages_per_request(layout, 262144, 16384) == 7706);
  CHECK(max_concurrency(layout, wide, 262144, 16384) == doctest::Approx(6.594).epsilon(0.0002));
  CHECK(std::abs(printed_tokens(layout, wide, 262144, 16384) - 1728531) <= 200);  // 47.43 is rounded: +- 5 blocks
  const std::int64_t h200 = pool_blocks(layout, from_gib(77.53));
  CHECK(max_concurrency(layout, h200, 131072, 16384) == doctest::Approx(11.55).epsilon(0.0005));
}

// Two GH200, a build of May to July 2026: "6.66 GiB KV cache is needed" for 30,000 tokens, 16,384 in flight.
TEST_CASE("earlier builds pad every page class to the tuple count") {
  const KvLayout layout = packed("0.25").front();
  CHECK(layout.bytes_per_block == 22 * (37440 + 8640 + 1728));
  CHECK(profiles::to_gib(kv_needed(layout, 30000, 16384)) == doctest::Approx(6.66).epsilon(0.0005));
}

TEST_CASE("the tuple count with the least padding wins, the larger of equals") {
  const std::vector<std::int64_t> flash{21, 43, 21, 20};
  CHECK(least_padding(flash, 21) == 22);  // 1 + 1 + 1 + 2 = 5 of padding
  const std::vector<std::int64_t> equals{4, 8};
  CHECK(least_padding(equals, 4) == 4);  // none at 4; 4 at 8
  const std::vector<std::int64_t> pair{3, 3};
  CHECK(least_padding(pair, 1) == 3);  // none at 1 and at 3
}

// Pages of 16 x 8 x 520 = 66,560 and 16 x 2 x 1,032 = 33,024 bytes at TP2: ratio 2.0155, so on v0.22 blocks double and the
// rest is padded; since v0.24 pages are padded as they are.
TEST_CASE("a page that does not divide the largest grows by the whole ratio and is padded") {
  Deployment how;
  how.tp = 2;
  how.kv_cache_dtype = "int8_per_token_head";
  how.version = "0.22";
  const KvLayout layout = test::layout(test::model("gemma-4-31b"), how);
  CHECK(layout.page_bytes == 16 * 8 * (2 * 256 + 8));
  CHECK(layout.block_size == 16);  // of the first group, which is sliding
  CHECK(layout.groups[1].block_size == 32);
  CHECK(layout.refusal.empty());
  how.version = "0.25";
  CHECK(test::layout(test::model("gemma-4-31b"), how).groups[1].block_size == 16);
}

// GLM-5.3-Flash at TP8: 11 sparse latent layers (512 x 2 bytes, no rotary part; keys pooled by four) under 34 Kimi delta
// layers of 64 heads x 128. A public boot of v0.31.1rc1: block 640, state padded by 20.75 %, 28.73 GiB, 262,144 tokens
// -> 2,618,281 tokens.
Model pooled_sparse_hybrid() {
  Model out;
  for (int i = 0; i < 45; ++i) {
    if (i % 4 == 3) {
      Attention attention = test::latent(512, 0);
      attention.indexer = models::Indexer{32, 128, 2048, true, 4, 1, 0};
      out.layers.push_back(with(attention));
      continue;
    }
    models::Recurrent state;
    state.kind = models::Recurrent::Kind::kimi_delta;
    state.k_heads = state.v_heads = 64;
    state.k_dim = state.v_dim = 128;
    state.conv_kernel = 4;
    out.layers.emplace_back().recurrent = state;
  }
  return out;
}

TEST_CASE("pooled index keys: states lie under latent layers, rings under keys, one block holds both") {
  Settings settings;
  settings.tp = 8;
  settings.kv_cache_dtype = "bf16";
  const Traits traits{{"mla", std::string("yes")}, {"hybrid", std::string("yes")}, {"recurrent", std::string("kimi_delta")}};
  const KvLayout layout =
      kv_layouts(pooled_sparse_hybrid(), nullptr, settings, test::vllm_rules("0.31.1rc1.dev50"), traits).front();
  CHECK(layout.block_size == 640);
  CHECK(layout.hybrid.padding_percent == doctest::Approx(20.7547).epsilon(0.00001));
  CHECK(layout.bytes_per_block == 11 * (640 * 1024 + 160 * 132));
  CHECK(layout.group_count == 6);
  CHECK(pages_per_request(layout, 262144, 16384) == 410 + 1 + 4);
  const std::int64_t blocks = pool_blocks(layout, from_gib(28.73));
  CHECK(blocks == 4145);
  CHECK(printed_tokens(layout, blocks, 262144, 16384) == 2618281);
}

// gpt-oss-20b with a drafter: 13 full, 12 sliding. Up to v0.11 the smaller bucket counts: 12 -> 2 + 1 groups.
TEST_CASE("groups take the larger bucket when it is barely larger") {
  Model model = test::model("gpt-oss-20b");
  model.draft = models::Draft{"eagle3", "", {with(test::full(8, 64))}, false, false};
  Deployment how;
  how.drafted = 1;
  how.version = "0.24";
  CHECK(test::layout(model, how).group_count == 2);
  CHECK(test::layout(model, how).group_size == 13);
  CHECK(test::layout(model, how).padding_layers == 1);
  how.version = "0.11";
  CHECK(test::layout(model, how).group_count == 3);
  CHECK(test::layout(model, how).group_size == 12);
}

TEST_CASE("without the hybrid manager a window costs the whole length") {
  Settings settings;
  settings.kv_cache_dtype = "bf16";
  settings.hybrid_kv_manager = false;
  const KvLayout layout = kv_layouts(test::model("gpt-oss-20b"), nullptr, settings, test::vllm_rules("0.24"), {}).front();
  CHECK(layout.group_count == 1);
  CHECK(layout.bytes_per_block == 24 * 32768);
  CHECK(pages_per_request(layout, 8192, 8192) == 512);
}

// Index keys (64 x 132 bytes) and latent entries (64 x 1,152) share a block table: 78 x (73,728 + 8,448).
TEST_CASE("caches of one type and many sizes form one group") {
  Deployment how;
  how.block_size = 64;
  const KvLayout layout = test::layout(test::model("glm-5"), how);
  CHECK(layout.group_count == 1);
  CHECK(layout.bytes_per_block == 78 * (73728 + 8448));
  CHECK(layout.page_bytes == 0);
}

TEST_CASE("remaining layers go to the stages before the last") {
  CHECK(layers_per_stage(32, 2) == std::vector<std::int64_t>{16, 16});
  CHECK(layers_per_stage(61, 4) == std::vector<std::int64_t>{15, 15, 16, 15});
  CHECK(layers_per_stage(63, 4) == std::vector<std::int64_t>{16, 16, 16, 15});
  CHECK(layers_per_stage(48, 1) == std::vector<std::int64_t>{48});
}

// Qwen3-Coder-30B, PP2, 3.18 GiB: v0.14 to v0.16 compare all 48 layers' need with one stage (a public boot: "24.0 GiB is
// needed", estimate 34,736); since v0.17 each stage's own 24 layers.
TEST_CASE("pipeline stages: older versions ask one stage for the whole model's need") {
  Deployment how;
  how.pp = 2;
  how.version = "0.15";
  const KvLayout before = test::layouts(test::model("qwen3-30b"), how)[1];
  CHECK(profiles::to_gib(kv_needed(before, 262144, 8192)) == 24.0);
  CHECK(estimated_max_len(before, from_gib(3.18), 262144, 8192) == 34720);  // one block below: 3.18 is rounded
  CHECK(estimated_max_len(before, from_gib(3.181), 262144, 8192) == 34736);
  how.version = "0.17";
  const KvLayout since = test::layouts(test::model("qwen3-30b"), how)[1];
  CHECK(profiles::to_gib(kv_needed(since, 262144, 8192)) == 12.0);
  CHECK(pool_blocks(before, from_gib(3.18)) == pool_blocks(since, from_gib(3.18)));
}

TEST_CASE("the pool is as small as its smallest stage") {
  Deployment how;
  how.pp = 4;
  const std::vector<KvLayout> stages = test::layouts(test::model("deepseek-v3"), how);
  REQUIRE(stages.size() == 4);
  CHECK(stages[2].bytes_per_block == 16 * 16 * 1152);
  CHECK(stages[3].bytes_per_block == 15 * 16 * 1152);
  const std::vector<Bytes> alike(4, from_gib(10));
  CHECK(common_blocks(stages, alike) == pool_blocks(stages[2], from_gib(10)));
}

// GLM-5.1 TP8, fp8_ds_mla: 19.47 GiB gives 680,192 tokens with two context shards, twice what one would.
TEST_CASE("context parallelism multiplies tokens and divides a request's blocks") {
  Deployment how;
  how.tp = 8;
  how.dcp = 2;
  how.block_size = 64;
  how.kv_cache_dtype = "fp8_ds_mla";
  how.version = "0.20";
  const KvLayout layout = test::layout(test::model("glm-5"), how);
  CHECK(pages_per_request(layout, 202752, 8192) == 1584);
  CHECK(printed_tokens(layout, pool_blocks(layout, from_gib(19.47)), 202752, 8192) ==
        doctest::Approx(680192).epsilon(0.0003));
}

// One block is the pool's null block since August 2026.
TEST_CASE("the fit check leaves the null block out where the version does") {
  Deployment how;
  how.version = "0.28";
  const Model model = test::model("qwen3-30b");
  const Bytes need = kv_needed(test::layout(model, how), 8192, 8192);
  CHECK(estimated_max_len(test::layout(model, how), need, 8192, 8192) == 8192);
  CHECK(least_pool(test::layout(model, how), 8192, 8192) == need);
  how.version = "0.29";
  CHECK(estimated_max_len(test::layout(model, how), need, 8192, 8192) == 8176);
  CHECK(least_pool(test::layout(model, how), 8192, 8192) == need + Bytes(48 * 32768));
  how.version = "0.28.1rc1.dev100";
  CHECK(estimated_max_len(test::layout(model, how), need, 8192, 8192) == 8176);
  how.version = "0.28.1";
  CHECK(estimated_max_len(test::layout(model, how), need, 8192, 8192) == 8192);
}

// Public refusals: "max_num_seqs (1024) exceeds available Mamba cache blocks (969)" since v0.20; "block_size (2096) must be
// <= max_num_batched_tokens (2048)" from v0.17 to v0.24.
TEST_CASE("states limit sequences to blocks and, in mode align, batches to whole blocks") {
  Settings settings;
  settings.kv_cache_dtype = "fp8_e4m3";
  settings.state_dtype = profiles::DType::f32;
  settings.mamba_mode = MambaMode::align;
  settings.full_capture_sizes = 5;
  const auto layout = [&](const std::string& version) {
    return kv_layouts(test::model("35B-A3B"), nullptr, settings, test::vllm_rules(version), {}).front();
  };
  CHECK(sequence_limit(layout("0.20"), 969) == 969);
  CHECK(sequence_limit(layout("0.19"), 969) == 0);
  CHECK(layout("0.24").least_batch == 2096);
  CHECK(layout("0.25").least_batch == 0);
  CHECK(layout("0.16").least_batch == 0);
  settings.eager = true;
  settings.mamba_mode = MambaMode::none;
  CHECK(sequence_limit(layout("0.20"), 969) == 0);
  CHECK(layout("0.24").least_batch == 0);
  CHECK(sequence_limit(test::layout(test::model("qwen3-30b"), {}), 969) == 0);
}

// A drafter of five windowed layers (8 x 128) beside latent attention: 64 x 4,096 and 64 x 1,152 bytes a page; the latter
// does not divide the former.
TEST_CASE("a windowed drafter beside latent attention is kept whole") {
  const Model target = test::model("deepseek-v3");
  Model draft;
  draft.layers.assign(5, with(test::sliding(8, 128, 2048)));
  Settings settings;
  settings.kv_cache_dtype = "bf16";
  settings.block_size = 64;
  settings.speculative_tokens = 7;
  const Speculative speculative{"dflash", 7, std::make_shared<const Model>(draft), nullptr};
  const KvLayout layout = kv_layouts(target, &speculative, settings, test::vllm_rules("0.28"), {}).front();
  CHECK(layout.group_count == 1);
  CHECK(layout.bytes_per_block == 64 * (61 * 1152 + 5 * 4096));
}

// Qwen3.8-27B-FP8 with a DFlash drafter of five windowed layers (8 heads of 128, window 2,048) and seven drafted tokens:
// block 832, 10 groups of states, 4 of full layers, 1 of the drafter; 1,018 blocks for 4,096 tokens -> 35,945 tokens,
// 8.78x (a public v0.28 boot log).
TEST_CASE("a drafter's windowed layers set the size of all groups") {
  Model draft;
  draft.layers.assign(5, with(test::sliding(8, 128, 2048)));
  Settings settings;
  settings.kv_cache_dtype = "bf16";
  settings.state_dtype = profiles::DType::f32;
  settings.mamba_mode = MambaMode::align;
  settings.speculative_tokens = 7;
  const Speculative speculative{"dflash", 7, std::make_shared<const Model>(draft), nullptr};
  const KvLayout layout = kv_layouts(test::model("27B"), &speculative, settings, test::vllm_rules("0.28"), {}).front();
  CHECK(layout.block_size == 832);
  CHECK(layout.page_bytes == 3407872);
  CHECK(layout.group_count == 15);
  CHECK(layout.group_size == 5);
  CHECK(layout.padding_layers == 4 + 2);
  CHECK(pages_per_request(layout, 4096, 8192) == 116);
  CHECK(printed_tokens(layout, 1018, 4096, 8192) == 35945);
}

TEST_CASE("a layer that reads another's cache owns none") {
  Model model = test::model("qwen3-30b");
  model.layers[47].attention->kv_from_layer = 46;
  CHECK(test::layout(model, {}).bytes_per_block == 47 * 32768);
}

// Qwen2.5-7B, turboquant_k8v4, 16,384 tokens, 4.96 GiB -> 197,104 tokens, 12.03x (public boot): 24 layers of
// 4 x (128 + 64 + 4) and 4 of 4 x 512 bytes a token.
TEST_CASE("TurboQuant leaves two layers at each end in the model's type") {
  Model model;
  model.layers.assign(28, with(test::full(4, 128)));
  Settings settings;
  settings.kv_cache_dtype = "turboquant_k8v4";
  const KvLayout layout =
      kv_layouts(model, nullptr, settings, test::vllm_rules("0.21"), {{"hybrid", std::string("no")}}).front();
  CHECK(layout.bytes_per_block == 16 * (24 * 784 + 4 * 2048));
  const std::int64_t blocks = 12319;
  CHECK(pool_blocks(layout, from_gib(4.9551)) <= blocks);
  CHECK(pool_blocks(layout, from_gib(4.9649)) >= blocks);
  CHECK(printed_tokens(layout, blocks, 16384, 8192) == 197104);
}

TEST_CASE("keys and values of different width both count") {
  Model model;
  Attention attention = test::full(4, 192);
  attention.head_dim_v = 128;
  model.layers.assign(10, with(attention));
  CHECK(test::layout(model, {}).bytes_per_block == 10 * 16 * 4 * (192 + 128) * 2);
}

TEST_CASE("more ranks than KV heads keep a copy each") {
  Deployment how;
  how.tp = 8;
  CHECK(test::layout(test::model("qwen3-30b"), how).page_bytes == 16 * 1 * 2 * 128 * 2);
}

}  // namespace
}  // namespace kvfit::planner
