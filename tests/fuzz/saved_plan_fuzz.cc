// Any JSON is a saved plan, or it is refused with a place; what is read adds up.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "cli/saved_plan.h"
#include "profiles/error.h"
#include "runtime/boot_plan.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const std::string text(reinterpret_cast<const char*>(data), size);
    const kvfit::cli::SavedPlan plan = kvfit::cli::read_saved_plan(kvfit::profiles::parse_json(text, "input"));
    for (const kvfit::planner::Ledger& ledger : plan.ledgers) (void)kvfit::runtime::boot_plan(ledger);
  } catch (const kvfit::profiles::Error& error) {
    (void)error.text();
  }
  return 0;
}
