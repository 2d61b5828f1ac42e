#include "profiles/utf8.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace kvfit::profiles {
namespace {

// First bytes of a sequence, its length, and the range of its second byte; all later bytes are 0x80..0xBF.
// Source: RFC 3629 section 4.
struct Lead {
  unsigned char first, last;
  std::size_t length;
  unsigned char second_low, second_high;
};
constexpr Lead kLeads[] = {
    {0x00, 0x7F, 1, 0x00, 0x00}, {0xC2, 0xDF, 2, 0x80, 0xBF}, {0xE0, 0xE0, 3, 0xA0, 0xBF},
    {0xE1, 0xEC, 3, 0x80, 0xBF}, {0xED, 0xED, 3, 0x80, 0x9F}, {0xEE, 0xEF, 3, 0x80, 0xBF},
    {0xF0, 0xF0, 4, 0x90, 0xBF}, {0xF1, 0xF3, 4, 0x80, 0xBF}, {0xF4, 0xF4, 4, 0x80, 0x8F},
};

bool within(char c, unsigned char low, unsigned char high) {
  const unsigned char byte = static_cast<unsigned char>(c);
  return byte >= low && byte <= high;
}

}  // namespace

std::size_t utf8_length(std::string_view text) {
  if (text.empty()) return 0;
  for (const Lead& lead : kLeads) {
    if (!within(text[0], lead.first, lead.last)) continue;
    if (text.size() < lead.length) return 0;
    if (lead.length > 1 && !within(text[1], lead.second_low, lead.second_high)) return 0;
    for (std::size_t i = 2; i < lead.length; ++i) {
      if (!within(text[i], 0x80, 0xBF)) return 0;
    }
    return lead.length;
  }
  return 0;
}

std::size_t first_not_utf8(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size()) {
    std::uint64_t eight = 0;  // most of most documents is ASCII
    if (text.size() - at >= sizeof eight) {
      std::memcpy(&eight, text.data() + at, sizeof eight);
      if ((eight & 0x8080808080808080U) == 0) {
        at += sizeof eight;
        continue;
      }
    }
    const std::size_t length = utf8_length(text.substr(at));
    if (length == 0) return at;
    at += length;
  }
  return at;
}

}  // namespace kvfit::profiles
