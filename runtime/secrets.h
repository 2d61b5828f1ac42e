// What must not be written into a file that people commit: keys and tokens, as flags and as environment variables.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "runtime/serving_facts.h"

namespace kvfit::runtime {

/// A variable that the facts name, one with a word such as TOKEN in its name, or one whose value holds a password in an
/// address.
bool secret_variable(const ServingFacts& facts, std::string_view name, std::string_view value);

/// A command line with "..." in place of every secret: "--api-key K", "--api_key=K", "HF_TOKEN=T".
std::vector<std::string> without_secrets(const ServingFacts& facts, std::vector<std::string> words);

}  // namespace kvfit::runtime
