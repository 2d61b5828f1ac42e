// The vLLM command line of a plan: only what was asked for or decided, in vLLM's own names, ready to paste.
//
// Flag names: vllm/engine/arg_utils.py. Defaults that the engine would choose by itself are left out unless the plan depends
// on them (max_model_len, max_num_seqs and the memory budget are always written).
#pragma once

#include <string>
#include <vector>

#include "planner/plan.h"
#include "planner/question.h"

namespace kvfit::runtime {

struct ServeFlag {
  std::string name;   ///< "--max-model-len"
  std::string value;  ///< empty for a switch
};

struct ServeCommand {
  std::string model;  ///< repository id or directory
  std::vector<ServeFlag> flags;
  std::vector<std::string> environment;  ///< "NAME=value"
};

ServeCommand serve_command(const planner::Question& question, const planner::Plan& plan);

/// Quoted for a POSIX shell where it must be, unchanged where not.
std::string shell_quoted(const std::string& word);

/// One flag a line, joined by backslashes; no trailing newline.
std::string shell_text(const ServeCommand& command);

/// As a program's argument list: {"vllm", "serve", MODEL, FLAG, VALUE, ...}.
std::vector<std::string> argument_list(const ServeCommand& command);

}  // namespace kvfit::runtime
