// The command line, read and checked against the flag table: a verb, its words, and flags that each hold a valid value.
// Flags may stand anywhere; names are never guessed from a prefix. The one place that knows Boost.Program_options.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/flags.h"
#include "profiles/units.h"

namespace kvfit::cli {

class Args {
 public:
  enum class Help { none, brief, full };

  std::string verb;                   ///< "" when none was given
  std::vector<std::string> words;     ///< what followed the verb
  std::vector<std::string> trailing;  ///< after a lone "--"
  Help help = Help::none;

  bool has(std::string_view name) const;
  std::optional<std::string> text(std::string_view name) const;
  std::vector<std::string> texts(std::string_view name) const;
  std::optional<std::int64_t> integer(std::string_view name) const;
  std::optional<std::int64_t> tokens(std::string_view name) const;  ///< -1 = auto
  std::optional<double> number(std::string_view name) const;
  std::optional<profiles::Bytes> size(std::string_view name) const;
  std::optional<bool> toggle(std::string_view name) const;  ///< false: --no-NAME
  /// Flags and values as they were written, in their order, without those named.
  std::vector<std::string> line(std::initializer_list<std::string_view> without) const;

  /// What was given of that verb's flags, in order, each as one word: "--gpu=h100-sxm", "--ep", "--no-ep". Flags of the
  /// group Output, which change no answer, are left out.
  std::vector<std::string> flag_words(std::string_view of_verb) const;

 private:
  friend class Parser;
  struct Given {
    const Flag* flag;
    std::string value;    ///< toggles: "on" or "off"
    std::string spelled;  ///< as the user wrote it: "--gpu-memory-utilization"
    bool implied;         ///< the spelling says the value: "--wsl", "--no-ep"
  };
  std::vector<Given> given_;
};

/// `words` is argv without the program. Throws Error(Fault::input) in one line with "see kvfit VERB --help".
Args parse_args(std::span<const std::string> words);

/// For verbs that take flags only: Error naming the first word that follows.
void refuse_words(const Args& args);

}  // namespace kvfit::cli
