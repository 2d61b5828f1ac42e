// What kvfit throws when an input cannot be used: what is wrong, where, and how to mend it.
//
// A verdict ("does not fit", "refused") is never an Error; it is a value (planner/plan.h). Errors are thrown at
// depth and caught once, in cli/. Third-party exceptions become an Error at the wrapper that includes the library.
#pragma once

#include <exception>
#include <string>

namespace kvfit::profiles {

/// Why an answer could not be given. The value is the process's exit code.
enum class Fault : int {
  input = 2,        ///< usage, an unusable file, an unknown name
  environment = 4,  ///< disk full, no driver, I/O
  bug = 70,         ///< kvfit's own
  interrupted = 130,
};

/// A place in an input. Lines and columns count from 1; 0 means "not known".
struct Where {
  std::string file;  ///< as the user wrote it, or "built-in:hardware/rtx5090-24g.yaml"
  int line = 0;
  int column = 0;
  std::string key;      ///< dotted path, e.g. "text_config.num_hidden_layers"
  std::string excerpt;  ///< the line itself, for the caret; empty when not at hand
};

class Error : public std::exception {
 public:
  Error(Fault fault, std::string message, Where where = {}, std::string hint = {});

  Fault fault() const { return fault_; }
  const std::string& message() const { return message_; }  ///< lower case, no full stop, without place
  const Where& where() const { return where_; }
  const std::string& hint() const { return hint_; }  ///< how to mend it; may be empty

  /// The whole text a person sees, several lines without a trailing newline:
  ///   error: MESSAGE
  ///     --> FILE:LINE:COL  (KEY)
  ///      LINE | EXCERPT
  ///           |   ^
  ///     help: HINT
  std::string text() const;
  const char* what() const noexcept override { return what_.c_str(); }

 private:
  Fault fault_;
  std::string message_;
  Where where_;
  std::string hint_;
  std::string what_;
};

/// Shorthands for the two common cases.
[[noreturn]] void fail_input(std::string message, Where where = {}, std::string hint = {});
[[noreturn]] void fail_environment(std::string message, Where where = {}, std::string hint = {});

}  // namespace kvfit::profiles
