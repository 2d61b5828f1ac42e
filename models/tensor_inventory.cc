#include "models/tensor_inventory.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "profiles/text.h"

namespace kvfit::models {
namespace {

using profiles::format;
using profiles::join;

auto key(const Tensor& tensor) { return std::tie(tensor.name, tensor.dtype, tensor.shape); }

// "0-3,7": runs of consecutive numbers.
std::string runs(const std::vector<std::int32_t>& ids) {
  std::string out;
  for (std::size_t i = 0; i < ids.size();) {
    std::size_t end = i;
    while (end + 1 < ids.size() && ids[end + 1] == ids[end] + 1) ++end;
    if (!out.empty()) out += ',';
    out += end == i ? format("{}", ids[i]) : format("{}-{}", ids[i], ids[end]);
    i = end + 1;
  }
  return out;
}

std::string line(char sign, const Tensor& tensor, const std::vector<std::int32_t>& ids) {
  std::string out =
      format("{} {} {} [{}]", sign, tensor.name, profiles::safetensors_name(tensor.dtype), join(tensor.shape, ","));
  if (!ids.empty()) out += format(" experts {}", runs(ids));
  return out;
}

std::vector<std::int32_t> sorted_ids(const Tensor& tensor) {
  std::vector<std::int32_t> ids = tensor.expert_ids;
  std::sort(ids.begin(), ids.end());
  return ids;
}

std::vector<std::int32_t> without(const std::vector<std::int32_t>& a, const std::vector<std::int32_t>& b) {
  std::vector<std::int32_t> out;
  std::set_difference(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(out));
  return out;
}

std::vector<const Tensor*> sorted(const TensorInventory& inventory) {
  std::vector<const Tensor*> out;
  out.reserve(inventory.tensors.size());
  for (const Tensor& tensor : inventory.tensors) out.push_back(&tensor);
  std::sort(out.begin(), out.end(), [](const Tensor* a, const Tensor* b) { return key(*a) < key(*b); });
  return out;
}

// The same tensor in both: only the experts may differ.
void compare_experts(const Tensor& a, const Tensor& b, std::vector<std::string>& out) {
  if (a.expert_ids == b.expert_ids) return;
  const std::vector<std::int32_t> ids_a = sorted_ids(a);
  const std::vector<std::int32_t> ids_b = sorted_ids(b);
  const std::vector<std::int32_t> only_a = without(ids_a, ids_b);
  const std::vector<std::int32_t> only_b = without(ids_b, ids_a);
  if (!only_a.empty()) out.push_back(line('-', a, only_a));
  if (!only_b.empty()) out.push_back(line('+', b, only_b));
}

}  // namespace

std::string_view role_name(Role role) {
  switch (role) {
    case Role::expert:
      return "expert";
    case Role::router:
      return "router";
    case Role::shared_expert:
      return "shared_expert";
    case Role::attention:
      return "attention";
    case Role::linear_attention:
      return "linear_attention";
    case Role::indexer:
      return "indexer";
    case Role::dense_mlp:
      return "dense_mlp";
    case Role::embedding:
      return "embedding";
    case Role::head:
      return "head";
    case Role::norm:
      return "norm";
    case Role::vision:
      return "vision";
    case Role::audio:
      return "audio";
    case Role::draft:
      return "draft";
    case Role::other:
      return "other";
  }
  return "other";
}

Bytes Tensor::bytes_each() const {
  std::int64_t elements = 1;
  for (const std::int64_t extent : shape) elements = profiles::checked_mul(elements, extent);
  return Bytes(profiles::checked_mul(elements, profiles::bits(dtype)) / 8);
}

std::string Tensor::expanded(std::int32_t expert) const {
  const std::size_t at = name.find("{}");
  if (expert_ids.empty() || at == std::string::npos) return name;
  return format("{}{}{}", std::string_view(name).substr(0, at), expert, std::string_view(name).substr(at + 2));
}

Bytes TensorInventory::total() const {
  Bytes sum;
  for (const Tensor& tensor : tensors) sum += tensor.bytes();
  return sum;
}

Bytes TensorInventory::total(Role role) const {
  Bytes sum;
  for (const Tensor& tensor : tensors) {
    if (tensor.role == role) sum += tensor.bytes();
  }
  return sum;
}

std::int64_t TensorInventory::tensor_count() const {
  std::int64_t sum = 0;
  for (const Tensor& tensor : tensors) sum += tensor.count();
  return sum;
}

void for_each_tensor(const TensorInventory& inventory, const std::function<void(const std::string&, const Tensor&)>& f) {
  for (const Tensor& tensor : inventory.tensors) {
    if (tensor.expert_ids.empty()) {
      f(tensor.name, tensor);
    } else {
      for (const std::int32_t expert : tensor.expert_ids) f(tensor.expanded(expert), tensor);
    }
  }
}

std::vector<std::string> differences(const TensorInventory& a, const TensorInventory& b, std::size_t limit) {
  const std::vector<const Tensor*> left = sorted(a);
  const std::vector<const Tensor*> right = sorted(b);
  std::vector<std::string> out;
  std::size_t i = 0;
  std::size_t j = 0;
  while ((i < left.size() || j < right.size()) && out.size() < limit) {
    if (j == right.size() || (i < left.size() && key(*left[i]) < key(*right[j]))) {
      out.push_back(line('-', *left[i], sorted_ids(*left[i])));
      ++i;
    } else if (i == left.size() || key(*right[j]) < key(*left[i])) {
      out.push_back(line('+', *right[j], sorted_ids(*right[j])));
      ++j;
    } else {
      compare_experts(*left[i], *right[j], out);
      ++i;
      ++j;
    }
  }
  if (out.size() > limit) out.resize(limit);
  return out;
}

}  // namespace kvfit::models
