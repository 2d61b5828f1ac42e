// Headers to inventory: names are folded by expert as they are read, so that a checkpoint of a hundred thousand tensors
// needs no more memory than its patterns.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "models/checkpoint.h"
#include "models/header_scanner.h"
#include "models/safetensors_header.h"
#include "models/safetensors_index.h"
#include "models/tensor_names.h"
#include "profiles/error.h"
#include "profiles/text.h"

namespace kvfit::models {
namespace {

using profiles::format;

// What the index says of each tensor, ticked off as headers are read.
class Claims {
 public:
  explicit Claims(SafetensorsIndex index) : index_(std::move(index)), met_(index_.entries.size()) {}

  void meet(std::string_view tensor, std::string_view file) {
    const std::optional<std::uint32_t> found = index_.find(tensor);
    if (!found) return count(unnamed_, tensor);
    met_[*found] = true;
    if (index_.files[index_.entries[*found].file] != file) count(moved_, tensor);
  }

  void report(Bytes total, std::vector<std::string>& findings) {
    for (std::size_t i = 0; i < met_.size(); ++i) {
      if (!met_[i]) count(dangling_, index_.entries[i].tensor);
    }
    say(dangling_, "in the index but in no file", findings);
    say(unnamed_, "in a file but not in the index", findings);
    say(moved_, "in another file than the index says", findings);
    if (index_.total_size && *index_.total_size != total.count) {
      findings.push_back(format("the index states a total_size of {} bytes; the headers add up to {}",
                                profiles::grouped(*index_.total_size), profiles::grouped(total.count)));
    }
  }

 private:
  struct Count {
    std::int64_t tensors = 0;
    std::string first;
  };
  static void count(Count& into, std::string_view tensor) {
    if (into.tensors++ == 0) into.first = printable(tensor);
  }
  static void say(const Count& counted, std::string_view what, std::vector<std::string>& findings) {
    if (counted.tensors == 0) return;
    findings.push_back(format("{} tensor{} {}: {}{}", counted.tensors, counted.tensors == 1 ? " is" : "s are", what,
                              counted.first, counted.tensors == 1 ? "" : ", ..."));
  }

  SafetensorsIndex index_;
  std::vector<bool> met_;
  Count dangling_, unnamed_, moved_;
};

// Tensors folded by pattern. One pattern may occur with several dtypes or shapes (experts of mixed precision).
class Folder {
 public:
  explicit Folder(const Model& model) : model_(model) {}

  void add(const SafetensorsHeader& header, const HeaderTensor& tensor);
  TensorInventory take();

 private:
  Tensor& entry(std::string_view name, std::optional<ExpertNumber> number, const SafetensorsHeader& header,
                const HeaderTensor& tensor);
  void check_experts() const;

  const Model& model_;
  std::string pattern_;                                                // scratch
  std::unordered_map<std::string, std::vector<std::size_t>> by_name_;  // into tensors_
  std::vector<Tensor> tensors_;
};

[[noreturn]] void fail_twice(const std::string& name, const std::string& file) {
  profiles::fail_input(format("the tensor '{}' is in two files", printable(name)), {.file = file},
                       "remove the file that does not belong to this checkpoint");
}

Tensor& Folder::entry(std::string_view name, std::optional<ExpertNumber> number, const SafetensorsHeader& header,
                      const HeaderTensor& tensor) {
  pattern_.assign(name);
  if (number) pattern_.replace(number->begin, number->end - number->begin, "{}");
  const std::span<const std::int64_t> shape = header.shape(tensor);
  std::vector<std::size_t>& known = by_name_[pattern_];
  if (!number && !known.empty()) fail_twice(pattern_, header.file);
  for (const std::size_t i : known) {
    Tensor& candidate = tensors_[i];
    if (candidate.dtype == tensor.dtype &&
        std::equal(shape.begin(), shape.end(), candidate.shape.begin(), candidate.shape.end())) {
      return candidate;
    }
  }
  known.push_back(tensors_.size());
  const NameRole role = role_of(name, model_);
  return tensors_.emplace_back(Tensor{pattern_,
                                      role.role,
                                      role.draft_role,
                                      role.layer,
                                      {},
                                      tensor.dtype,
                                      std::vector<std::int64_t>(shape.begin(), shape.end())});
}

void Folder::add(const SafetensorsHeader& header, const HeaderTensor& tensor) {
  const std::optional<ExpertNumber> number = find_expert_number(tensor.name);
  Tensor& into = entry(tensor.name, number, header, tensor);
  if (number) into.expert_ids.push_back(number->expert);
}

// Within one file names are unique already; here, over all files.
void Folder::check_experts() const {
  std::vector<std::int32_t> ids;
  for (const auto& [name, known] : by_name_) {
    ids.clear();
    for (const std::size_t i : known) ids.insert(ids.end(), tensors_[i].expert_ids.begin(), tensors_[i].expert_ids.end());
    std::sort(ids.begin(), ids.end());
    const auto twice = std::adjacent_find(ids.begin(), ids.end());
    if (twice != ids.end()) fail_twice(tensors_[known.front()].expanded(*twice), {});
  }
}

TensorInventory Folder::take() {
  check_experts();
  for (Tensor& tensor : tensors_) std::sort(tensor.expert_ids.begin(), tensor.expert_ids.end());
  std::sort(tensors_.begin(), tensors_.end(), [](const Tensor& a, const Tensor& b) {
    return std::tie(a.name, a.dtype, a.shape) < std::tie(b.name, b.dtype, b.shape);
  });
  TensorInventory out;
  out.tensors = std::move(tensors_);
  out.exact = true;
  return out;
}

}  // namespace

CheckpointReport read_checkpoint(const Checkpoint& checkpoint, const Model& model) {
  CheckpointReport out;
  std::optional<Claims> claims;
  if (!checkpoint.index.empty()) claims.emplace(read_safetensors_index(checkpoint.index));
  Folder folder(model);
  for (const std::string& path : checkpoint.files) {
    const SafetensorsHeader header = read_safetensors_header(path);
    const std::string file = std::filesystem::path(path).filename().string();
    for (const HeaderTensor& tensor : header.tensors) {
      if (claims) claims->meet(tensor.name, file);
      folder.add(header, tensor);
    }
  }
  out.inventory = folder.take();
  if (out.inventory.tensors.empty()) {
    profiles::fail_input("the checkpoint holds no tensor", {.file = checkpoint.given}, "is the download complete?");
  }
  out.inventory.origin = checkpoint.given;
  if (claims) claims->report(out.inventory.total(), out.findings);
  for (const std::string& orphan : checkpoint.orphans) {
    out.findings.push_back(
        format("{} is not part of the checkpoint: engines skip it", std::filesystem::path(orphan).filename().string()));
  }
  return out;
}

TensorInventory read_inventory(const std::string& path, const Model& model) {
  return read_checkpoint(find_checkpoint(path), model).inventory;
}

}  // namespace kvfit::models
