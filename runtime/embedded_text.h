// A document inside a block scalar of another (a ConfigMap's file, Ray's serveConfigV2): the text, moved to the lines and
// columns it has in the outer file, so that places of the inner document are places of the outer one.
#pragma once

#include <string>

#include "profiles/document.h"
#include "runtime/text_places.h"

namespace kvfit::runtime {

/// Empty lines and blanks in front, as far as the text can be found in the file.
std::string embedded_text(const profiles::Node& scalar, const TextPlaces& places);

/// The first YAML document of it.
profiles::Node parse_embedded_yaml(const profiles::Node& scalar, const TextPlaces& places);

}  // namespace kvfit::runtime
