// Deployments that a command line names: files, or the words after "--".
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/args.h"
#include "cli/check_answer.h"
#include "cli/project_config.h"
#include "runtime/deployment_file.h"

namespace kvfit::cli {

/// The nearest kvfit.yaml, the one --config names, or none.
ProjectConfig open_project_config(const Args& args);

/// Files that a deployment names: beside it, or where they are said to be.
runtime::FileReader files_beside(const std::string& file);

/// The calls in the words of one command line. Throws Error when they do not start vLLM.
std::vector<runtime::ServeCall> command_line_calls(const std::vector<std::string>& words);

/// Throws the Error that a file holds no deployment.
[[noreturn]] void no_deployment(const std::string& file);

/// The calls of a file; "-" is stdin. Throws Error when it holds none.
std::vector<runtime::ServeCall> file_calls(const std::string& path, const runtime::FlagTable& flags);

/// The deployment of a file called `only` ("service llm", or just "llm"), or the only one there is, answered. Throws Error
/// when it is not one, or when the question has no answer.
CheckCase answer_file(const std::string& path, const Answerer& answerer, const std::optional<std::string>& only);
/// The same for the words after "--".
CheckCase answer_words(const std::vector<std::string>& words, const Answerer& answerer);

/// Serving flags describe a deployment of their own: Error when one stands beside a deployment that says its own.
void refuse_serving_flags(const Args& args);

}  // namespace kvfit::cli
