#include "tests/bench/inventory_bench.h"

#include <algorithm>
#include <cstdint>
#include <ctime>
#include <fstream>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "models/checkpoint.h"
#include "models/model.h"
#include "models/tensor_inventory.h"
#include "profiles/dtype.h"
#include "tests/support/synthetic_checkpoint.h"

namespace kvfit::bench {
namespace {

using profiles::DType;

constexpr int kFiles = 163;
constexpr int kLayers = 62;  // 61 and the MTP layer
constexpr int kDense = 3;
constexpr std::int64_t kHidden = 7168;

class Maker {
 public:
  models::TensorInventory take() {
    std::sort(inventory_.tensors.begin(), inventory_.tensors.end(),
              [](const models::Tensor& a, const models::Tensor& b) { return a.name < b.name; });
    return std::move(inventory_);
  }

  void plain(const std::string& name, DType dtype, std::vector<std::int64_t> shape) {
    add(name, dtype, std::move(shape), {});
  }

  /// FP8 weight with one scale for each block of 128 x 128.
  void quantised(const std::string& name, std::int64_t rows, std::int64_t columns,
                 const std::vector<std::int32_t>& experts = {}) {
    add(name + ".weight", DType::f8_e4m3, {rows, columns}, experts);
    add(name + ".weight_scale_inv", DType::f32, {(rows + 127) / 128, (columns + 127) / 128}, experts);
  }

  void feed_forward(const std::string& prefix, std::int64_t width, const std::vector<std::int32_t>& experts = {}) {
    quantised(prefix + "gate_proj", width, kHidden, experts);
    quantised(prefix + "up_proj", width, kHidden, experts);
    quantised(prefix + "down_proj", kHidden, width, experts);
  }

 private:
  void add(const std::string& name, DType dtype, std::vector<std::int64_t> shape, const std::vector<std::int32_t>& experts) {
    models::Tensor tensor;
    tensor.name = name;
    tensor.dtype = dtype;
    tensor.shape = std::move(shape);
    tensor.expert_ids = experts;
    inventory_.tensors.push_back(std::move(tensor));
  }

  models::TensorInventory inventory_;
};

void add_layer(Maker& maker, int layer) {
  const std::string prefix = "model.layers." + std::to_string(layer) + ".";
  maker.plain(prefix + "input_layernorm.weight", DType::bf16, {kHidden});
  maker.plain(prefix + "post_attention_layernorm.weight", DType::bf16, {kHidden});
  const std::string attention = prefix + "self_attn.";
  maker.quantised(attention + "q_a_proj", 1536, kHidden);
  maker.plain(attention + "q_a_layernorm.weight", DType::bf16, {1536});
  maker.quantised(attention + "q_b_proj", 24576, 1536);
  maker.quantised(attention + "kv_a_proj_with_mqa", 576, kHidden);
  maker.plain(attention + "kv_a_layernorm.weight", DType::bf16, {512});
  maker.quantised(attention + "kv_b_proj", 32768, 512);
  maker.quantised(attention + "o_proj", kHidden, 16384);
  if (layer < kDense) return maker.feed_forward(prefix + "mlp.", 18432);
  maker.plain(prefix + "mlp.gate.weight", DType::bf16, {256, kHidden});
  maker.plain(prefix + "mlp.gate.e_score_correction_bias", DType::f32, {256});
  maker.feed_forward(prefix + "mlp.shared_experts.", 2048);
  std::vector<std::int32_t> experts(256);
  std::iota(experts.begin(), experts.end(), 0);
  maker.feed_forward(prefix + "mlp.experts.{}.", 2048, experts);
}

models::TensorInventory published_tensors() {
  Maker maker;
  for (const char* name : {"model.embed_tokens.weight", "lm_head.weight", "model.layers.61.embed_tokens.weight",
                           "model.layers.61.shared_head.head.weight"})
    maker.plain(name, DType::bf16, {129280, kHidden});
  for (const char* name : {"model.norm.weight", "model.layers.61.enorm.weight", "model.layers.61.hnorm.weight",
                           "model.layers.61.shared_head.norm.weight"})
    maker.plain(name, DType::bf16, {kHidden});
  maker.plain("model.layers.61.eh_proj.weight", DType::bf16, {kHidden, 2 * kHidden});
  for (int layer = 0; layer < kLayers; ++layer) add_layer(maker, layer);
  return maker.take();
}

double peak_resident_mib() {
  std::ifstream status("/proc/self/status");
  std::string word;
  while (status >> word) {
    double kib = 0;
    if (word == "VmHWM:" && status >> kib) return kib / 1024;
  }
  return 0;
}

}  // namespace

void make_checkpoint(const std::string& directory) {
  tests::write_checkpoint(published_tensors(), directory, {.shards = kFiles, .fill = false});
}

InventoryCost read_checkpoint_headers(const std::string& directory) {
  InventoryCost cost{.milliseconds = 1e9, .peak_mib = 0, .tensors = 0};
  for (int i = 0; i < 5; ++i) {
    const std::clock_t begin = std::clock();
    const models::TensorInventory inventory = models::read_inventory(directory, models::Model{});
    const double took = 1e3 * static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
    cost.milliseconds = std::min(cost.milliseconds, took);
    cost.tensors = inventory.tensor_count();
  }
  cost.peak_mib = peak_resident_mib();
  return cost;
}

}  // namespace kvfit::bench
