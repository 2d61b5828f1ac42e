#include "tests/accuracy/json_fields.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace kvfit::accuracy {

using profiles::Json;

namespace {

/// The whole text as a number; thousands separators and the unit that logs print behind it are allowed: "58.11 GiB", "3.2x".
std::optional<double> parse_number(std::string text) {
  std::erase(text, ',');
  for (const std::string_view unit : {"GiB", "x", "tokens"}) {
    if (text.ends_with(unit)) text.resize(text.size() - unit.size());
  }
  while (text.ends_with(' ')) text.pop_back();
  if (text.empty()) return std::nullopt;
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (*end != '\0' || !std::isfinite(value)) return std::nullopt;
  return value;
}

/// Decimals that the shortest text of a number shows.
int shown_decimals(const Json& value) {
  const std::string text = value.is_string() ? value.get<std::string>() : value.dump();
  const std::size_t point = text.find('.');
  if (point == std::string::npos || text.find('e') != std::string::npos) return 0;
  const std::string tail = text.substr(point + 1);
  const std::string fraction = tail.substr(0, tail.find_first_not_of("0123456789"));
  return fraction == "0" ? 0 : static_cast<int>(fraction.size());
}

}  // namespace

const Json* member(const Json& object, std::string_view key) {
  if (!object.is_object()) return nullptr;
  const Json::const_iterator found = object.find(std::string(key));
  return found == object.end() || found->is_null() ? nullptr : &*found;
}

const Json& object_of(const Json& object, std::string_view key) {
  static const Json kEmpty = Json::object();
  const Json* found = member(object, key);
  return found != nullptr && found->is_object() ? *found : kEmpty;
}

std::optional<double> number_of(const Json& object, std::string_view key) {
  const Json* found = member(object, key);
  if (found == nullptr) return std::nullopt;
  if (found->is_number()) return found->get<double>();
  if (found->is_string()) return parse_number(found->get<std::string>());
  return std::nullopt;
}

Count count_of(const Json& object, std::string_view key) {
  const std::optional<double> value = number_of(object, key);
  if (!value || std::abs(*value) > 9e15) return std::nullopt;
  return static_cast<std::int64_t>(std::llround(*value));
}

Text text_of(const Json& object, std::string_view key) {
  const Json* found = member(object, key);
  if (found == nullptr) return std::nullopt;
  const std::string text = found->is_string() ? found->get<std::string>() : found->dump();
  return text.empty() ? std::nullopt : Text(text);
}

std::optional<bool> flag_of(const Json& object, std::string_view key) {
  const Json* found = member(object, key);
  if (found == nullptr) return std::nullopt;
  if (found->is_boolean()) return found->get<bool>();
  if (found->is_number()) return found->get<double>() != 0;
  if (!found->is_string()) return std::nullopt;
  const std::string text = found->get<std::string>();
  if (text == "true" || text == "True" || text == "1") return true;
  if (text == "false" || text == "False" || text == "0") return false;
  return std::nullopt;
}

Size printed_of(const Json& object, std::string_view key, int decimals) {
  const std::optional<double> value = number_of(object, key);
  if (!value) return std::nullopt;
  const int shown = std::max(decimals, shown_decimals(*member(object, key)));
  return Printed{*value, 0.5 * std::pow(10.0, -shown)};
}

}  // namespace kvfit::accuracy
