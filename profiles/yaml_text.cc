#include "profiles/yaml_text.h"

#include <string>
#include <string_view>

namespace kvfit::profiles {
namespace {

// Words that some YAML version reads as a number, boolean, null or date need quotes, and so does whatever holds a
// character with a meaning.
bool plain(std::string_view text) {
  constexpr std::string_view kFirst = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_/";
  constexpr std::string_view kRest = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_/.+-";
  if (text.empty() || kFirst.find(text.front()) == std::string_view::npos) return false;
  if (text.find_first_not_of(kRest) != std::string_view::npos) return false;
  std::string lower;
  for (const char c : text) lower += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  for (const std::string_view word : {"y", "n", "yes", "no", "on", "off", "true", "false", "null"}) {
    if (lower == word) return false;
  }
  return true;
}

std::string scalar(const Json& value) {
  if (value.is_string() && plain(value.get_ref<const std::string&>())) return value.get<std::string>();
  if (value.is_array()) return "[]";
  if (value.is_object()) return "{}";
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

void write(const Json& value, std::size_t indent, bool in_list, std::string& out) {
  const std::string pad(indent, ' ');
  bool first = true;
  const auto begin_line = [&] {
    if (!(first && in_list)) out += pad;
    first = false;
  };
  if (value.is_object()) {
    for (const auto& [key, item] : value.items()) {
      begin_line();
      out += (plain(key) ? key : Json(key).dump()) + ":";
      if ((item.is_object() || item.is_array()) && !item.empty()) {
        out += "\n";
        write(item, indent + 2, false, out);
      } else {
        out += " " + scalar(item) + "\n";
      }
    }
    return;
  }
  for (const Json& item : value) {
    begin_line();
    out += "- ";
    if ((item.is_object() || item.is_array()) && !item.empty()) {
      write(item, indent + 2, true, out);
    } else {
      out += scalar(item) + "\n";
    }
  }
}

}  // namespace

std::string yaml_text(const Json& value) {
  if (!(value.is_object() || value.is_array()) || value.empty()) return scalar(value) + "\n";
  std::string out;
  write(value, 0, false, out);
  return out;
}

}  // namespace kvfit::profiles
