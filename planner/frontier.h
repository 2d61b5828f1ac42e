// The search: what is the most that fits? Every check is monotone in experts, context and sequences, so each edge of the
// frontier is found by bisection on a probe, never by trying a grid.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "planner/plan.h"
#include "profiles/units.h"

namespace kvfit::planner {

/// One configuration of what may vary.
struct Point {
  std::int64_t experts = 0;        ///< routed experts; 0 = dense
  std::int64_t max_model_len = 0;  ///< tokens
  std::int64_t max_num_seqs = 0;
  double utilization = 0;
};

struct Outcome {
  Verdict verdict = Verdict::unknown;
  std::string binding;  ///< id of the binding check
  Bytes margin, error;  ///< of the binding check
};

using Probe = std::function<Outcome(const Point&)>;

/// What the search may touch. All lists ascending and not empty.
struct Bounds {
  std::vector<std::int64_t> experts;    ///< allowed counts; {0} for a dense model
  std::vector<std::int64_t> contexts;   ///< rungs of max_model_len
  std::vector<std::int64_t> sequences;  ///< allowed max_num_seqs
  double utilization = 0;
};

enum class Axis { experts, context, sequences };

/// The axes in the order they are maximised, e.g. "experts,context,sequences"; throws Error on anything but the three names
/// once.
std::vector<Axis> parse_preference(std::string_view text);

/// Index of the largest value for which `good` holds, or nullopt when it holds for none; `good` must be monotone (true, then
/// false).
std::optional<std::size_t> last_true(std::size_t count, const std::function<bool(std::size_t)>& good);

/// The best point of the frontier under the preference, with verdict no worse than `wanted`; nullopt when nothing fits.
std::optional<Point> best_point(const Bounds& bounds, const std::vector<Axis>& preference, const Probe& probe,
                                Verdict wanted);

/// The ladder: for each expert count, largest first, the largest context (then most sequences) that fits; a rung that fits
/// nowhere is kept with its verdict at the smallest context. Dense models: one rung a context.
std::vector<Rung> ladder(const Bounds& bounds, const Probe& probe);

/// The highest utilisation (in steps of 0.001, at most 0.999) at which the point still has verdict `fits`; nullopt when none
/// does.
std::optional<double> highest_utilization(const Point& point, const Probe& probe);

}  // namespace kvfit::planner
