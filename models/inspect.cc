#include "models/inspect.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "models/config_reader.h"
#include "models/quantization.h"
#include "profiles/document.h"
#include "profiles/error.h"

namespace kvfit::models {
namespace {

constexpr std::string_view kWeightSuffixes[] = {".weight", ".weight_packed", ".qweight", ".trellis"};

// The module a weight tensor belongs to; "" for scales, biases, norms and other vectors.
std::string_view weight_module(const Tensor& tensor) {
  constexpr std::string_view kPacked = ".(packed)";
  const std::string_view name = tensor.name;
  if (name.ends_with(kPacked)) return name.substr(0, name.size() - kPacked.size());
  if (tensor.shape.size() < 2) return {};
  for (const std::string_view suffix : kWeightSuffixes) {
    if (std::string_view(tensor.name).ends_with(suffix))
      return std::string_view(tensor.name).substr(0, tensor.name.size() - suffix.size());
  }
  return {};
}

void add_format(const Tensor& tensor, const Model& model, RoleSummary& into) {
  const std::string_view module = weight_module(tensor);
  if (module.empty()) return;
  Tensor named;
  named.name = std::string(module);
  named.expert_ids = tensor.expert_ids;
  const std::string one = tensor.expert_ids.empty() ? named.name : named.expanded(tensor.expert_ids.front());
  std::string format = format_name(format_of(model.quantization, one, model.dtype));
  if (std::find(into.formats.begin(), into.formats.end(), format) == into.formats.end())
    into.formats.push_back(std::move(format));
}

bool is_plain_dtype(profiles::DType dtype) {
  return dtype == profiles::DType::bf16 || dtype == profiles::DType::f16 || dtype == profiles::DType::f32;
}

// "model.layers.3.mlp.up_proj" of any tensor the module is stored in.
std::string_view module_of(std::string_view name) {
  constexpr std::string_view kExperts[] = {"_blocks", "_scales"};  // gpt-oss
  for (const std::string_view suffix : kExperts) {
    if (name.ends_with(suffix)) return name.substr(0, name.size() - suffix.size());
  }
  return name.substr(0, name.rfind('.'));
}

// By the numbers themselves where they are plain, else by what the config says of the module.
std::string stored_format(const Tensor& tensor, const Model& model) {
  WeightFormat plain;
  plain.dtype = tensor.dtype;
  if (is_plain_dtype(tensor.dtype)) return format_name(plain);
  const std::string name = tensor.expert_ids.empty() ? tensor.name : tensor.expanded(tensor.expert_ids.front());
  const std::string_view module = module_of(name);
  const WeightFormat format = format_of(model.quantization, module, model.dtype);
  return is_plain(format) ? format_name(plain) : format_name(format);
}

Model read_model(const Checkpoint& checkpoint) {
  const profiles::Node config = profiles::parse_json(profiles::read_text_file(checkpoint.config), checkpoint.config);
  if (checkpoint.quant_config.empty()) return read_config(config, nullptr, checkpoint.given);
  const profiles::Node sidecar =
      profiles::parse_json(profiles::read_text_file(checkpoint.quant_config), checkpoint.quant_config);
  return read_config(config, &sidecar, checkpoint.given);
}

void count_layers(Inspection& out) {
  std::set<int> layers;
  for (const Tensor& tensor : out.inventory.tensors) {
    if (tensor.role == Role::draft || tensor.role == Role::vision || tensor.role == Role::audio) continue;
    if (tensor.layer >= 0) layers.insert(tensor.layer);
    if (tensor.role == Role::expert && !tensor.expert_ids.empty()) {
      out.experts = std::max<std::int64_t>(out.experts, tensor.expert_ids.back() + 1);
    }
  }
  out.layers = static_cast<std::int64_t>(layers.size());
}

void compare(Inspection& out) {
  if (!out.model) {
    out.underivable = "no config.json lies beside the weights";
    return;
  }
  try {
    out.differences = differences(derive_inventory(*out.model), out.inventory);
  } catch (const profiles::Error& error) {
    out.underivable = error.message();
  }
}

}  // namespace

std::vector<RoleSummary> summarise_roles(const TensorInventory& inventory, const Model* model) {
  std::map<Role, RoleSummary> by_role;
  std::map<Role, std::map<profiles::DType, Bytes>> by_dtype;
  for (const Tensor& tensor : inventory.tensors) {
    RoleSummary& into = by_role[tensor.role];
    into.role = tensor.role;
    into.tensors += tensor.count();
    into.bytes += tensor.bytes();
    by_dtype[tensor.role][tensor.dtype] += tensor.bytes();
    if (model != nullptr) add_format(tensor, *model, into);
  }
  std::vector<RoleSummary> out;
  for (auto& [role, summary] : by_role) {
    for (const auto& [dtype, bytes] : by_dtype[role]) summary.dtypes.push_back({dtype, bytes});
    std::stable_sort(summary.dtypes.begin(), summary.dtypes.end(),
                     [](const RoleSummary::Share& a, const RoleSummary::Share& b) { return a.bytes > b.bytes; });
    out.push_back(std::move(summary));
  }
  return out;
}

std::vector<FormatShare> weight_formats(const TensorInventory& inventory, const Model& model) {
  std::map<std::string, Bytes> bytes;
  for (const Tensor& tensor : inventory.tensors) bytes[stored_format(tensor, model)] += tensor.bytes();
  std::vector<FormatShare> out;
  for (const auto& [format, sum] : bytes) out.push_back({format, sum});
  std::stable_sort(out.begin(), out.end(), [](const FormatShare& a, const FormatShare& b) { return a.bytes > b.bytes; });
  return out;
}

Inspection inspect(const std::string& path) {
  Inspection out;
  out.checkpoint = find_checkpoint(path);
  if (!out.checkpoint.config.empty()) out.model = read_model(out.checkpoint);
  CheckpointReport report = read_checkpoint(out.checkpoint, out.model.value_or(Model{}));
  out.inventory = std::move(report.inventory);
  out.findings = std::move(report.findings);
  out.roles = summarise_roles(out.inventory, out.model ? &*out.model : nullptr);
  count_layers(out);
  compare(out);
  return out;
}

}  // namespace kvfit::models
