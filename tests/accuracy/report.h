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
profiles::Json json(std::span<const RowScore> rows, const std::vector<Rejected>& rejected);

}  // namespace kvfit::accuracy
