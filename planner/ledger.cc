#include "planner/ledger.h"

#include <cmath>
#include <initializer_list>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "profiles/text.h"

namespace kvfit::planner {

std::string_view provenance_name(Provenance p) {
  switch (p) {
    case Provenance::exact:
      return "exact";
    case Provenance::derived:
      return "derived";
    case Provenance::measured:
      return "measured";
    case Provenance::assumed:
      return "assumed";
  }
  return "assumed";
}

Bytes Ledger::sum(Section section) const {
  Bytes out;
  for (const Entry& entry : entries) {
    if (entry.section == section) out += entry.bytes;
  }
  return out;
}

void close(Ledger& ledger) {
  // The pool takes up whatever the budget's entries leave, so their errors do not reach what stays free.
  Bytes used;
  std::vector<Entry> outside_the_budget;
  for (const Entry& entry : ledger.entries) {
    used += entry.bytes;
    if (entry.section == Section::before_engine || entry.section == Section::outside) outside_the_budget.push_back(entry);
  }
  ledger.entries.push_back({.label = "free",
                            .text = "free",
                            .section = Section::free,
                            .bytes = ledger.total - used,
                            .error = combined_error(outside_the_budget),
                            .provenance = Provenance::derived,
                            .source = "total - all entries"});
}

void verify(const Ledger& ledger) {
  Bytes sum;
  std::set<std::string_view> labels;
  for (const Entry& entry : ledger.entries) {
    sum += entry.bytes;
    if (!labels.insert(entry.label).second) throw std::logic_error("ledger label used twice: " + entry.label);
  }
  if (sum != ledger.total) {
    throw std::logic_error(profiles::format("ledger of rank {} sums to {} bytes, the device has {}", ledger.rank, sum.count,
                                            ledger.total.count));
  }
}

Bytes quadrature(std::initializer_list<Bytes> errors) {
  double squares = 0;
  for (const Bytes error : errors) squares += static_cast<double>(error.count) * static_cast<double>(error.count);
  return Bytes(std::llround(std::sqrt(squares)));
}

Bytes combined_error(const std::vector<Entry>& entries) {
  double squares = 0;
  for (const Entry& entry : entries) {
    const double e = static_cast<double>(entry.error.count);
    squares += e * e;
  }
  return Bytes(std::llround(std::sqrt(squares)));
}

}  // namespace kvfit::planner
