// JSON whose every value knows the bytes it was written in, so that an edit changes those bytes and no other: key order,
// "1e-06", white space and unknown fields of a config.json stay as they are.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace kvfit::carve {

struct JsonMember;

struct JsonSpan {
  enum class Kind { object, array, string, scalar };  ///< scalar: a number, true, false, null, NaN, Infinity
  Kind kind = Kind::scalar;
  std::size_t begin = 0, end = 0;   ///< bytes of the value, quotes and brackets included
  std::string text;                 ///< string: decoded; scalar: as written
  std::vector<JsonSpan> items;      ///< of an array
  std::vector<JsonMember> members;  ///< of an object, in order

  const JsonSpan* find(std::string_view key) const;  ///< nullptr when absent
};

struct JsonMember {
  std::size_t begin = 0, key_end = 0;  ///< bytes of the key, with its quotes
  std::string key;                     ///< decoded
  JsonSpan value;
};

/// Error (Fault::input) with the byte: malformed, a key twice in one object, nested deeper than 64, more than four million
/// values, not UTF-8. `file` is only a name for messages.
JsonSpan parse_json_spans(std::string_view text, const std::string& file);

/// The bytes [begin, end) become `text`.
struct JsonEdit {
  std::size_t begin = 0, end = 0;
  std::string text;
};

/// Edits must not overlap; their order does not matter.
std::string apply_edits(std::string_view text, std::vector<JsonEdit> edits);

/// Takes children out of an array or object together with the commas that went with them. removed[i] is of child i.
void remove_children(const JsonSpan& container, const std::vector<bool>& removed, std::vector<JsonEdit>& edits);

/// A JSON string with its quotes, escaped no more than needed: quote, backslash and control characters.
std::string json_quoted(std::string_view text);

}  // namespace kvfit::carve
