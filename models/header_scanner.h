// Scans the JSON that safetensors headers and their indexes are written in. Strings are decoded in place, numbers are
// unsigned integers, values nobody asks for are skipped to a bounded depth. Works on a text already known to be UTF-8.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kvfit::models {

/// A name from a file as it may stand in a message: control characters spelled out, cut after 160 bytes.
std::string printable(std::string_view name);

class HeaderScanner {
 public:
  enum class What { header, index };  ///< what messages call the text; a header starts at byte 8 of its file

  HeaderScanner(std::vector<char>& text, const std::string& file, What what = What::header)
      : text_(text), file_(file), what_(what) {}

  bool at_end();                       ///< nothing but white space is left
  bool take(char c);                   ///< skips white space; consumes c if it is next
  void expect(char c);                 ///< Error unless c is next
  std::string_view string();           ///< a JSON string, decoded; valid as long as the text
  std::int64_t unsigned_integer();     ///< digits only; Error when it does not fit in 63 bits
  bool next(bool& first, char close);  ///< inside an object or list: false past its end, else past the comma
  std::string_view skip_value();       ///< any value, returned as written; Error when nested deeper than 32

  /// Error "the header is not valid: expected … at byte …".
  [[noreturn]] void fail(std::string_view expected) const;

 private:
  void skip_space();
  void skip_nested(int depth);
  void skip_word();
  char* decode_escape(char* out);
  std::uint32_t hex4();

  std::vector<char>& text_;
  const std::string& file_;
  What what_;
  std::size_t at_ = 0;
};

}  // namespace kvfit::models
