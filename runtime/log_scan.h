// Picking numbers out of a log line without regular expressions: find a landmark, read what follows. Linear in the line, no
// recursion, so a hostile log costs no more than its length.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace kvfit::runtime {

class Scan {
 public:
  explicit Scan(std::string_view text) : rest_(text) {}

  /// Moves behind the next `landmark`; false (and nothing moves) when there is none.
  bool past(std::string_view landmark);
  /// Moves behind `prefix` when the rest starts with it.
  bool accept(std::string_view prefix);
  /// "12.5", "-0.23", "1,234", "1_000" at the start of the rest; thousands separators are dropped, a final full stop is not
  /// part.
  std::optional<double> number();
  std::optional<std::int64_t> integer();
  /// A number with its unit, "14.99 GiB", "512 MiB", "79.22GiB", as GiB; nothing moves when either is missing. "GB" counts
  /// as GiB: the engines that print it (vLLM to 0.8, SGLang) divide by 2^30.
  std::optional<double> size();
  /// GiB of one such unit at the start of the rest.
  std::optional<double> unit();
  /// Up to (not including) the next of `stops`, or the end.
  std::string_view until(std::string_view stops);
  std::string_view rest() const { return rest_; }

 private:
  std::string_view rest_;
};

/// Number behind a landmark, e.g. number_after(line, "Model loading took ").
std::optional<double> number_after(std::string_view text, std::string_view landmark);
std::optional<std::int64_t> integer_after(std::string_view text, std::string_view landmark);

/// The line without terminal colours, carriage returns and other control bytes.
std::string plain_line(std::string_view line);

/// The text inside a line that is a JSON object, as container runtimes and structured loggers write them: {"log": "..."},
/// {"level": "INFO", "message": "..."}, one in the other, behind any prefix without a brace. nullopt when it is none.
std::optional<std::string> wrapped_text(std::string_view line);

/// Which process wrote the line: "Worker_TP1", "EngineCore_DP0", "" when it does not say. Reads "(NAME pid=12)" and "(NAME)"
/// near the start, behind whatever container runtimes put before it.
std::string writer_of(std::string_view line);

}  // namespace kvfit::runtime
