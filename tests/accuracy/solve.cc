#include "tests/accuracy/solve.h"

#include <algorithm>

#include "planner/traits.h"
#include "profiles/error.h"

namespace kvfit::accuracy {

using planner::Question;

namespace {

constexpr std::size_t kMostTries = 4000;

/// Picks of choices: 0 = the default, i = the i-th value; fewest changes first.
std::vector<std::vector<std::size_t>> picks_of(const std::vector<std::vector<Choice>>& open) {
  std::vector<std::vector<std::size_t>> out = {{}};
  for (const std::vector<Choice>& choices : open) {
    std::vector<std::vector<std::size_t>> longer;
    for (const std::vector<std::size_t>& pick : out) {
      for (std::size_t i = 0; i <= choices.size(); ++i) {
        longer.push_back(pick);
        longer.back().push_back(i);
      }
    }
    out = std::move(longer);
  }
  const auto changes = [](const std::vector<std::size_t>& pick) {
    return std::count_if(pick.begin(), pick.end(), [](std::size_t i) { return i > 0; });
  };
  std::stable_sort(out.begin(), out.end(), [&changes](const std::vector<std::size_t>& a, const std::vector<std::size_t>& b) {
    return changes(a) < changes(b);
  });
  if (out.size() > kMostTries) out.resize(kMostTries);
  return out;
}

}  // namespace

Capacity capacity_of(const Question& question) {
  planner::Traits traits = planner::stated_traits(question);
  const planner::Settings settings = planner::resolve_settings(question, traits);
  planner::add_settings(traits, settings);
  const planner::Speculative* speculative = question.serving.speculative ? &*question.serving.speculative : nullptr;
  std::vector<planner::KvLayout> layouts =
      planner::kv_layouts(question.model, speculative, settings, *question.rules, traits);
  if (layouts.empty()) profiles::fail_input("no layer keeps a cache");
  if (!layouts.front().refusal.empty()) profiles::fail_input("the engine would refuse: " + layouts.front().refusal);
  return {std::move(layouts.front()), settings.max_model_len, settings.in_flight_tokens, settings.max_num_seqs};
}

std::optional<Solved> solve(const Library& library, const Observation& row, const Case& stated, const Comparer& compare) {
  const std::vector<std::vector<Choice>> open = open_choices(library, row, stated);
  std::optional<Solved> first;
  std::optional<profiles::Error> refusal;
  for (const std::vector<std::size_t>& pick : picks_of(open)) {
    Question question = stated.question;
    Solved tried;
    for (std::size_t i = 0; i < pick.size(); ++i) {
      if (pick[i] == 0) continue;
      const Choice& choice = open[i][pick[i] - 1];
      choice.apply(question);
      tried.choices.push_back(choice.text);
    }
    try {
      const std::optional<KvComparison> comparison = compare(capacity_of(question));
      if (!comparison) return std::nullopt;
      tried.comparison = *comparison;
    } catch (const profiles::Error& error) {
      if (!refusal) refusal = error;
      continue;
    }
    if (tried.comparison.exact) return tried;
    if (!first) first = std::move(tried);
  }
  if (!first && refusal) throw *refusal;
  if (first) first->choices.clear();
  return first;
}

}  // namespace kvfit::accuracy
