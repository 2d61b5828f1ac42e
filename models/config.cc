#include "models/config.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "profiles/document.h"
#include "profiles/text.h"

namespace kvfit::models {

using profiles::format;
using profiles::join;
using profiles::Node;

const Node* Config::find(Keys keys) const {
  for (const std::string_view key : keys) {
    const std::size_t dot = key.find('.');
    if (dot == std::string_view::npos) {
      if (const Node* node = text_.find(key)) return node;
      continue;
    }
    const Node* map = text_.find(key.substr(0, dot));
    if (!map || !map->is_map()) continue;
    if (const Node* node = map->find(key.substr(dot + 1))) return node;
  }
  return nullptr;
}

std::optional<double> Config::fallback(Keys keys) const {
  for (const std::string_view key : keys) {
    const std::optional<Family::Fallback> found = family_.fallback(key);
    if (!found) continue;
    if (found->doubtful) assume(format("{} is not stated: the library's default {}", key, found->value));
    return found->value;
  }
  return std::nullopt;
}

void Config::assume(std::string what) const {
  if (std::find(assumed_.begin(), assumed_.end(), what) == assumed_.end()) assumed_.push_back(std::move(what));
}

std::int64_t Config::need(Keys keys, Range range) const {
  if (const Node* node = find(keys)) return node->integer(range.lo, range.hi);
  if (const std::optional<double> value = fallback(keys)) return static_cast<std::int64_t>(*value);
  const std::vector<std::string_view> spellings(keys);
  text_.fail(format("missing key '{}'", spellings.front()),
             format("model_type '{}' has no default for it; kvfit looks for: {}", family_.type, join(spellings, ", ")));
}

std::int64_t Config::get(Keys keys, std::int64_t other, Range range) const {
  if (const Node* node = find(keys)) return node->integer(range.lo, range.hi);
  const std::optional<double> value = fallback(keys);
  return value ? static_cast<std::int64_t>(*value) : other;
}

std::int64_t Config::of_layer(Keys keys, int index, std::int64_t other, Range range) const {
  const Node* node = find(keys);
  if (!node || !node->is_list()) return get(keys, other, range);
  const std::vector<Node>& items = node->list();
  if (static_cast<std::size_t>(index) >= items.size()) {
    node->fail(format("the list has {} entries, but layer {} needs one", items.size(), index));
  }
  return items[static_cast<std::size_t>(index)].integer(range.lo, range.hi);
}

double Config::real(Keys keys, double other) const {
  if (const Node* node = find(keys)) return node->number();
  return fallback(keys).value_or(other);
}

bool Config::flag(Keys keys, bool other) const {
  if (const Node* node = find(keys)) return node->boolean();
  return fallback(keys).value_or(other ? 1.0 : 0.0) != 0.0;
}

std::string Config::word(Keys keys, std::string other) const {
  const Node* node = find(keys);
  return node ? node->string() : other;
}

std::vector<std::string> Config::words(Keys keys) const {
  std::vector<std::string> out;
  const Node* node = find(keys);
  if (!node) return out;
  for (const Node& item : node->list()) out.push_back(item.scalar_text());
  return out;
}

std::vector<std::int64_t> Config::integers(Keys keys, Range range) const {
  std::vector<std::int64_t> out;
  const Node* node = find(keys);
  if (!node) return out;
  for (const Node& item : node->list()) out.push_back(item.integer(range.lo, range.hi));
  return out;
}

}  // namespace kvfit::models
