// One device's memory, every byte under exactly one label: entries + free == total, to the byte.
#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "profiles/units.h"

namespace kvfit::planner {

using profiles::Bytes;

enum class Provenance { exact, derived, measured, assumed };
std::string_view provenance_name(Provenance p);

/// Where an entry lives in the engine's accounting.
enum class Section {
  before_engine,  ///< context, NCCL, other processes: taken before the engine's first snapshot
  weights,
  profile,  ///< non-torch growth, activation peak, workspaces, graph estimate: subtracted from the budget
  kv_cache,
  outside,  ///< allocated after the pool was sized: graphs beyond the estimate, warm-up, prefill scratch
  free,
};

struct Entry {
  std::string label;  ///< stable identifier in snake_case, e.g. "weights.experts"
  std::string text;   ///< for people: "routed experts (192 x 40 layers, NVFP4)"
  Section section = Section::free;
  Bytes bytes;
  Bytes error;  ///< half width of the 90 % bar
  Provenance provenance = Provenance::derived;
  std::string source;  ///< rule, formula id or profile that gave the number
};

struct Ledger {
  int rank = 0;  ///< global rank; `stage` its pipeline stage
  int stage = 0;
  Bytes total;                 ///< what CUDA reports for the device
  std::vector<Entry> entries;  ///< the last is "free" and may be negative when the plan does not fit

  Bytes sum(Section section) const;
};

/// Adds the "free" entry so that the ledger sums to the total.
void close(Ledger& ledger);
/// Throws std::logic_error when entries do not sum to total or a label appears twice: a bug in kvfit.
void verify(const Ledger& ledger);

/// sqrt(a^2 + b^2 + ...): independent errors add in quadrature.
Bytes quadrature(std::initializer_list<Bytes> errors);
Bytes combined_error(const std::vector<Entry>& entries);

}  // namespace kvfit::planner
