// The findings kvfit knows, by id: what each means, why it matters, what to do, and where the rule comes from. Ids stay;
// `kvfit explain KVF004` prints the page, SARIF and the JSON carry the titles.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "planner/plan.h"

namespace kvfit::cli {

struct FindingPage {
  std::string_view id;            ///< "KVF004"
  planner::Finding::Level level;  ///< as a rule; a case may be milder
  std::string_view title;         ///< lower case, no full stop
  std::string_view about;         ///< what happens, and why
  std::string_view remedy;        ///< what to do
  std::string_view source;        ///< public
};

std::span<const FindingPage> finding_pages();

/// nullptr when no finding has that id; capitals do not matter.
const FindingPage* find_page(std::string_view id);

/// The page as text.
std::string page_text(const FindingPage& page, int width);

}  // namespace kvfit::cli
