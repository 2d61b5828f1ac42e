// The names of a published index, kept short in tests/data/indexes: one line a run of names, "{0-35}" for numbers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace kvfit::tests {

struct NameIndex {
  std::int64_t total_size = 0;     ///< as its metadata states
  std::vector<std::string> names;  ///< sorted
};

/// `text`: the file's content. Throws std::runtime_error on a malformed line.
NameIndex parse_name_index(const std::string& text);

/// "a.{0-1}.b.{3}" -> a.0.b.3, a.1.b.3
std::vector<std::string> expand_runs(const std::string& line);

}  // namespace kvfit::tests
