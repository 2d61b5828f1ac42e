// What a row leaves out could have been otherwise: each gap with the questions that are as possible as the one asked. A
// figure's bar must reach the answers to those, or it would claim to know what nobody wrote down.
#pragma once

#include <vector>

#include "tests/accuracy/question.h"

namespace kvfit::accuracy {

/// One gap a group; within a group only one question can be the true one: the release where none is stated, the batch and
/// the sequences on machines with unified memory, the tower where a table only says that no images were served.
std::vector<std::vector<planner::Question>> open_questions(const Library& library, const Observation& row,
                                                           const Case& stated);

/// The same start with its vision tower loaded, where a table only says that no images were served.
std::optional<planner::Question> tower_question(const Observation& row, const planner::Question& asked);

}  // namespace kvfit::accuracy
