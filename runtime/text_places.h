// Places in a text: offset -> line, column and the line itself; and where a word of a parsed value stands in the raw text.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "profiles/error.h"

namespace kvfit::runtime {

class TextPlaces {
 public:
  /// `text` must outlive the object; `file` is a name for messages. Offsets count from the start of the text.
  TextPlaces(std::string file, std::string_view text);

  profiles::Where at(std::size_t offset, std::string key = {}) const;

  /// The first occurrence of `word` at or after (line, column), else `otherwise`. For words inside scalars, whose quoting
  /// and folding the parser took away.
  profiles::Where find(std::string_view word, int line, int column, const profiles::Where& otherwise) const;

  const std::string& file() const { return file_; }
  std::string_view text() const { return text_; }

 private:
  std::string file_;
  std::string_view text_;
  std::vector<std::size_t> starts_;  ///< of each line
};

}  // namespace kvfit::runtime
