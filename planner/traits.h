// What a rule row may ask about a question: words and numbers, each under a fixed name, so that a misspelt condition in a
// profile is found when the profile is read.
#pragma once

#include <span>
#include <string_view>

#include "planner/settings.h"

namespace kvfit::planner {

enum class TraitKind { word, number };
struct TraitName {
  std::string_view name;
  TraitKind kind;
  std::string_view meaning;
};

/// Every trait a `when:` may name, with its meaning; sorted by name.
std::span<const TraitName> trait_names();

/// The machine's and model's traits, and what Serving states; settings not yet resolved.
Traits stated_traits(const Question& question);

/// Adds what resolving settled: runner, batch, KV dtype, prefix caching, backend ...; replaces earlier values.
void add_settings(Traits& traits, const Settings& settings);

}  // namespace kvfit::planner
