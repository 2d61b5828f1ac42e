// The inventory a checkpoint of this model would have: walks the family's naming tables layer by layer and asks the
// quantisation how each linear module is stored.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/format_cache.h"
#include "models/naming.h"
#include "models/naming_vision.h"
#include "models/tensor_inventory.h"
#include "models/tensor_names.h"
#include "models/weight_layout.h"
#include "profiles/error.h"
#include "profiles/text.h"
#include "profiles/units.h"

namespace kvfit::models {
namespace {

using profiles::DType;
using profiles::format;
using std::string_view;

constexpr std::size_t kTensorsALayer = 32;

std::int64_t parameters(const Row& row, const Terms& terms) {
  std::int64_t out = 1;
  for (const Dim dim : row.extents) {
    if (dim != Dim::none) out = profiles::checked_mul(out, terms[dim]);
  }
  return out;
}

// Appends tensors to an inventory; knows the model, its names and how modules are stored.
class Deriver {
 public:
  Deriver(const Model& model, const Naming& naming)
      : model_(model),
        naming_(naming),
        formats_(model.quantization, model.dtype),
        draft_formats_(model.quantization, model.dtype) {
    prefix_ = naming.prefix.empty() ? string_view(model.name_prefix) : naming.prefix;
    if (mlx() && prefix_ == "model.language_model.") prefix_ = "language_model.model.";
    out_.origin = "derived from config";
    out_.tensors.reserve(kTensorsALayer * (model.layers.size() + 1));
  }

  TensorInventory run();

 private:
  void layer(const Layer& layer, const std::string& prefix, int number);
  void draft(const Draft& draft);
  void head();
  TensorInventory sorted();
  void vision(const Vision& vision);
  void rows(Table table, const Terms& terms, const std::string& prefix);
  void row(const Row& row, const Terms& terms, const std::string& prefix);
  void linear(const Row& row, const Terms& terms, const std::string& module);
  void stacked(const Row& row, const Terms& terms, const std::string& module);
  void expert(const Row& row, const Terms& terms, const std::string& module);
  void kv_scale(string_view row_name, const std::string& module);
  void add(std::string name, DType dtype, std::vector<std::int64_t> shape, std::int64_t experts = 0);
  NameRole role_here(const std::string& name);
  void unnamed(const std::string& prefix, std::int64_t parameters);

  const WeightFormat& format_of_module(const Row& row, const std::string& module) {
    return (in_draft_ ? draft_formats_ : formats_).of(&row, layer_, module);
  }
  bool mlx() const { return model_.quantization.base.format == Format::mlx; }
  bool stacks_experts(const Layer& layer, const std::string& prefix);

  const Model& model_;
  const Naming& naming_;
  FormatCache formats_, draft_formats_;
  bool in_draft_ = false;
  int layer_ = -1;            ///< number in the names being written
  const Row* row_ = nullptr;  ///< whose tensors are being written
  unsigned blocks_ = 0;       ///< which blocks that layer has, and whether it drafts
  struct KnownRole {
    NameRole role;
    int layer = -1;  ///< where it was read
  };
  std::map<std::pair<const Row*, unsigned>, KnownRole> roles_;
  string_view prefix_;
  std::int64_t named_extra_ = 0;
  TensorInventory out_;
};

// The parts of a row (weight, scales ...) have one role, the same in all layers made alike.
NameRole Deriver::role_here(const std::string& name) {
  if (row_ == nullptr || layer_ < 0) return role_of(name, model_);
  const auto [known, fresh] = roles_.try_emplace({row_, blocks_});
  if (fresh) known->second = {.role = role_of(name, model_), .layer = layer_};
  NameRole out = known->second.role;
  if (out.layer >= 0) out.layer += layer_ - known->second.layer;
  return out;
}

void Deriver::add(std::string name, DType dtype, std::vector<std::int64_t> shape, std::int64_t experts) {
  const NameRole role = role_here(name);
  Tensor tensor;
  tensor.name = std::move(name);
  tensor.role = role.role;
  tensor.draft_role = role.draft_role;
  tensor.layer = role.layer;
  tensor.dtype = dtype;
  tensor.shape = std::move(shape);
  tensor.expert_ids.resize(static_cast<std::size_t>(experts));
  std::iota(tensor.expert_ids.begin(), tensor.expert_ids.end(), 0);
  out_.tensors.push_back(std::move(tensor));
}

// Parameters the model counts as extra without saying what they are; rows that named some of them have counted those.
void Deriver::unnamed(const std::string& prefix, std::int64_t parameters) {
  if (parameters > named_extra_) add(prefix + "(unnamed)", model_.dtype, {parameters - named_extra_});
  named_extra_ = 0;
}

void Deriver::linear(const Row& row, const Terms& terms, const std::string& module) {
  const bool may_quantise = row.as != As::narrow || mlx();
  const WeightFormat stored = may_quantise ? format_of_module(row, module) : WeightFormat{};
  const LinearShape shape{.out = terms[row.extents[0]],
                          .in = terms[row.extents[1]],
                          .plain = model_.dtype,
                          .block_scale = naming_.block_scale,
                          .block_scale_name = naming_.block_scale_name};
  for (StoredTensor& part : stored_tensors(stored, shape)) {
    add(module + std::string(part.suffix), part.dtype, std::move(part.shape));
  }
}

void Deriver::expert(const Row& row, const Terms& terms, const std::string& module) {
  std::string first = module;
  first.replace(first.find("{}"), 2, "0");
  const LinearShape shape{.out = terms[row.extents[0]],
                          .in = terms[row.extents[1]],
                          .plain = model_.dtype,
                          .block_scale = naming_.block_scale,
                          .block_scale_name = naming_.block_scale_name};
  for (StoredTensor& part : stored_tensors(format_of_module(row, first), shape)) {
    add(module + std::string(part.suffix), part.dtype, std::move(part.shape), terms[Dim::experts]);
  }
}

void Deriver::stacked(const Row& row, const Terms& terms, const std::string& module) {
  const LinearShape shape{.out = terms[row.extents[1]],
                          .in = terms[row.extents[2]],
                          .stack = {terms[row.extents[0]]},
                          .plain = model_.dtype,
                          .block_scale = naming_.block_scale,
                          .block_scale_name = naming_.block_scale_name,
                          .bare = row.as == As::stacked};
  for (StoredTensor& part : stored_tensors(format_of_module(row, module), shape)) {
    add(module + std::string(part.suffix), part.dtype, std::move(part.shape));
  }
}

void Deriver::kv_scale(string_view row_name, const std::string& module) {
  if (!stores_kv_scales(model_.quantization)) return;
  if (row_name.ends_with(".k_proj")) add(module + ".k_scale", DType::f32, {});
  if (row_name.ends_with(".v_proj")) add(module + ".v_scale", DType::f32, {});
}

void Deriver::row(const Row& row, const Terms& terms, const std::string& prefix) {
  std::string name = prefix + std::string(row.name);
  switch (row.as) {
    case As::plain:
    case As::f32: {
      std::vector<std::int64_t> shape;
      for (const Dim dim : row.extents) {
        if (dim != Dim::none) shape.push_back(terms[dim]);
      }
      return add(std::move(name), row.as == As::f32 ? DType::f32 : model_.dtype, std::move(shape));
    }
    case As::linear:
    case As::narrow:
      linear(row, terms, name);
      return kv_scale(row.name, name);
    case As::expert:
      return expert(row, terms, name);
    case As::stacked:
    case As::pile:
      return stacked(row, terms, name);
  }
}

void Deriver::rows(Table table, const Terms& terms, const std::string& prefix) {
  for (const Row& each : table) {
    if (!terms[each.when]) continue;
    row_ = &each;
    row(each, terms, prefix);
    row_ = nullptr;
    if (each.when == When::per_layer) named_extra_ += parameters(each, terms);
  }
}

// Unquantised experts may be stacked in one tensor; every quantised export but gpt-oss's writes them one by one.
bool Deriver::stacks_experts(const Layer& layer, const std::string& prefix) {
  if (!layer.moe || !layer.moe->fused_storage) return false;
  for (const Row& row : naming_.moe) {
    if (row.as != As::expert) continue;
    std::string first = prefix + std::string(row.name);
    first.replace(first.find("{}"), 2, "0");
    return is_plain(format_of_module(row, first));
  }
  return true;
}

void Deriver::layer(const Layer& layer, const std::string& prefix, int number) {
  layer_ = number;
  blocks_ = (layer.attention ? 1U : 0U) | (layer.recurrent ? 2U : 0U) | (layer.dense ? 4U : 0U) | (layer.moe ? 8U : 0U) |
            (in_draft_ ? 16U : 0U);
  const Terms terms = layer_terms(model_, layer, stacks_experts(layer, prefix));
  rows(naming_.norms, terms, prefix);
  if (layer.attention) {
    const bool latent = layer.attention->kind == Attention::Kind::mla;
    rows(latent ? naming_.mla : naming_.attention, terms, prefix);
  }
  if (layer.recurrent) {
    for (const RecurrentTable& table : naming_.recurrent) {
      if (table.kind == layer.recurrent->kind) rows(table.rows, terms, prefix);
    }
  }
  if (layer.dense) rows(naming_.dense, terms, prefix);
  if (layer.moe) rows(naming_.moe, terms, prefix);
  unnamed(prefix, layer.extra_parameters);
  layer_ = -1;
}

// "model.layers.61." is the layer itself; "mtp." holds a small trunk.
void Deriver::draft(const Draft& draft) {
  in_draft_ = true;
  const std::string& prefix = draft.prefix;
  const Terms terms = root_terms(model_);
  const bool numbered =
      prefix.size() > 1 && prefix.back() == '.' && prefix[prefix.size() - 2] >= '0' && prefix[prefix.size() - 2] <= '9';
  if (!numbered) rows(naming_.draft, terms, prefix);
  for (std::size_t i = 0; i < draft.layers.size(); ++i) {
    const std::string at =
        numbered ? format("{}{}.{}.", prefix_, naming_.layers, model_.layers.size() + i) : format("{}layers.{}.", prefix, i);
    if (numbered) rows(naming_.draft, terms, at);
    layer(draft.layers[i], at, static_cast<int>(numbered ? model_.layers.size() + i : i));
  }
  in_draft_ = false;
}

void Deriver::head() {
  const std::string module =
      std::string(prefix_.starts_with("language_model.") ? "language_model." : "") + std::string(naming_.head);
  const Terms terms = root_terms(model_);
  const Row row{As::linear, naming_.head, {Dim::vocab, Dim::hidden}};
  if (!model_.tied_embeddings) linear(row, terms, module);
  if (!model_.tied_embeddings && model_.head_bias) add(module + ".bias", model_.dtype, {model_.vocab});
}

void Deriver::vision(const Vision& vision) {
  for (VisionTensor& tensor : vision_tensors(vision, prefix_)) {
    add(std::move(tensor.name), model_.dtype, std::move(tensor.shape));
  }
}

// By name; each tensor is moved once.
TensorInventory Deriver::sorted() {
  std::vector<Tensor*> order;
  order.reserve(out_.tensors.size());
  for (Tensor& tensor : out_.tensors) order.push_back(&tensor);
  std::sort(order.begin(), order.end(), [](const Tensor* a, const Tensor* b) { return a->name < b->name; });
  TensorInventory out{.tensors = {}, .exact = out_.exact, .origin = out_.origin};
  out.tensors.reserve(order.size());
  for (Tensor* tensor : order) out.tensors.push_back(std::move(*tensor));
  return out;
}

TensorInventory Deriver::run() {
  rows(naming_.root, root_terms(model_), std::string(prefix_));
  unnamed(std::string(prefix_), model_.extra_parameters);
  for (std::size_t i = 0; i < model_.layers.size(); ++i) {
    layer(model_.layers[i], format("{}{}.{}.", prefix_, naming_.layers, i), static_cast<int>(i));
  }
  head();
  if (model_.draft) draft(*model_.draft);
  if (model_.vision) vision(*model_.vision);
  if (model_.audio_parameters) unnamed("audio_tower.", *model_.audio_parameters);
  return sorted();
}

}  // namespace

TensorInventory derive_inventory(const Model& model) {
  const Naming* naming = find_naming(model.family);
  if (naming == nullptr) {
    profiles::fail_input(format("the tensor names of model_type '{}' are not known", model.family), {},
                         "give the checkpoint's directory, so that its headers are read");
  }
  return Deriver(model, *naming).run();
}

}  // namespace kvfit::models
