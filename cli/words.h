// The words and numbers that all reports share, so that a table, a page and an explanation say the same thing alike.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "cli/report.h"
#include "cli/terminal.h"
#include "planner/plan.h"

namespace kvfit::cli {

std::string_view verdict_word(planner::Verdict verdict);  ///< "OK", "TIGHT", "NO", "REFUSED", "UNKNOWN"
Tone verdict_tone(planner::Verdict verdict);
std::string_view section_word(planner::Section section);  ///< "before start", "weights", ... for people
std::string_view section_name(planner::Section section);  ///< "before_engine", "weights", ... for machines

std::string gib(profiles::Bytes bytes);                               ///< "12.34"; the unit stands in the title
std::string signed_gib(profiles::Bytes bytes);                        ///< "+0.41", "-0.23"
std::string with_bar(profiles::Bytes margin, profiles::Bytes error);  ///< "+0.41 ±0.30"; no bar when the error is 0
std::string count_or_dash(std::int64_t n);                            ///< grouped; "-" for 0 or less

/// "2 x GeForce RTX 5090".
std::string machine_name(const Report& report);
/// "Qwen3.6-35B-A3B-NVFP4 with 192 of 256 experts".
std::string model_name(const Report& report);
/// One sentence: what the answer is and what decides it.
std::string headline(const Report& report);
/// The verdict as the answer to what was asked: a yes that breaks --margin is a no.
planner::Verdict answer_of(const Report& report);
/// The rung of the ladder that the plan itself is; nullptr when none.
const planner::Rung* planned_rung(const planner::Plan& plan);
/// The ledger with the least left free; nullptr when there is none.
const planner::Ledger* fullest(const planner::Plan& plan);
/// Bytes of the ledger's "free" entry.
profiles::Bytes left_free(const planner::Ledger& ledger);
/// "168 to 169 tok/s".
std::string figure_text(const Published& published);

}  // namespace kvfit::cli
