#include "planner/frontier.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "planner/verdict.h"
#include "profiles/error.h"
#include "profiles/text.h"

namespace kvfit::planner {
namespace {

const std::vector<std::int64_t>& values(const Bounds& bounds, Axis axis) {
  switch (axis) {
    case Axis::experts:
      return bounds.experts;
    case Axis::context:
      return bounds.contexts;
    case Axis::sequences:
      return bounds.sequences;
  }
  return bounds.experts;
}

void set(Point& point, Axis axis, std::int64_t value) {
  switch (axis) {
    case Axis::experts:
      point.experts = value;
      break;
    case Axis::context:
      point.max_model_len = value;
      break;
    case Axis::sequences:
      point.max_num_seqs = value;
      break;
  }
}

Point smallest(const Bounds& bounds) {
  return {.experts = bounds.experts.front(),
          .max_model_len = bounds.contexts.front(),
          .max_num_seqs = bounds.sequences.front(),
          .utilization = bounds.utilization};
}

bool good_enough(const Outcome& outcome, Verdict wanted) { return !worse(outcome.verdict, wanted); }

Rung make_rung(const Point& point, const Outcome& outcome) {
  Rung rung;
  rung.experts = point.experts;
  rung.max_model_len = point.max_model_len;
  rung.max_num_seqs = point.max_num_seqs;
  rung.verdict = outcome.verdict;
  rung.binding = outcome.binding;
  rung.margin = outcome.margin;
  rung.error = outcome.error;
  return rung;
}

// The rung of one expert count: the best context and sequences that fit, else that are tight, else why nothing does.
Rung rung_at(Bounds bounds, std::int64_t experts, const Probe& probe) {
  bounds.experts = {experts};
  for (const Verdict wanted : {Verdict::fits, Verdict::tight}) {
    const std::optional<Point> point = best_point(bounds, {Axis::context, Axis::sequences}, probe, wanted);
    if (point) return make_rung(*point, probe(*point));
  }
  const Point least = smallest(bounds);
  return make_rung(least, probe(least));
}

std::vector<Rung> context_ladder(const Bounds& bounds, const Probe& probe) {
  std::vector<Rung> out;
  for (std::size_t i = bounds.contexts.size(); i-- > 0;) {
    Bounds one = bounds;
    one.contexts = {bounds.contexts[i]};
    out.push_back(rung_at(one, bounds.experts.back(), probe));
  }
  return out;
}

}  // namespace

std::vector<Axis> parse_preference(std::string_view text) {
  std::vector<Axis> out;
  std::size_t start = 0;
  while (start <= text.size()) {
    const std::size_t comma = std::min(text.find(',', start), text.size());
    const std::string_view word = text.substr(start, comma - start);
    start = comma + 1;
    Axis axis = Axis::experts;
    if (word == "context") {
      axis = Axis::context;
    } else if (word == "sequences") {
      axis = Axis::sequences;
    } else if (word != "experts") {
      profiles::fail_input(profiles::format("unknown preference '{}'", word), {},
                           "an order of: experts, context, sequences");
    }
    if (std::find(out.begin(), out.end(), axis) != out.end()) {
      profiles::fail_input(profiles::format("'{}' is named twice in the preference", word));
    }
    out.push_back(axis);
  }
  for (const Axis axis : {Axis::experts, Axis::context, Axis::sequences}) {
    if (std::find(out.begin(), out.end(), axis) == out.end()) out.push_back(axis);
  }
  return out;
}

std::optional<std::size_t> last_true(std::size_t count, const std::function<bool(std::size_t)>& good) {
  if (count == 0 || !good(0)) return std::nullopt;
  std::size_t low = 0;
  std::size_t high = count;
  while (high - low > 1) {
    const std::size_t middle = low + (high - low) / 2;
    (good(middle) ? low : high) = middle;
  }
  return low;
}

std::optional<Point> best_point(const Bounds& bounds, const std::vector<Axis>& preference, const Probe& probe,
                                Verdict wanted) {
  Point point = smallest(bounds);
  if (!good_enough(probe(point), wanted)) return std::nullopt;
  for (const Axis axis : preference) {
    const std::vector<std::int64_t>& choices = values(bounds, axis);
    const std::optional<std::size_t> best = last_true(choices.size(), [&](std::size_t i) {
      Point trial = point;
      set(trial, axis, choices[i]);
      return good_enough(probe(trial), wanted);
    });
    set(point, axis, choices[best.value_or(0)]);
  }
  return point;
}

std::vector<Rung> ladder(const Bounds& bounds, const Probe& probe) {
  if (bounds.experts.size() == 1) return context_ladder(bounds, probe);
  std::vector<Rung> out;
  for (std::size_t i = bounds.experts.size(); i-- > 0;) {
    out.push_back(rung_at(bounds, bounds.experts[i], probe));
  }
  return out;
}

std::optional<double> highest_utilization(const Point& point, const Probe& probe) {
  // Low utilisations fail for want of KV, high ones for want of room outside the budget; what fits is one interval between
  // them.
  constexpr int kStride = 5;  // thousandths
  const auto fits = [&](int thousandths) {
    Point trial = point;
    trial.utilization = static_cast<double>(thousandths) / 1000.0;
    return probe(trial).verdict == Verdict::fits;
  };
  for (int coarse = 1000 - kStride; coarse > 0; coarse -= kStride) {
    if (!fits(coarse)) continue;
    int best = coarse;
    while (best + 1 < coarse + kStride && fits(best + 1)) ++best;
    return static_cast<double>(best) / 1000.0;
  }
  return std::nullopt;
}

}  // namespace kvfit::planner
