// The entries of the ledger; weights with the tensors they are made of.
#include <algorithm>
#include <cctype>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/explain.h"
#include "cli/words.h"
#include "models/tensor_inventory.h"
#include "profiles/dtype.h"
#include "profiles/text.h"
#include "profiles/units.h"

namespace kvfit::cli {
namespace {

using models::Tensor;
using profiles::format;
using profiles::grouped;

// "model.layers.3.mlp.experts.{}.up_proj.weight" -> "model.layers.*.mlp.experts.{}.up_proj.weight".
std::string without_numbers(std::string_view name) {
  std::string out;
  for (std::size_t i = 0; i < name.size();) {
    const bool digit = std::isdigit(static_cast<unsigned char>(name[i])) != 0;
    const bool starts = i == 0 || name[i - 1] == '.';
    std::size_t end = i;
    while (digit && starts && end < name.size() && std::isdigit(static_cast<unsigned char>(name[end])) != 0) ++end;
    if (end > i && (end == name.size() || name[end] == '.')) {
      out += '*';
      i = end;
    } else {
      out += name[i++];
    }
  }
  return out;
}

struct Kind {
  std::int64_t count = 0, bytes = 0;
};

// "40 x 256 x U8 [512, 1024]": tensors alike but for layer and expert, largest first.
std::vector<std::string> tensor_lines(const models::TensorInventory& inventory, models::Role role) {
  constexpr std::size_t kShown = 12;
  std::map<std::string, Kind> kinds;
  for (const Tensor& tensor : inventory.tensors) {
    if (tensor.role != role) continue;
    Kind& kind = kinds[format("{} {} [{}]", without_numbers(tensor.name), profiles::safetensors_name(tensor.dtype),
                              profiles::join(tensor.shape, ", "))];
    kind.count += tensor.count();
    kind.bytes += tensor.bytes().count;
  }
  std::vector<std::pair<std::string, Kind>> sorted(kinds.begin(), kinds.end());
  std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
    return a.second.bytes != b.second.bytes ? a.second.bytes > b.second.bytes : a.first < b.first;
  });
  std::vector<std::string> out;
  for (const auto& [name, kind] : sorted) {
    if (out.size() == kShown) {
      out.push_back(format("and {} more kinds of tensor", sorted.size() - kShown));
      break;
    }
    out.push_back(format("{} x {} = {} bytes", grouped(kind.count), name, grouped(kind.bytes)));
  }
  return out;
}

// "weights.linear_attention" -> the role of that name, when the label is one.
std::vector<std::string> weight_lines(const Report& report, const std::string& label) {
  if (!label.starts_with("weights.") || !report.question.inventory) return {};
  for (int i = 0; i <= static_cast<int>(models::Role::other); ++i) {
    const models::Role role = static_cast<models::Role>(i);
    const std::string_view name = models::role_name(role);
    const std::string word = label.substr(8);
    if (word != name && word != std::string(name) + "s") continue;
    std::vector<std::string> out = tensor_lines(*report.question.inventory, role);
    if (!out.empty()) out.insert(out.begin(), format("in the whole checkpoint ({}):", report.question.inventory->origin));
    return out;
  }
  return {};
}

}  // namespace

std::vector<Explanation> explain_ledger(const Report& report) {
  const planner::Ledger* ledger = fullest(report.plan);
  if (ledger == nullptr) return {};
  std::vector<Explanation> out;
  for (const planner::Entry& entry : ledger->entries) {
    Explanation item{.key = entry.label,
                     .meaning = format("{} ({})", entry.text, section_word(entry.section)),
                     .value = bytes_text(entry.bytes),
                     .provenance = std::string(planner::provenance_name(entry.provenance)),
                     .source = entry.source};
    item.worked = weight_lines(report, entry.label);
    if (entry.section == planner::Section::free) {
      std::string sum = gib(ledger->total);
      for (const planner::Entry& other : ledger->entries) {
        if (&other != &entry && other.bytes.count != 0) sum += format(" - {}", gib(other.bytes));
      }
      item.formula = "total - all other entries";
      item.worked.insert(item.worked.begin(), sum + format(" = {} GiB", gib(entry.bytes)));
    }
    out.push_back(std::move(item));
  }
  explain_terms(report, *ledger, out);
  for (std::size_t i = 0; i < out.size(); ++i) {
    const profiles::Bytes error = ledger->entries[i].error;
    if (error.count > 0) out[i].worked.push_back(format("90 % bar: ±{} GiB", gib(error)));
  }
  return out;
}

}  // namespace kvfit::cli
