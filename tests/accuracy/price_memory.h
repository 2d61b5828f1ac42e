// From configuration alone: weights, activation, graphs, non-torch memory, available KV memory and the verdict of a start,
// each against what the row printed.
#pragma once

#include "tests/accuracy/predicted.h"
#include "tests/accuracy/question.h"
#include "tests/accuracy/score.h"

namespace kvfit::accuracy {

/// Adds scores, reasons for what is skipped, and the verdict. Throws nothing for what a row says.
void price_memory(const Library& library, const Observation& row, const Case& stated, RowScore& out);

/// The figures of the stated question alone, without the row's gaps; nullopt when the row cannot be priced.
std::optional<Predicted> predict(const Library& library, const Observation& row);

/// The start-up check needs no model: total, utilisation and free memory decide. nullopt when the row lacks one of them.
std::optional<VerdictScore> free_memory_verdict(const Observation& row);

/// The recorded end that a failing check stands for.
Outcome outcome_of_check(const std::string& id);
VerdictScore judge(planner::Verdict verdict, const std::string& binding, Outcome recorded);

}  // namespace kvfit::accuracy
