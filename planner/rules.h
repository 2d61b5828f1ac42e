// The engine's constants, as versioned rows of profiles/engines/*.yaml: each row has since/until, conditions, values, an
// error bar and a source. Formulas in C++ ask for a table by name and get the one row that applies.
//
//   tables:
//     sampler_peak:
//       - {until: "0.17", values: {bytes_per_logit: 38}, error: {bytes_per_logit: 1}, source: "..."}
//       - {since: "0.17", when: {runner: v1}, values: {bytes_per_logit: 14}, source: "..."}
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "profiles/document.h"

namespace kvfit::planner {

/// An engine version, ordered as releases are: "0.26.1rc1.dev608+g99a1" counts as before 0.26.1 and after 0.26.0.
struct Version {
  int major = 0, minor = 0, patch = 0;
  int stage = 0;  ///< 0 release, negative before it (rc, dev)
  int dev = 0;
  std::string text;    ///< as written
  bool known = false;  ///< false: could not be read, the newest rules apply and bars widen
};
Version parse_version(std::string_view text);
int compare(const Version& a, const Version& b);

/// What a row's `when:` may ask about: built once from a Question (traits.h). Values are words or numbers; the keys ending
/// in _min / _max in a `when` compare numbers, others must equal (a list means any of).
using Trait = std::variant<std::string, double>;
using Traits = std::map<std::string, Trait, std::less<>>;

struct Row {
  std::map<std::string, double, std::less<>> values;
  std::map<std::string, double, std::less<>> error;  ///< half width of the 90 % bar, in the value's unit
  std::map<std::string, std::string, std::less<>> words;
  std::string source;
  std::string provenance;                    ///< "exact" | "derived" | "measured" | "assumed"
  std::string place;                         ///< file:line, for explain
  double value(std::string_view key) const;  ///< throws Error(bug-like input) when the row lacks it
  double value_or(std::string_view key, double fallback) const;
  double error_of(std::string_view key) const;  ///< 0 when not given
  std::string word(std::string_view key) const;
};

class Rules {
 public:
  Rules() = default;
  /// `profile` is one engines/*.yaml document; throws Error with place on unknown keys, missing source, bad versions.
  Rules(const profiles::Node& profile, const Version& version);

  const std::string& engine() const { return engine_; }
  const Version& version() const { return version_; }
  /// First row of the table whose since/until hold and whose conditions all hold; throws Error naming the table when none.
  const Row& pick(std::string_view table, const Traits& traits) const;
  const Row* find(std::string_view table, const Traits& traits) const;  ///< nullptr when none applies
  const std::vector<Row>& all(std::string_view table) const;            ///< rows of this version, conditions not tested

 private:
  struct Conditional;
  std::string engine_;
  Version version_;
  std::map<std::string, std::vector<Row>, std::less<>> tables_;
  std::map<std::string, std::vector<std::vector<std::pair<std::string, std::vector<Trait>>>>, std::less<>> conditions_;
};

}  // namespace kvfit::planner
