// Which formats a question puts on its machine, and what the gates say of each.
#pragma once

#include <string>
#include <vector>

#include "hardware/gate.h"
#include "planner/question.h"
#include "planner/settings.h"

namespace kvfit::planner {

/// Names of every quantised weight format the model's modules use, each once, in order of first mention.
std::vector<std::string> weight_formats(const models::Quantization& quantization);

/// One gate for each weight format and one for the KV cache; empty when the question carries no rules.
std::vector<hardware::Gate> gates_of(const Question& question, const Settings& settings);

}  // namespace kvfit::planner
