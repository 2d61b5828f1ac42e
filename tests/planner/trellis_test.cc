#include "models/trellis.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "hardware/gpu_catalog.h"
#include "planner/trellis_gates.h"
#include "profiles/catalog.h"

namespace kvfit::planner {
namespace {

using models::Role;
using models::sliced_expert_bytes;
using models::Tensor;
using profiles::Bytes;

// 19,456 experts of GLM-5.2 (6144 x 2048, TP4) as published: K3 14,315,568 and K4 19,034,160 bytes each, 8,042 of them K4,
// and 313,601,703,936 bytes together; shared_h_v1 takes 147,456 bytes off each (hardware facts of the checkpoint's release
// notes).
TEST_CASE("rank-sliced experts have the published bytes") {
  CHECK(sliced_expert_bytes(6144, 2048, 4, 3) == Bytes(14315568));
  CHECK(sliced_expert_bytes(6144, 2048, 4, 4) == Bytes(19034160));
  CHECK(sliced_expert_bytes(6144, 2048, 4, 3, true) == Bytes(14315568 - 147456));
  // All together with the shared sign vectors: 8,042 x 18,886,704 + 11,414 x 14,168,112.
  const Bytes all = sliced_expert_bytes(6144, 2048, 4, 4, true) * 8042 + sliced_expert_bytes(6144, 2048, 4, 3, true) * 11414;
  CHECK(all == Bytes(313601703936));
}

TEST_CASE("projections narrower than a tile stay 16-bit") {
  CHECK(models::can_encode(2048, 512));
  CHECK_FALSE(models::can_encode(2048, 64));  // GDN in_proj_ba of Qwen3.6-35B: 2 x 32 heads
  CHECK_FALSE(models::can_encode(2048, 1));   // shared_expert_gate
  CHECK_FALSE(models::can_mxfp8(2048, 64));
  CHECK_FALSE(models::can_mxfp8(4300, 1152));  // inputs in groups of 32
  CHECK(models::can_mxfp8(4320, 1152));
}

Tensor trellis(const std::string& name, int bits, std::vector<std::int32_t> experts) {
  return {.name = name,
          .role = Role::expert,
          .layer = 0,
          .expert_ids = std::move(experts),
          .dtype = profiles::DType::i16,
          .shape = {128, 32, 16 * bits}};
}

Question question_on(const std::string& gpu, std::int64_t tp) {
  const profiles::Catalog catalog;
  Question out;
  out.node.gpu = hardware::load_gpu(catalog, gpu);
  out.rules = std::make_shared<Rules>(catalog.load(catalog.resolve("engines", "vllm")), parse_version("0.24"));
  out.serving.tensor_parallel_size = tp;
  return out;
}

std::vector<hardware::Gate> gates(const std::string& gpu, std::vector<int> tiers) {
  return trellis_gates(question_on(gpu, 1), {.expert_bits = std::move(tiers), .ranks = 0}, {});
}

TEST_CASE("the layout is read off the tensors: tiers and slices") {
  models::TensorInventory inventory;
  inventory.tensors = {trellis("model.layers.0.mlp.experts.{}.up_proj.rank0.trellis", 3, {0, 1}),
                       trellis("model.layers.0.mlp.experts.{}.up_proj.rank1.trellis", 3, {0, 1}),
                       trellis("model.layers.0.mlp.experts.{}.up_proj.rank0.trellis", 4, {2})};
  const models::TrellisLayout layout = models::trellis_layout(inventory);
  CHECK(layout.expert_bits == std::vector<int>{3, 4});
  CHECK(layout.ranks == 2);
  CHECK(models::slice_rank("a.gate_proj.weight") == -1);
  CHECK(models::slice_rank("a.gate_proj.rank12.suh") == 12);
}

TEST_CASE("on a card of 101,376 bytes tiers (3,4) run, (4,5) and (4,6) are refused with both rules shown") {
  CHECK(gates("rtx-pro-6000-ws", {3, 4}).at(0).verdict == hardware::GateVerdict::native);
  const hardware::Gate refused = gates("rtx-pro-6000-ws", {4, 5}).at(0);
  CHECK(refused.verdict == hardware::GateVerdict::refused);
  CHECK(
      refused.reason ==
      "the mixed-tier kernel does not fit: a block of 64 rows takes 109,568 bytes of shared memory, RTX PRO 6000 Blackwell "
      "Workstation Edition (96 GB) allows 101,376; the pair rule of the SIQ page gives 109,568");
  CHECK(gates("rtx-pro-6000-ws", {4, 6}).at(0).verdict == hardware::GateVerdict::refused);
  // (3,5): the pair rule says it just fits, the code says 109,568, and a boot failed.
  CHECK(gates("rtx-pro-6000-ws", {3, 5}).at(0).verdict == hardware::GateVerdict::refused);
  CHECK(gates("rtx-pro-6000-ws", {4}).empty());
}

TEST_CASE("a sliced checkpoint loads at its own tensor parallel size only") {
  const models::TrellisLayout layout{.expert_bits = {3}, .ranks = 4};
  CHECK(trellis_gates(question_on("rtx-pro-6000-ws", 4), layout, {}).at(0).verdict == hardware::GateVerdict::native);
  const hardware::Gate refused = trellis_gates(question_on("rtx-pro-6000-ws", 2), layout, {}).at(0);
  CHECK(refused.verdict == hardware::GateVerdict::refused);
  CHECK(refused.reason ==
        "the experts were sliced for tensor parallel size 4 before encoding and load at no other; asked for 2");
}

}  // namespace
}  // namespace kvfit::planner
