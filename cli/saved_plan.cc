#include "cli/saved_plan.h"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "cli/words.h"
#include "profiles/error.h"
#include "profiles/text.h"
#include "runtime/deployment_file.h"

namespace kvfit::cli {
namespace {

using planner::Section;
using profiles::Bytes;
using profiles::format;
using profiles::Node;

constexpr const char* kHint = "write one with: kvfit plan --gpu ID --format json -o plan.json";
constexpr std::int64_t kMostBytes = std::int64_t{1} << 60;

Section section_from(const Node& node) {
  using enum Section;
  for (const Section section : {before_engine, weights, profile, kv_cache, outside, free}) {
    if (section_name(section) == node.string()) return section;
  }
  node.fail(format("unknown section '{}'", node.string()));
}

planner::Ledger read_ledger(const Node& rank) {
  planner::Ledger out{.rank = static_cast<int>(rank.at("rank").integer(0, 1 << 20)),
                      .stage = static_cast<int>(rank.at("stage").integer(0, 1 << 20)),
                      .total = Bytes(rank.at("total_bytes").integer(1, kMostBytes))};
  Bytes sum;
  for (const Node& node : rank.at("ledger").list()) {
    planner::Entry entry{.label = node.at("label").string(), .text = node.at("label").string()};
    if (const Node* text = node.find("text")) entry.text = text->string();
    entry.section = section_from(node.at("section"));
    entry.bytes = Bytes(node.at("bytes").integer(-kMostBytes, kMostBytes));
    entry.error = Bytes(node.at("error_bytes").integer(0, kMostBytes));
    sum += entry.bytes;
    out.entries.push_back(std::move(entry));
  }
  if (sum != out.total) {
    rank.at("ledger").fail(format("the entries add up to {} bytes, the device has {}", sum.count, out.total.count),
                           "save the plan again; entries are not meant to be edited");
  }
  return out;
}

}  // namespace

SavedPlan read_saved_plan(const Node& document) {
  runtime::refuse_other_plans(document);
  SavedPlan out;
  const Node* arguments = document.find("arguments");
  if (arguments == nullptr) document.fail("this plan does not say which flags it was asked with", kHint);
  for (const Node& word : arguments->list()) out.arguments.push_back(word.string());
  const Node& result = document.at("result");
  for (const Node& rank : result.at("ranks").list()) out.ledgers.push_back(read_ledger(rank));
  const Node* serving = result.find("serving");
  if (out.ledgers.empty() || serving == nullptr) {
    result.fail(format("this plan holds no ledger: its verdict is {}", result.at("verdict").scalar_text()),
                "only a plan that was computed can be tried");
  }
  out.max_model_len = serving->at("max_model_len").integer(1, kMostBytes);
  out.max_num_seqs = serving->at("max_num_seqs").integer(1, kMostBytes);
  out.utilization = serving->at("gpu_memory_utilization").number();
  if (const Node* experts = result.at("model").find("planned_experts")) out.planned_experts = experts->integer(0, 1 << 20);
  return out;
}

}  // namespace kvfit::cli
