// The table for people and the JSON for machines.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "profiles/json.h"
#include "tests/accuracy/rows.h"
#include "tests/accuracy/score.h"

namespace kvfit::accuracy {

std::string table(std::span<const RowScore> rows, const std::vector<Rejected>& rejected);
/// Every row with what was predicted, for working on the rules.
std::string row_lines(std::span<const RowScore> rows);
/// The short table README.md carries.
std::string markdown(std::span<const RowScore> rows);
profiles::Json json(std::span<const RowScore> rows, const std::vector<Rejected>& rejected);

}  // namespace kvfit::accuracy
