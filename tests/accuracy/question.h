// A row as the planner's question, as far as the row states it; what it leaves open stays the engine's default, and the
// choices that could stand there instead are listed so that they can be solved for.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "planner/question.h"
#include "tests/accuracy/library.h"
#include "tests/accuracy/observation.h"
#include "tests/accuracy/statement.h"

namespace kvfit::accuracy {

struct Case {
  planner::Question question;
  bool exact_checkpoint = false;  ///< the catalogue has the very checkpoint
  bool recipe_known = false;      ///< stored formats are known module by module
  bool weights_priced = true;     ///< false: the stored format's bytes are not known
  bool format_stated = true;      ///< the row names a published checkpoint or a format
  bool machine_known = false;     ///< the row names or prints the card
  bool total_printed = false;
  std::string version;  ///< whose rules are used
  /// Of an earlier release, where neither the row nor the form of its log dates the engine: the answer may hang on it.
  std::shared_ptr<const planner::Rules> other_rules;
  Statement statement;
  std::vector<std::string> assumed;
};

/// Throws profiles::Error with the reason when the row cannot be asked: no model, no catalogue entry ...
Case case_of(const Library& library, const Observation& row, const std::optional<Machine>& machine);

/// One value an unstated argument may have had.
struct Choice {
  std::string text;  ///< "KV dtype = fp8"
  std::function<void(planner::Question&)> apply;
};
/// Unstated arguments, each with its allowed values, likeliest first; the engine's default is not among them.
std::vector<std::vector<Choice>> open_choices(const Library& library, const Observation& row, const Case& stated);

/// The release a row without a version was probably served by, from the form of what it prints.
std::string version_by_form(const Observation& row);
/// Before 0.8: the engine that is now called V0.
bool first_engine(const std::string& version);

}  // namespace kvfit::accuracy
