#include "tests/cli/sample_reports.h"

#include <cstdint>
#include <string>
#include <vector>

#include "models/model.h"
#include "profiles/units.h"

namespace kvfit::cli::samples {
namespace {

using planner::Provenance;
using planner::Section;
using planner::Verdict;
using profiles::Bytes;
using profiles::mib;

planner::Question question() {
  planner::Question out;
  out.node.gpu.id = "sample-24g";
  out.node.gpu.name = "Sample GPU (24 GB)";
  out.node.gpu.capability = {12, 0};
  out.node.gpu.cuda_total_linux.value = {mib(24000), mib(24064), mib(24128)};
  out.model.id = "sample-moe";
  out.model.repository = "example/Sample-MoE-NVFP4";
  out.model.family = "sample_moe";
  out.model.layers.resize(2);
  for (models::Layer& layer : out.model.layers) layer.moe = models::Moe{.experts = 256, .top_k = 8, .intermediate = 512};
  out.model.vision = models::Vision{};
  out.serving.kv_cache_dtype = "fp8";
  return out;
}

planner::Settings settings() {
  planner::Settings out;
  out.max_model_len = 8192;
  out.max_num_seqs = 16;
  out.max_num_batched_tokens = 2048;
  out.gpu_memory_utilization = 0.94;
  out.kv_cache_dtype = "fp8_e4m3";
  out.attention_backend = "flashinfer";
  return out;
}

// 512 + 18432 + 1024 + 640 + 2048 + 384 = 23040 MiB of 24064: 1024 free.
planner::Ledger ledger(std::int64_t pool_mib) {
  planner::Ledger out;
  out.total = mib(24064);
  out.entries = {
      {"context", "CUDA context", Section::before_engine, mib(512), mib(64), Provenance::measured, "profile of the GPU"},
      {"weights.experts", "routed experts (192 x 2 layers, NVFP4)", Section::weights, mib(18432), Bytes(0),
       Provenance::derived, "tensor inventory"},
      {"weights.attention", "attention", Section::weights, mib(1024), Bytes(0), Provenance::derived, "tensor inventory"},
      {"profile.activation", "activation peak", Section::profile, mib(640), mib(96), Provenance::derived,
       "rule profile.peak"},
      {"kv_cache.pool", "KV cache pool", Section::kv_cache, mib(pool_mib), mib(115), Provenance::derived,
       "budget - weights - profile"},
      {"outside.graphs", "CUDA graphs beyond the estimate", Section::outside, mib(384), mib(128), Provenance::measured,
       "rule graphs.capture"},
  };
  planner::close(out);
  return out;
}

planner::Check check(std::string id, planner::Check::Kind kind, std::int64_t need_mib, std::int64_t have_mib,
                     std::int64_t error_mib, Verdict verdict, bool certain, std::string text) {
  planner::Check out;
  out.id = std::move(id);
  out.kind = kind;
  out.need = mib(need_mib);
  out.have = mib(have_mib);
  out.error = mib(error_mib);
  out.verdict = verdict;
  out.certain = certain;
  out.text = std::move(text);
  return out;
}

planner::Rung rung(std::int64_t experts, std::int64_t context, Verdict verdict, std::int64_t margin_mib,
                   std::string remark = {}) {
  planner::Rung out;
  out.experts = experts;
  out.max_model_len = context;
  out.max_num_seqs = 16;
  out.verdict = verdict;
  out.binding = "kv_one_request";
  out.checkpoint = mib(4096 + 72 * experts);
  out.margin = mib(margin_mib);
  out.error = mib(128);
  out.remark = std::move(remark);
  return out;
}

// A plan whose pool check has the given margin (need 256 MiB).
Report planned(Verdict verdict, bool certain, std::int64_t margin_mib) {
  using enum planner::Check::Kind;
  Report out;
  out.question = question();
  out.engine = "vllm";
  out.engine_version = "0.24";
  out.inputs = {{"hardware", "sample-24g", "built-in:hardware/sample-24g.yaml"},
                {"models", "sample-moe", "built-in:models/sample-moe.yaml"},
                {"engines", "vllm", "built-in:engines/vllm.yaml"}};
  planner::Plan& plan = out.plan;
  plan.settings = settings();
  plan.experts = 192;
  plan.ledgers = {ledger(256 + margin_mib)};
  plan.checks = {check("free_memory", boot, 22620, 23552, 64, Verdict::fits, true, ""),
                 check("kv_one_request", boot, 256, 256 + margin_mib, 115, verdict, certain,
                       "refuses to start: the KV cache cannot hold one request of 8,192 tokens"),
                 check("run", run, 0, 1024, 180, Verdict::fits, true, "")};
  planner::Check blocks = check("mamba_blocks", boot, 0, 0, 0, Verdict::fits, true, "");
  blocks.need_count = 16;
  blocks.have_count = 120;
  plan.checks.insert(plan.checks.begin() + 2, blocks);
  plan.kv = {.available = mib(256 + margin_mib),
             .needed = mib(256),
             .block_size = 16,
             .num_gpu_blocks = 4096,
             .blocks_per_request = 512,
             .tokens = 65536,
             .max_concurrency = 8,
             .estimated_max_len = 65536,
             .bytes_per_block = Bytes(524288),
             .groups = 1,
             .group_size = 2};
  plan.verdict = verdict;
  plan.binding = "kv_one_request";
  plan.highest_safe_utilization = 0.94;
  plan.ladder = {rung(256, 8192, Verdict::does_not_fit, -2816), rung(192, 8192, verdict, margin_mib),
                 rung(160, 32768, Verdict::fits, 2048, "no fused top-k kernel for 160 experts")};
  plan.levers = {{"mtp_off", "draft head off", mib(0), verdict}, {"fewer_experts", "160 experts", mib(2304), Verdict::fits}};
  plan.assumptions = {"native Linux: CUDA sees 23.50 GiB"};
  return out;
}

Report fits() {
  Report out = planned(Verdict::fits, true, 1792);
  out.defaults = {"utilisation 0.94 is kvfit's default, not the engine's"};
  out.published = {{192, "decode", 168, 169, "tok/s", "4.4K prompt, one stream", "example.org/card", "2026-07-20"},
                   {192, "time to first token", 288, 293, "ms", "4.4K prompt", "example.org/card", "2026-07-20"},
                   {0, "draft gain", 41, 41, "%", "4 draft tokens", "example.org/page", "2026-07-21"}};
  out.serve = runtime::serve_command(out.question, out.plan);
  return out;
}

Report tight() {
  Report out = planned(Verdict::tight, true, 64);
  out.plan.highest_safe_utilization = 0.931;
  out.plan.findings = {{"KVF002", planner::Finding::Level::warning, "the error bar of kv_one_request crosses zero",
                        "leave 0.06 GiB more, see the levers"}};
  out.serve = runtime::serve_command(out.question, out.plan);
  return out;
}

Report does_not_fit(bool certain) {
  Report out = planned(Verdict::does_not_fit, certain, certain ? -384 : -64);
  out.plan.findings = {{"KVF001", planner::Finding::Level::error, "the KV cache cannot hold one request", ""}};
  return out;
}

Report refused() {
  Report out = planned(Verdict::refused, true, 0);
  out.plan = {};
  out.plan.verdict = Verdict::refused;
  out.plan.gates = {
      {.verdict = hardware::GateVerdict::refused,
       .policy = true,
       .format = "nvfp4 (modelopt)",
       .how = "Marlin W4A16 weight-only",
       .reason =
           "kvfit's policy: compute capability 8.6 is below the vendor's floor of 9.0 for NVFP4; --allow-fallback plans it",
       .rule = "weights.nvfp4.vendor_min",
       .source = "vendor model card"}};
  return out;
}

Report unknown() {
  Report out = planned(Verdict::unknown, true, 0);
  out.plan = {};
  out.plan.findings = {
      {"KVF000", planner::Finding::Level::error, "no rule covers KV cache type 'int3'", "kvfit explain kv_cache_dtype"}};
  return out;
}

}  // namespace

std::vector<Sample> all() {
  return {{"fits", fits()},
          {"tight", tight()},
          {"no-certain", does_not_fit(true)},
          {"no-uncertain", does_not_fit(false)},
          {"refused", refused()},
          {"unknown", unknown()}};
}

}  // namespace kvfit::cli::samples
