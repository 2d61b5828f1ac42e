// Every number of a plan with its formula, its inputs put in, and its source.
#pragma once

#include <string>
#include <vector>

#include "cli/report.h"

namespace kvfit::cli {

struct Explanation {
  std::string key;                  ///< "kv.num_gpu_blocks", "weights.experts", "check.kv_one_request"
  std::string meaning;              ///< one line
  std::string value;                ///< "1,234" or "12.34 GiB (13,250,000,000 bytes)"
  std::string formula;              ///< in words or symbols; empty for a plain fact
  std::vector<std::string> worked;  ///< the formula with the numbers put in, further inputs
  std::string provenance;           ///< "exact" | "derived" | "measured" | "assumed" | ""
  std::string source;
};

/// In the order of the report: machine, settings, ledger, cache, checks, ladder, levers, formats, findings.
std::vector<Explanation> explanations(const Report& report);

/// Those whose key is `key` or begins with "key."; Error with the nearest key when there is none.
std::vector<Explanation> select(const std::vector<Explanation>& all, const std::string& key);

/// For people: key and value, then what is known, indented.
std::string explanation_text(const Explanation& explanation, const Screen& screen);

// The parts of explanations(), by what they explain.
std::vector<Explanation> explain_machine(const Report& report);
std::vector<Explanation> explain_ledger(const Report& report);
/// Adds formula and terms to the ledger entries that the planner sums up (profile run, CUDA graphs).
void explain_terms(const Report& report, const planner::Ledger& ledger, std::vector<Explanation>& items);
std::vector<Explanation> explain_cache(const Report& report);
std::vector<Explanation> explain_decision(const Report& report);

/// What `kvfit boot` checks of this plan, and by which rule.
std::vector<Explanation> explain_boot(const Report& report);

/// "12.34 GiB (13,250,000,000 bytes)".
std::string bytes_text(profiles::Bytes bytes);

}  // namespace kvfit::cli
