#include "hardware/gate.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "hardware/gate_rules.h"
#include "hardware/gpu_catalog.h"

namespace kvfit::hardware {
namespace {

const GateRules& rules() {
  static const GateRules all = load_gate_rules(profiles::Catalog(), "vllm");
  return all;
}

std::vector<Gpu> group(const std::vector<const char*>& ids) {
  std::vector<Gpu> out;
  for (const char* id : ids) out.push_back(load_gpu(profiles::Catalog(), id));
  return out;
}

Gate weights(const std::vector<const char*>& ids, const char* format, const char* quantiser, bool allow_fallback = false) {
  return gate_weights(rules(), group(ids), format, quantiser, allow_fallback);
}

// "verdict rule", with "policy" between them where kvfit's policy refuses.
std::string brief(const Gate& gate) {
  return std::string(verdict_name(gate.verdict)) + (gate.policy ? " policy " : " ") + gate.rule;
}

std::string kv(const char* id, const char* dtype, bool mla = false, bool sparse = false) {
  return brief(gate_kv_cache(rules(), group({id}), dtype, mla, sparse));
}

TEST_CASE("NVFP4 is native from 10.0, weight-only on Hopper, refused by policy below") {
  for (const char* quantiser : {"modelopt", "compressed-tensors", "modelopt_mixed"}) {
    CHECK(brief(weights({"rtx5090-32g"}, "nvfp4", quantiser)) == "native weights.nvfp4.native");
    CHECK(brief(weights({"gb10"}, "nvfp4", quantiser)) == "native weights.nvfp4.native");
    CHECK(brief(weights({"b300"}, "nvfp4", quantiser)) == "native weights.nvfp4.native");
    CHECK(brief(weights({"jetson-thor"}, "nvfp4", quantiser)) == "native weights.nvfp4.native_110");
    CHECK(brief(weights({"h100-sxm"}, "nvfp4", quantiser)) == "fallback weights.nvfp4.hopper");
    CHECK(brief(weights({"l40s"}, "nvfp4", quantiser)) == "refused policy weights.nvfp4.vendor_min");
  }
  CHECK(brief(weights({"rtx3090-24g"}, "nvfp4", "modelopt")) == "refused policy weights.nvfp4.vendor_min");
  CHECK(brief(weights({"rtx3090-24g"}, "nvfp4", "compressed-tensors")) == "refused policy weights.nvfp4.vendor_min");
  CHECK(brief(weights({"rtx3090-24g"}, "nvfp4", "modelopt_mixed")) == "refused policy weights.nvfp4.mixed_floor");
}

TEST_CASE("NVFP4 kept weight-only by its scheme falls back even on Blackwell, and the policy holds for it too") {
  // vllm-project/vllm#47749: W4A16_NVFP4 pins Marlin on every GPU.
  CHECK(brief(weights({"rtx5090-32g"}, "nvfp4_w4a16", "modelopt")) == "fallback weights.nvfp4.weight_only_scheme");
  CHECK(brief(weights({"h100-sxm"}, "nvfp4_w4a16", "modelopt")) == "fallback weights.nvfp4.weight_only_scheme");
  CHECK(brief(weights({"rtx3090-24g"}, "nvfp4_w4a16", "modelopt")) == "refused policy weights.nvfp4.vendor_min");
}

TEST_CASE("a refusal by policy says that it is one, and what the engine would do") {
  const Gate gate = weights({"rtx3090-24g"}, "nvfp4", "modelopt");
  CHECK(gate.format == "nvfp4 (modelopt)");
  CHECK(gate.how == "Marlin W4A16 weight-only");
  CHECK(
      gate.reason ==
      "kvfit's policy: GeForce RTX 3090 (24 GB) (8.6) is below NVIDIA's floor (9.0) for NVFP4 checkpoints. The hardware can "
      "run it: vLLM loads it weight-only through Marlin, which saves memory, not compute. --allow-fallback plans it.");
  CHECK_FALSE(gate.source.empty());
}

TEST_CASE("--allow-fallback lifts a policy and nothing else") {
  const Gate lifted = weights({"rtx3090-24g"}, "nvfp4", "modelopt", true);
  CHECK(brief(lifted) == "fallback policy weights.nvfp4.vendor_min");
  CHECK(lifted.how == "Marlin W4A16 weight-only");
  CHECK(brief(weights({"rtx3090-24g"}, "fp8_tensor", "modelopt", true)) == "refused weights.fp8.modelopt");
  CHECK(brief(weights({"rtx5090-32g"}, "nvfp4", "modelopt", true)) == "native weights.nvfp4.native");
}

TEST_CASE("the mixed-precision floor carries both the code and the boot that contradicts it") {
  CHECK(weights({"rtx3090-24g"}, "nvfp4", "modelopt_mixed").reason ==
        "kvfit's policy: GeForce RTX 3090 (24 GB) (8.6) is below NVIDIA's floor (9.0) for NVFP4. vLLM's code also sets 8.9 "
        "as the "
        "floor of ModelOpt MIXED_PRECISION; a weight-only boot on two cards of 8.6 is reported all the same, so the engine "
        "may "
        "or may not start. --allow-fallback plans it.");
  CHECK(brief(weights({"rtx3090-24g"}, "fp8_tensor", "modelopt_mixed")) == "refused policy weights.fp8.modelopt_mixed");
  CHECK(brief(weights({"rtx4090-24g"}, "fp8_tensor", "modelopt_mixed")) == "native weights.fp8.native");
}

TEST_CASE("the whole tensor-parallel group is judged, and its worst member decides") {
  CHECK(brief(weights({"rtx5090-32g", "rtx5090-32g"}, "nvfp4", "modelopt")) == "native weights.nvfp4.native");
  // noonghunna/club-3090#783: the 8.6 rank of a 5090 + 3090 Ti pair dies in bmm_fp8.
  CHECK(brief(weights({"rtx5090-32g", "rtx3090ti-24g"}, "nvfp4", "modelopt_mixed")) == "refused weights.nvfp4.mixed_group");
  CHECK(brief(weights({"rtx3090ti-24g", "rtx5090-32g"}, "nvfp4", "modelopt")) == "refused weights.nvfp4.mixed_group");
  CHECK(brief(weights({"rtx5090-32g", "rtx3090ti-24g"}, "nvfp4", "modelopt", true)) == "refused weights.nvfp4.mixed_group");
  // compressed-tensors reaches Marlin on the older card: only the policy stands against it.
  CHECK(brief(weights({"rtx5090-32g", "rtx3090ti-24g"}, "nvfp4", "compressed-tensors")) ==
        "refused policy weights.nvfp4.vendor_min");
  CHECK(brief(weights({"rtx5090-32g", "h100-sxm"}, "nvfp4", "compressed-tensors")) == "fallback weights.nvfp4.hopper");
  // One capability under two names is no mixed group.
  CHECK(brief(weights({"rtx5090-32g", "rtx-pro-6000-ws"}, "nvfp4", "modelopt")) == "native weights.nvfp4.native");
}

TEST_CASE("FP8 weights run through Marlin on Ampere unless the quantiser has no weight-only path") {
  CHECK(brief(weights({"a100-80g-sxm"}, "fp8_block", "fp8")) == "fallback weights.fp8.weight_only");
  CHECK(weights({"a100-80g-sxm"}, "fp8_block", "fp8").how == "Marlin W8A16 weight-only");
  CHECK(brief(weights({"a100-80g-sxm"}, "fp8_channel", "compressed-tensors")) == "fallback weights.fp8.weight_only");
  CHECK(brief(weights({"a100-80g-sxm"}, "fp8_tensor", "modelopt")) == "refused weights.fp8.modelopt");
  CHECK(brief(weights({"rtx4090-24g"}, "fp8_tensor", "modelopt")) == "native weights.fp8.native");
  CHECK(brief(weights({"h100-sxm"}, "fp8_block", "fp8")) == "native weights.fp8.native");
}

TEST_CASE("other weight formats: MXFP4, int4, int8, EXL3") {
  CHECK(brief(weights({"h100-sxm"}, "mxfp4", "mxfp4")) == "fallback weights.mxfp4.weight_only");
  CHECK(brief(weights({"b200"}, "mxfp4", "mxfp4")) == "native weights.mxfp4.native");
  CHECK(brief(weights({"rtx3090-24g"}, "int4_awq", "awq")) == "native weights.int4.native");
  CHECK(brief(weights({"rtx3090-24g"}, "int8", "compressed-tensors")) == "native weights.int8.native");
  CHECK(brief(weights({"rtx5090-32g"}, "int8", "compressed-tensors")) == "fallback weights.int8.triton");
  CHECK(brief(weights({"rtx5090-32g"}, "int8_w8a16", "gptq")) == "native weights.int8.weight_only");
  CHECK(brief(weights({"rtx5090-32g"}, "exl3", "exl3")) == "native weights.exl3.native");
  CHECK(brief(weights({"b200"}, "exl3", "exl3")) == "refused weights.exl3.no_kernel");
  CHECK(brief(weights({"h100-sxm"}, "int4", "fp_quant")) == "refused weights.fp_quant.no_kernel");
  CHECK(brief(weights({"rtx3090-24g"}, "bf16", "")) == "native weights.bf16.native");
}

TEST_CASE("every weight format that models name has a rule on every GPU") {
  const std::vector<Gpu> all = load_gpus(profiles::Catalog());
  for (const char* format :
       {"bf16", "f16", "f32", "fp8_tensor", "fp8_channel", "fp8_block", "nvfp4", "nvfp4_w4a16", "mxfp4", "mxfp8", "int4",
        "int4_awq", "int4_pack-quantized", "int8", "int8_w8a16", "nf4", "exl3", "gguf", "mlx_4bit"}) {
    for (const Gpu& gpu : all) {
      INFO(gpu.id << " " << format);
      CHECK(gate_weights(rules(), {&gpu, 1}, format, "", false).verdict != GateVerdict::unknown);
    }
  }
}

TEST_CASE("what no rule covers is unknown, and so is an empty group") {
  const Gate gate = weights({"rtx5090-32g"}, "fp5", "");
  CHECK(brief(gate) == "unknown ");
  CHECK(gate.reason == "no rule says whether GeForce RTX 5090 (32 GB) (12.0) runs fp5.");
  CHECK(weights({}, "nvfp4", "modelopt").verdict == GateVerdict::unknown);
}

TEST_CASE("KV formats of standard attention by capability") {
  for (const char* id : {"rtx3090-24g", "a100-80g-sxm", "h100-sxm", "rtx5090-32g"})
    CHECK(kv(id, "auto") == "native kv.16bit");
  CHECK(kv("rtx3090-24g", "fp8_e4m3") == "fallback kv.fp8.flashinfer_only");
  CHECK(kv("rtx3090-24g", "fp8_e5m2") == "fallback kv.fp8_e5m2");
  CHECK(kv("rtx3090-24g", "int8_per_token_head") == "native kv.int8_per_token_head");
  CHECK(kv("rtx4090-24g", "fp8") == "native kv.fp8.native");
  CHECK(kv("h100-sxm", "fp8") == "native kv.fp8.fa3");
  CHECK(kv("rtx5090-24g", "fp8") == "native kv.fp8.native");
  CHECK(kv("b200", "nvfp4") == "native kv.nvfp4.native");
  CHECK(kv("rtx5090-32g", "nvfp4") == "refused kv.nvfp4.no_kernel");
  CHECK(kv("h100-sxm", "nvfp4") == "refused kv.nvfp4.no_kernel");
  CHECK(kv("b200", "fp8_ds_mla") == "refused kv.fp8_ds_mla.sparse_only");
  CHECK(kv("rtx3090-24g", "turboquant_3bit_nc") == "fallback kv.turboquant");
}

TEST_CASE("a cache without a kernel names the kernel that is missing") {
  CHECK(gate_kv_cache(rules(), group({"rtx5090-32g"}), "nvfp4", false, false).reason ==
        "stock vLLM has no NVFP4 cache kernel for GeForce RTX 5090 (32 GB) (12.0): only the 10.x family does (trtllm-gen).");
  CHECK(
      gate_kv_cache(rules(), group({"rtx3090-24g"}), "fp8_e4m3", false, false).reason ==
      "GeForce RTX 3090 (24 GB) (8.6) reads e4m3 caches through FlashInfer only: Triton's e4m3 needs 8.9. Where FlashInfer "
      "cannot serve the head size, take fp8_e5m2 or int8_per_token_head.");
}

TEST_CASE("MLA and sparse MLA have their own backends") {
  CHECK(kv("rtx3090-24g", "auto", true) == "native kv.16bit");
  CHECK(kv("h100-sxm", "fp8", true) == "native kv.mla.fp8");
  CHECK(kv("rtx3090-24g", "fp8", true) == "unknown kv.mla.fp8.unknown");
  CHECK(kv("b200", "nvfp4", true) == "refused kv.mla.no_kernel");
  CHECK(kv("a100-80g-sxm", "auto", true, true) == "refused kv.sparse.below_90");
  CHECK(kv("h100-sxm", "fp8_ds_mla", true, true) == "native kv.sparse.flashmla");
  CHECK(kv("rtx-pro-6000-ws", "fp8_ds_mla", true, true) == "native kv.sparse.sm120");
  CHECK(kv("jetson-thor", "fp8_ds_mla", true, true) == "refused kv.sparse.no_kernel");
}

TEST_CASE("rules follow the engine's version") {
  const GateRules old = load_gate_rules(profiles::Catalog(), "vllm", "v0.24.1");
  CHECK(brief(gate_kv_cache(old, group({"rtx-pro-6000-ws"}), "fp8_ds_mla", true, true)) == "unknown kv.sparse.sm120.early");
  const GateRules later = load_gate_rules(profiles::Catalog(), "vllm", "0.25.0");
  CHECK(brief(gate_kv_cache(later, group({"rtx-pro-6000-ws"}), "fp8_ds_mla", true, true)) == "native kv.sparse.sm120");
}

TEST_CASE("every built-in rule has a source, and every verdict but native a reason") {
  for (const std::vector<GateRow>* rows : {&rules().weights, &rules().kv_cache}) {
    CHECK(rows->size() > 20);
    for (const GateRow& row : *rows) {
      INFO(row.id);
      CHECK_FALSE(row.source.empty());
      CHECK((row.verdict == GateVerdict::native || !row.reason.empty()));
    }
  }
}

}  // namespace
}  // namespace kvfit::hardware
