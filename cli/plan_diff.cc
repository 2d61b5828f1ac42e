#include "cli/plan_diff.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/words.h"
#include "planner/rules.h"
#include "profiles/error.h"
#include "profiles/text.h"
#include "profiles/units.h"
#include "runtime/deployment_file.h"

namespace kvfit::cli {
namespace {

using profiles::format;
using profiles::Node;

// A value of one side under its key.
struct Value {
  std::string key, text;
  std::optional<std::int64_t> number;
  bool bytes = false;
};
using Values = std::vector<Value>;

Value bytes_value(std::string key, const Node& node) {
  const std::int64_t n = node.integer();
  return {std::move(key), gib(profiles::Bytes(n)) + " GiB", n, true};
}

Value plain_value(std::string key, const Node& node) {
  if (node.is_integer()) return {std::move(key), profiles::grouped(node.integer()), node.integer(), false};
  return {std::move(key), printable(node.scalar_text()), std::nullopt, false};
}

void add(Values& out, const Node* map, std::string_view key, std::string_view shown) {
  const Node* node = map == nullptr ? nullptr : map->find(key);
  if (node != nullptr && !node->is_map() && !node->is_list()) out.push_back(plain_value(std::string(shown), *node));
}

// "0.24" and "0.24.0" are one release.
void add_release(Values& out, const Node* engine) {
  const Node* version = engine == nullptr ? nullptr : engine->find("version");
  if (version == nullptr) return;
  const planner::Version read = planner::parse_version(version->scalar_text());
  const bool release = read.known && read.stage == 0 && read.dev == 0;
  out.push_back({"engine_version",
                 release ? format("{}.{}.{}", read.major, read.minor, read.patch) : printable(version->scalar_text()),
                 std::nullopt, false});
}

// What is served under which name: several of the catalogue's names share one shape.
void add_model(Values& out, const Node* model) {
  add(out, model, model != nullptr && model->has("repository") ? "repository" : "id", "model");
  add(out, model, "planned_experts", "experts");
}

Values question_of(const Node& result) {
  Values out;
  add(out, &result, "binding", "binding");
  add(out, result.find("gpu"), "id", "gpu");
  add(out, result.find("gpu"), "count", "gpus");
  add(out, result.find("gpu"), "system", "system");
  add_model(out, result.find("model"));
  add(out, result.find("engine"), "name", "engine");
  add_release(out, result.find("engine"));
  return out;
}

Values serving_of(const Node& result) {
  Values out;
  const Node* serving = result.find("serving");
  if (serving == nullptr) return out;
  for (const auto& [key, value] : serving->members()) {
    if (value.is_map()) {
      for (const auto& [inner, part] : value.members()) out.push_back(plain_value(key + "." + inner, part));
    } else if (!value.is_list() && !value.is_null()) {
      out.push_back(plain_value(key, value));
    }
  }
  return out;
}

// Labels of the only rank stand alone, of several behind "rank N".
Values memory_of(const Node& result) {
  Values out;
  const Node* ranks = result.find("ranks");
  if (ranks == nullptr) return out;
  for (const Node& rank : ranks->list()) {
    const std::string prefix = ranks->list().size() > 1 ? format("rank {}: ", rank.at("rank").integer()) : "";
    out.push_back(bytes_value(prefix + "total", rank.at("total_bytes")));
    for (const Node& entry : rank.at("ledger").list()) {
      out.push_back(bytes_value(prefix + printable(entry.at("label").string()), entry.at("bytes")));
    }
  }
  return out;
}

Values kv_of(const Node& result) {
  Values out;
  const Node* kv = result.find("kv");
  if (kv == nullptr) return out;
  for (const auto& [key, value] : kv->members()) {
    if (key.ends_with("bytes") || key == "bytes_per_block") {
      out.push_back(bytes_value(key, value));
    } else if (value.is_integer()) {
      out.push_back(plain_value(key, value));
    } else {
      out.push_back({key, format("{:.2f}", value.number()), std::nullopt, false});
    }
  }
  return out;
}

Values checks_of(const Node& result) {
  Values out;
  const Node* checks = result.find("checks");
  if (checks == nullptr) return out;
  for (const Node& check : checks->list()) {
    const std::string id = printable(check.at("id").string());
    const std::string verdict = check.at("verdict").string();
    if (const Node* margin = check.find("margin_bytes")) {
      const std::int64_t n = margin->integer();
      out.push_back({id, format("{}, {} GiB", verdict, signed_gib(profiles::Bytes(n))), n, true});
    } else {
      out.push_back({id, verdict, std::nullopt, false});
    }
  }
  return out;
}

const Value* find(const Values& values, std::string_view key) {
  const Values::const_iterator found = std::ranges::find(values, key, &Value::key);
  return found == values.end() ? nullptr : &*found;
}

void compare(std::string_view group, const Values& before, const Values& after, std::vector<Changed>& out) {
  std::vector<std::string> keys;
  for (const Value& value : before) keys.push_back(value.key);
  for (const Value& value : after) {
    if (find(before, value.key) == nullptr) keys.push_back(value.key);
  }
  for (const std::string& key : keys) {
    const Value* a = find(before, key);
    const Value* b = find(after, key);
    if (a != nullptr && b != nullptr && a->text == b->text && a->number == b->number) continue;
    out.push_back({.key = key,
                   .group = std::string(group),
                   .before = a == nullptr ? "" : a->text,
                   .after = b == nullptr ? "" : b->text,
                   .before_number = a == nullptr ? std::nullopt : a->number,
                   .after_number = b == nullptr ? std::nullopt : b->number,
                   .bytes = (a != nullptr && a->bytes) || (b != nullptr && b->bytes)});
  }
}

const Node& result_of(const Node& root) {
  runtime::refuse_other_plans(root);
  return root.at("result");
}

std::string headline_of(const Node& result) {
  const Node* gpu = result.find("gpu");
  const Node* serving = result.find("serving");
  std::string out = result.at("verdict").string();
  if (serving != nullptr) {
    out += format(": {} tokens, {} sequences", profiles::grouped(serving->at("max_model_len").integer()),
                  profiles::grouped(serving->at("max_num_seqs").integer()));
  }
  if (gpu != nullptr) out += format(", {} x {}", gpu->at("count").integer(), printable(gpu->at("id").string()));
  return out;
}

}  // namespace

PlanDiff diff_plans(const Node& before, const std::string& before_name, const Node& after, const std::string& after_name) {
  const Node& a = result_of(before);
  const Node& b = result_of(after);
  PlanDiff out;
  out.before_name = printable(before_name);
  out.after_name = printable(after_name);
  out.before_verdict = a.at("verdict").string();
  out.after_verdict = b.at("verdict").string();
  out.before_headline = headline_of(a);
  out.after_headline = headline_of(b);
  compare("question", question_of(a), question_of(b), out.changes);
  compare("serving", serving_of(a), serving_of(b), out.changes);
  compare("memory", memory_of(a), memory_of(b), out.changes);
  compare("kv", kv_of(a), kv_of(b), out.changes);
  compare("checks", checks_of(a), checks_of(b), out.changes);
  return out;
}

}  // namespace kvfit::cli
