// What a document must hold whatever bytes it was read from; shared by the YAML and the JSON target.
#pragma once

#include <cstdlib>
#include <string>

#include "profiles/document.h"
#include "profiles/error.h"

namespace kvfit::fuzz {

inline void require(bool holds) {
  if (!holds) std::abort();
}

/// Visits every value: each knows its place, and only its own kind can be read.
inline void walk(const profiles::Node& node, int depth = 0) {
  require(depth <= 1000);
  require(!node.where().file.empty());
  if (node.is_map()) {
    for (const auto& [key, value] : node.members()) walk(value, depth + 1);
  } else if (node.is_list()) {
    for (const profiles::Node& item : node.list()) walk(item, depth + 1);
  } else {
    (void)node.scalar_text();
  }
}

/// Runs `parse`: a document that can be walked, or an Error about the input with a text.
template <typename Parse>
int check(Parse parse) {
  try {
    walk(parse());
  } catch (const profiles::Error& error) {
    require(error.fault() == profiles::Fault::input);
    require(error.text().starts_with("error: "));
  }
  return 0;
}

}  // namespace kvfit::fuzz
