#include "carve/layout.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "carve/output_shard.h"
#include "profiles/error.h"
#include "tests/support/synthetic_checkpoint.h"
#include "tests/support/temp_directory.h"

namespace kvfit::carve {
namespace {

using profiles::DType;
using tests::SyntheticTensor;
using tests::TempDirectory;
using Tensors = std::vector<SyntheticTensor>;

// A checkpoint of one file whose config has `experts`.
struct Case {
  TempDirectory directory;
  Source source;
  explicit Case(const Tensors& tensors) {
    tests::write_safetensors(directory / "model.safetensors", tensors);
    directory.write("config.json", "{}");
    source = open_source(directory.path().string(), {});
  }
  Layout layout(ConfigHints hints = {}, LayoutOptions options = {}) const { return recognise(source, hints, options); }
  std::string refusal(ConfigHints hints = {}) const {
    try {
      layout(hints);
    } catch (const profiles::Error& error) {
      return error.message();
    }
    return "";
  }
  Part part(const Layout& of, const std::string& name) const {
    const std::vector<models::HeaderTensor>& tensors = source.shards[0].header.tensors;
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      if (tensors[i].name == name) return of.places[0][i].part;
    }
    FAIL("no tensor " << name);
    return Part::whole;
  }
};

Tensors per_expert(const std::string& block, int experts, const std::string& router = "gate.weight") {
  Tensors out = {{block + "." + router, DType::bf16, {experts, 8}}};
  for (int e = 0; e < experts; ++e) {
    for (const char* const projection : {"gate_proj", "up_proj", "down_proj"}) {
      out.push_back({block + ".experts." + std::to_string(e) + "." + projection + ".weight", DType::bf16, {4, 8}});
    }
  }
  return out;
}

Tensors with(Tensors tensors, const Tensors& more) {
  tensors.insert(tensors.end(), more.begin(), more.end());
  return tensors;
}

}  // namespace

TEST_CASE("experts, router and score correction of one block are told from what a carve never touches") {
  const Case it(
      with(per_expert("model.layers.0.mlp", 8), {{"model.layers.0.mlp.gate.e_score_correction_bias", DType::f32, {8}},
                                                 {"model.layers.0.mlp.shared_experts.up_proj.weight", DType::bf16, {8, 8}},
                                                 {"model.layers.0.self_attn.q_proj.weight", DType::bf16, {8, 8}},
                                                 {"lm_head.weight", DType::bf16, {8, 8}}}));
  const Layout layout = it.layout();
  REQUIRE(layout.blocks.size() == 1);
  CHECK(layout.experts == 8);
  CHECK(layout.blocks[0].form == Form::per_expert);
  CHECK(it.part(layout, "model.layers.0.mlp.experts.3.up_proj.weight") == Part::expert);
  CHECK(it.part(layout, "model.layers.0.mlp.gate.weight") == Part::rows);
  CHECK(it.part(layout, "model.layers.0.mlp.gate.e_score_correction_bias") == Part::rows);
  CHECK(it.part(layout, "model.layers.0.mlp.shared_experts.up_proj.weight") == Part::whole);
  CHECK(it.part(layout, "lm_head.weight") == Part::whole);
}

TEST_CASE("stacked, Granite, MLX and DBRX layouts") {
  CHECK(Case({{"m.layers.0.mlp.router.weight", DType::bf16, {4, 8}},
              {"m.layers.0.mlp.experts.gate_up_proj_blocks", DType::u8, {4, 8, 1, 16}},
              {"m.layers.0.mlp.experts.gate_up_proj_scales", DType::u8, {4, 8, 1}}})
            .layout()
            .blocks[0]
            .form == Form::stacked);
  CHECK(Case({{"m.layers.0.block_sparse_moe.router.layer.weight", DType::bf16, {4, 8}},
              {"m.layers.0.block_sparse_moe.input_linear.weight", DType::bf16, {4, 8, 8}}})
            .layout()
            .experts == 4);
  CHECK(Case({{"m.layers.0.mlp.gate.weight", DType::u32, {4, 8}},
              {"m.layers.0.mlp.gate.scales", DType::bf16, {4, 1}},
              {"m.layers.0.mlp.switch_mlp.up_proj.weight", DType::u32, {4, 8, 8}}})
            .layout()
            .experts == 4);
  const Case dbrx({{"transformer.blocks.0.ffn.router.layer.weight", DType::bf16, {4, 8}},
                   {"transformer.blocks.0.ffn.experts.mlp.w1", DType::bf16, {24, 8}}});
  CHECK(dbrx.layout({.experts = 4}).blocks[0].form == Form::flattened);
  CHECK(dbrx.refusal().find("rows are not a multiple of the expert count") != std::string::npos);
}

TEST_CASE("a block may be the whole layer, whose other widths may equal the expert count") {
  const Case gemma({{"model.language_model.layers.0.router.proj.weight", DType::bf16, {4, 8}},
                    {"model.language_model.layers.0.router.scale", DType::bf16, {8}},
                    {"model.language_model.layers.0.router.per_expert_scale", DType::bf16, {4}},
                    {"model.language_model.layers.0.experts.down_proj", DType::bf16, {4, 8, 8}},
                    {"model.language_model.layers.0.self_attn.k_norm.weight", DType::bf16, {4}}});
  const Layout layout = gemma.layout();
  CHECK(gemma.part(layout, "model.language_model.layers.0.router.scale") == Part::whole);
  CHECK(gemma.part(layout, "model.language_model.layers.0.router.per_expert_scale") == Part::rows);
  CHECK(gemma.part(layout, "model.language_model.layers.0.self_attn.k_norm.weight") == Part::whole);
}

TEST_CASE("a bias along the second axis is cut there") {
  const Case ernie(with(per_expert("model.layers.1.mlp", 4),
                        {{"model.layers.1.mlp.moe_statics.e_score_correction_bias", DType::f32, {1, 4}}}));
  CHECK(ernie.part(ernie.layout(), "model.layers.1.mlp.moe_statics.e_score_correction_bias") == Part::columns);
}

TEST_CASE("draft heads are found by name and by layer number, carved, dropped or kept") {
  const Case it(with(per_expert("model.layers.0.mlp", 4),
                     with(per_expert("mtp.layers.0.mlp", 4), {{"mtp.fc.weight", DType::bf16, {8, 8}}})));
  CHECK(it.layout().blocks.size() == 2);
  CHECK(it.layout().blocks[1].draft);
  const Layout dropped = it.layout({}, {.draft = DraftMode::drop});
  CHECK(dropped.blocks.size() == 1);
  CHECK(it.part(dropped, "mtp.fc.weight") == Part::dropped);
  const Layout kept = it.layout({}, {.draft = DraftMode::keep});
  CHECK(it.part(kept, "mtp.layers.0.mlp.experts.0.up_proj.weight") == Part::whole);
  CHECK(kept.findings.size() == 1);
  const Case deepseek(with(per_expert("model.layers.3.mlp", 4), per_expert("model.layers.61.mlp", 4)));
  CHECK(deepseek.layout({.trunk_layers = 61}).blocks[1].draft);
}

TEST_CASE("what looks like experts and is not understood stops the run") {
  const Tensors plain = per_expert("model.layers.0.mlp", 8);
  CHECK(Case(with(plain, {{"model.layers.0.mlp.experts.weird", DType::bf16, {8}}})).refusal() ==
        "one name looks like experts and is not understood:\n    model.layers.0.mlp.experts.weird (a name below 'experts' "
        "that is not understood)");
  CHECK(Case(with(plain, {{"model.layers.0.mlp.mystery", DType::bf16, {3, 8}}})).refusal() ==
        "one name looks like experts and is not understood:\n    model.layers.0.mlp.mystery (an axis of 8 beside the "
        "experts)");
  CHECK(Case(with(plain, {{"model.layers.7.mlp.experts.odd", DType::bf16, {8}}})).refusal().find("experts of no block") !=
        std::string::npos);
  CHECK(Case(per_expert("model.layers.0.mlp", 8, "gateway.weight")).refusal().find("this block has experts and no router") !=
        std::string::npos);
}

TEST_CASE("blocks that break an invariant are refused with the reason") {
  Tensors missing = per_expert("model.layers.0.mlp", 4);
  missing.pop_back();
  CHECK(Case(missing).refusal() == "'model.layers.0.mlp' is incomplete: expert 3 of 0 to 3 has no 'down_proj.weight'");
  Tensors other = per_expert("model.layers.0.mlp", 4);
  other.back().shape = {4, 16};
  CHECK(Case(other).refusal() ==
        "'model.layers.0.mlp.experts.3.down_proj.weight' has another dtype or shape than its siblings");
  Tensors router = per_expert("model.layers.0.mlp", 4);
  router.front().shape = {5, 8};
  CHECK(Case(router).refusal().find("the router has 5 rows for 4 experts") != std::string::npos);
  CHECK(Case(with(per_expert("model.layers.0.mlp", 4), per_expert("model.layers.1.mlp", 8))).refusal() ==
        "'model.layers.0.mlp' has 4 experts and 'model.layers.1.mlp' has 8");
  CHECK(Case(with(per_expert("layers.0.ffn", 4), {{"layers.0.ffn.gate.tid2eid", DType::i64, {16, 2}}})).refusal() ==
        "'layers.0.ffn.gate.tid2eid' picks experts by token, not by router");
  CHECK(Case({{"layers.0.ffn.experts.0.w1.rank0.trellis", DType::i16, {4}}}).refusal() ==
        "'layers.0.ffn.experts.0.w1.rank0.trellis' is one rank's slice of an expert");
  CHECK(Case(with(per_expert("m.layers.0.mlp", 4), {{"m.layers.0.mlp.gate.weight_scale_inv", DType::f32, {1, 16}}}))
            .refusal()
            .find("the router is quantised in blocks that span experts") != std::string::npos);
  CHECK(Case({{"lm_head.weight", DType::bf16, {8, 8}}}).refusal() == "this checkpoint has no routed experts");
}

TEST_CASE("EXL3 experts may have trellises of different widths") {
  Tensors tensors = {{"m.layers.0.mlp.gate.weight", DType::bf16, {4, 8}}};
  for (int e = 0; e < 4; ++e) {
    tensors.push_back(
        {"m.layers.0.mlp.experts." + std::to_string(e) + ".up_proj.trellis", DType::i16, {2, 2, 48 + 16 * (e % 2)}});
  }
  CHECK(Case(tensors).layout().experts == 4);
}

}  // namespace kvfit::carve
