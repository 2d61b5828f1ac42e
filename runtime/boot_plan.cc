#include "runtime/boot_plan.h"

#include <array>

namespace kvfit::runtime {
namespace {

using planner::Section;

constexpr std::array kOrder = {Section::weights, Section::profile, Section::kv_cache, Section::outside};

// Takes `bytes` off the last entries, whole ones where they are smaller.
void take_off(std::vector<BootEntry>& entries, Bytes bytes) {
  while (bytes.count > 0 && !entries.empty()) {
    BootEntry& last = entries.back();
    if (last.bytes > bytes) {
      last.bytes -= bytes;
      return;
    }
    bytes -= last.bytes;
    entries.pop_back();
  }
}

}  // namespace

Bytes BootPlan::sum() const {
  Bytes out;
  for (const BootEntry& entry : entries) out += entry.bytes;
  return out;
}

BootPlan boot_plan(const planner::Ledger& ledger) {
  BootPlan out{.total = ledger.total,
               .free_at_start = ledger.total - ledger.sum(Section::before_engine),
               .left_free = ledger.sum(Section::free)};
  for (const Section section : kOrder) {
    for (const planner::Entry& entry : ledger.entries) {
      if (entry.section != section || entry.bytes.count == 0) continue;
      if (entry.bytes.count < 0) {
        take_off(out.entries, -entry.bytes);
      } else {
        out.entries.push_back({entry.label, entry.text, section, entry.bytes});
      }
    }
  }
  return out;
}

}  // namespace kvfit::runtime
