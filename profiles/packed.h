// A document as one run of bytes, for profiles that are compiled in: loading it needs no YAML parser and keeps every value's
// line and column. Written at build time (embed.cc), read at run time (catalog.cc); the two halves of one program, so there
// is no version and no tolerance: a broken run of bytes is a bug.
#pragma once

#include <string>
#include <string_view>

#include "profiles/document.h"

namespace kvfit::profiles {

std::string pack(const Node& root);

/// `file` names the document in messages. Throws std::logic_error when the bytes are not what pack() wrote.
Node unpack(std::string_view packed, std::string file);

}  // namespace kvfit::profiles
