#include "runtime/text_places.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kvfit::runtime {

TextPlaces::TextPlaces(std::string file, std::string_view text) : file_(std::move(file)), text_(text), starts_{0} {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\n') starts_.push_back(i + 1);
  }
}

profiles::Where TextPlaces::at(std::size_t offset, std::string key) const {
  const std::vector<std::size_t>::const_iterator next = std::upper_bound(starts_.begin(), starts_.end(), offset);
  const std::size_t start = *(next - 1);
  const std::size_t end = std::min(text_.find('\n', start), text_.size());
  std::string_view line = text_.substr(start, end - start);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return {.file = file_,
          .line = static_cast<int>(next - starts_.begin()),
          .column = static_cast<int>(offset - start) + 1,
          .key = std::move(key),
          .excerpt = std::string(line.substr(0, 400))};
}

profiles::Where TextPlaces::find(std::string_view word, int line, int column, const profiles::Where& otherwise) const {
  if (word.empty() || line < 1 || static_cast<std::size_t>(line) > starts_.size()) return otherwise;
  const std::size_t from = starts_[static_cast<std::size_t>(line) - 1] + static_cast<std::size_t>(std::max(column, 1) - 1);
  const std::size_t found = from <= text_.size() ? text_.find(word, from) : std::string_view::npos;
  return found == std::string_view::npos ? otherwise : at(found, otherwise.key);
}

}  // namespace kvfit::runtime
