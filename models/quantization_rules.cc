#include "models/quantization_rules.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/config.h"
#include "models/module_name.h"
#include "models/pattern.h"
#include "profiles/document.h"
#include "profiles/error.h"
#include "profiles/text.h"

namespace kvfit::models {
namespace {

using profiles::format;
using profiles::Node;

FormatRule::Match match_of(std::string_view pattern, FormatRule::Match otherwise) {
  return pattern.find_first_of("*?") != std::string_view::npos ? FormatRule::Match::glob : otherwise;
}

std::string rule_key(std::string_view pattern, FormatRule::Match match, bool exempt, const WeightFormat& weight) {
  return format("{}|{}|{}|{}|{}|{}|{}", pattern, static_cast<int>(match), exempt, static_cast<int>(weight.format),
                weight.bits, weight.group, weight.activations);
}

// "layers.1*" names every layer whose number starts with 1.
std::vector<int> layers_starting_with(int number) {
  const std::string prefix = std::to_string(number);
  std::vector<int> out;
  for (int layer = 0; layer < static_cast<int>(kLayers.hi); ++layer) {
    if (std::to_string(layer).starts_with(prefix)) out.push_back(layer);
  }
  return out;
}

}  // namespace

void RuleList::add(std::vector<FormatRule>& rules, std::string_view pattern, FormatRule::Match match, bool exempt,
                   const WeightFormat& weight) {
  ModuleName name = split_module(pattern);
  // A glob that stood for "everything below" is the module itself: layers.#.mlp* stays a glob, layers.#.* too.
  const std::string key = rule_key(name.text, match, exempt, weight);
  const auto [found, fresh] = known_.try_emplace(key, rules.size());
  if (fresh) {
    FormatRule rule;
    rule.match = match;
    rule.pattern = std::move(name.text);
    rule.exempt = exempt;
    rule.format = weight;
    rules.push_back(std::move(rule));
  }
  std::vector<int>& layers = rules[found->second].layers;
  if (name.layer < 0) {
    layers.clear();
  } else if (fresh || !layers.empty()) {
    for (const int layer : name.open_ended ? layers_starting_with(name.layer) : std::vector<int>{name.layer}) {
      const std::vector<int>::iterator at = std::lower_bound(layers.begin(), layers.end(), layer);
      if (at == layers.end() || *at != layer) layers.insert(at, layer);
    }
  }
}

void RuleList::add_regex_text(const std::string& pattern, const Node& value, bool exempt, const WeightFormat& weight) {
  FormatRule rule;
  rule.match = FormatRule::Match::regex;
  rule.pattern = pattern;
  rule.exempt = exempt;
  rule.format = weight;
  try {
    rule.regex = std::make_shared<const Regex>(rule.pattern);
  } catch (const profiles::Error& error) {
    value.fail(error.message());
  }
  (exempt ? exemptions_ : assignments_).push_back(std::move(rule));
}

void RuleList::exempt(const Node& pattern, FormatRule::Match otherwise) {
  if (pattern.string().starts_with("re:")) return add_regex_text(pattern.string().substr(3), pattern, true, {});
  add(exemptions_, pattern.string(), match_of(pattern.string(), otherwise), true, {});
}

void RuleList::assign(const Node& pattern, FormatRule::Match otherwise, const WeightFormat& weight) {
  if (pattern.string().starts_with("re:")) return add_regex_text(pattern.string().substr(3), pattern, false, weight);
  add(assignments_, pattern.string(), match_of(pattern.string(), otherwise), false, weight);
}

void RuleList::exempt(std::string_view pattern, FormatRule::Match match) { add(exemptions_, pattern, match, true, {}); }

void RuleList::assign(std::string_view pattern, FormatRule::Match match, const WeightFormat& weight) {
  add(assignments_, pattern, match, false, weight);
}

void RuleList::exempt_all(const Node* list, FormatRule::Match otherwise) {
  if (!list) return;
  for (const Node& pattern : list->list()) exempt(pattern, otherwise);
}

std::vector<FormatRule> RuleList::take() {
  std::vector<FormatRule> out = std::move(exemptions_);
  out.insert(out.end(), std::make_move_iterator(assignments_.begin()), std::make_move_iterator(assignments_.end()));
  return out;
}

}  // namespace kvfit::models
