// Two plans side by side: what changed in the question, the verdict, the memory and the checks. Reads the machine form of a
// plan (`kvfit plan --format json`), so a plan saved long ago compares with one made now.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/terminal.h"
#include "profiles/document.h"
#include "profiles/json.h"

namespace kvfit::cli {

/// One value under its key, of one side or both; numbers in bytes or counts have `before` and `after` set as text too.
struct Changed {
  std::string key;            ///< "max_model_len", "weights.experts", "kv_one_request"
  std::string group;          ///< "question", "serving", "memory", "kv", "checks"
  std::string before, after;  ///< as people read it; empty = absent on that side
  std::optional<std::int64_t> before_number, after_number;
  bool bytes = false;  ///< the numbers are bytes
};

struct PlanDiff {
  std::string before_name, after_name;        ///< file names
  std::string before_verdict, after_verdict;  ///< "fits", "does-not-fit" ...
  std::string before_headline, after_headline;
  std::vector<Changed> changes;  ///< in the order of the groups, then of the plans
};

/// Throws Error with place when a document is no plan, or one of another major format.
PlanDiff diff_plans(const profiles::Node& before, const std::string& before_name, const profiles::Node& after,
                    const std::string& after_name);

std::string diff_table(const PlanDiff& diff, const Screen& screen);
std::string diff_markdown(const PlanDiff& diff);
/// The envelope {schema: kvfit.diff, format_version, kvfit_version, inputs, result, findings}.
profiles::Json diff_json(const PlanDiff& diff);

}  // namespace kvfit::cli
