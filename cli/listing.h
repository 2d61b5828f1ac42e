// What `gpus` and `models` print: a table for people, the same as JSON or YAML for machines, and lint results.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cli/args.h"
#include "cli/console.h"
#include "cli/table.h"
#include "profiles/json.h"

namespace kvfit::cli {

struct Listing {
  std::string schema;                              ///< "kvfit.gpus"
  profiles::Json value;                            ///< `result` of the envelope
  std::string heading;                             ///< lines before the table
  std::function<std::string(const Screen&)> body;  ///< the same where they are coloured; may be empty
  Table table;
  std::string footing;  ///< lines after it
};

/// In the format and to the places that the flags name.
void deliver(const Args& args, const Console& console, const Listing& listing);

struct LintLine {
  std::string file;
  std::string text;  ///< a whole error text, or one sentence
};

/// Prints each line and the count; kYes when there are none, else kNo.
int report_lint(const Args& args, const Console& console, const std::vector<LintLine>& lines, std::size_t checked,
                const std::string& noun);

/// Whether one of `names` holds every word after `list`, in any case of letters: `kvfit models list qwen3 fp8`.
bool listed(const Args& args, const std::vector<std::string>& names);

/// Error when words after `list` left nothing of it.
void refuse_empty(const Args& args, const Listing& listing);

/// The one word after the sub-command; Error with `usage` otherwise.
const std::string& only_word(const Args& args, const std::string& usage);

/// "unknown word 'x' after kvfit gpus; did you mean ...".
[[noreturn]] void unknown_word(const Args& args, const std::vector<std::string>& known);

}  // namespace kvfit::cli
