// Small work on text that every layer needs and no library at hand does.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kvfit::profiles {

/// ASCII letters in lower case, all else as it is.
std::string lower(std::string_view text);

/// The parts between `separator`, empty ones left out.
std::vector<std::string> split(std::string_view text, char separator);

bool one_of(const std::vector<std::string>& list, std::string_view word);

/// One word of a POSIX shell, always in quotes: it's -> 'it'\''s'
std::string single_quoted(std::string_view text);

}  // namespace kvfit::profiles
