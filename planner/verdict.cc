#include "planner/verdict.h"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

namespace kvfit::planner {
namespace {

int rank(Verdict v) {
  switch (v) {
    case Verdict::fits:
      return 0;
    case Verdict::tight:
      return 1;
    case Verdict::does_not_fit:
      return 2;
    case Verdict::unknown:
      return 3;
    case Verdict::refused:
      return 4;
  }
  return 4;
}

// Margins of different checks compare by how many bars they hold; an exact check (no bar) counts its bytes.
double relative_margin(const Check& check) {
  const double error = static_cast<double>(std::max<std::int64_t>(check.error.count, 1));
  return static_cast<double>(check.margin().count) / error;
}

}  // namespace

std::string_view verdict_name(Verdict v) {
  switch (v) {
    case Verdict::fits:
      return "fits";
    case Verdict::tight:
      return "tight";
    case Verdict::does_not_fit:
      return "does-not-fit";
    case Verdict::refused:
      return "refused";
    case Verdict::unknown:
      return "unknown";
  }
  return "unknown";
}

double bar_factor(Confidence confidence) {
  switch (confidence) {
    case Confidence::half:
      return 0.410;  // 0.674 / 1.645 standard deviations
    case Confidence::ninety:
      return 1.0;
    case Confidence::ninety_five:
      return 1.192;  // 1.960 / 1.645
  }
  return 1.0;
}

void judge(Check& check) {
  const Bytes margin = check.margin();
  if (margin.count < 0) {
    check.verdict = Verdict::does_not_fit;
    check.certain = -margin.count > check.error.count;
  } else {
    check.verdict = margin >= check.error ? Verdict::fits : Verdict::tight;
    check.certain = check.verdict == Verdict::fits;
  }
}

bool worse(Verdict a, Verdict b) { return rank(a) > rank(b); }

const Check* binding_check(const std::vector<Check>& checks) {
  const Check* failed = nullptr;
  for (const Check& check : checks) {
    if (check.verdict != Verdict::does_not_fit) continue;
    if (failed == nullptr || (check.certain && !failed->certain)) failed = &check;
  }
  if (failed != nullptr) return failed;
  const Check* out = nullptr;
  for (const Check& check : checks) {
    if (!out || worse(check.verdict, out->verdict) ||
        (check.verdict == out->verdict && relative_margin(check) < relative_margin(*out))) {
      out = &check;
    }
  }
  return out;
}

}  // namespace kvfit::planner
