// UTF-8, as documents must be: well formed by RFC 3629 (no overlong forms, no surrogates, nothing above U+10FFFF).
#pragma once

#include <cstddef>
#include <string_view>

namespace kvfit::profiles {

/// Bytes of the character that starts `text` (1 to 4), or 0 when no well-formed character does.
std::size_t utf8_length(std::string_view text);

/// Offset of the first byte that is not well-formed UTF-8, or text.size().
std::size_t first_not_utf8(std::string_view text);

}  // namespace kvfit::profiles
