// Lenient reads of one JSON object: a value of another type is as good as absent, because rows are written by many hands.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "profiles/json.h"
#include "tests/accuracy/observation.h"

namespace kvfit::accuracy {

/// The member, or nullptr when absent or null.
const profiles::Json* member(const profiles::Json& object, std::string_view key);
/// Object-valued member; an empty object when there is none.
const profiles::Json& object_of(const profiles::Json& object, std::string_view key);

std::optional<double> number_of(const profiles::Json& object, std::string_view key);  ///< also "131,072" and "0.92"
Count count_of(const profiles::Json& object, std::string_view key);
Text text_of(const profiles::Json& object, std::string_view key);  ///< empty strings count as absent
std::optional<bool> flag_of(const profiles::Json& object, std::string_view key);

/// A printed size. JSON drops trailing zeros ("4.80" becomes 4.8), so a value is taken to be printed with at least
/// `decimals` decimals; more, when it shows more.
Size printed_of(const profiles::Json& object, std::string_view key, int decimals = 2);

}  // namespace kvfit::accuracy
