// The engine's constants, as versioned rows of profiles/engines/*.yaml: each row has since/until, conditions, values, an
// error bar and a source. Formulas in C++ ask for a table by name and get the one row that applies.
//
//   tables:
//     sampler_peak:
//       - {until: "0.17", values: {bytes_per_logit: 38}, error: {bytes_per_logit: 1}, source: "..."}
//       - {since: "0.17", when: {runner: v1}, values: {bytes_per_logit: 14}, source: "..."}
//
// `since` is inclusive, `until` exclusive. `when` asks the traits of a question (traits.h): a plain name must equal (a list
// means any of), NAME_min and NAME_max compare numbers inclusively. The first row that holds wins.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "profiles/document.h"

namespace kvfit::planner {

/// An engine version, ordered as releases are: "0.26.1rc1.dev608+g99a1" counts as before 0.26.1rc1 and after 0.26.0, and
/// "0.31-dev" as before 0.31. A commit after the dash ("+g99a1") does not take part.
struct Version {
  int major = 0, minor = 0, patch = 0;
  int stage = 0;       ///< 0 release, negative before it (rc, dev)
  int dev = 0;         ///< 0 none, negative for devN (a later N is nearer to 0)
  std::string text;    ///< as written
  bool known = false;  ///< false: could not be read ("nightly", a date), the newest rules apply and bars widen
};
Version parse_version(std::string_view text);
/// Negative, 0 or positive; a version that is not known is newer than every other.
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
  std::string as_of;                         ///< date on which the source was read or the value measured
  std::string provenance;                    ///< "exact" | "derived" | "measured" | "assumed"
  std::string place;                         ///< file:line, for explain
  double value(std::string_view key) const;  ///< throws Error when the row lacks it
  double value_or(std::string_view key, double fallback) const;
  std::int64_t count(std::string_view key) const;              ///< value() as a whole number
  double error_of(std::string_view key) const;                 ///< 0 when not given
  std::string word(std::string_view key) const;                ///< throws Error when the row lacks it
  bool is(std::string_view key, std::string_view word) const;  ///< false when the row lacks it
};

class Rules {
 public:
  Rules() = default;
  /// `profile` is one engines/*.yaml document; throws Error with place on unknown keys, missing source, bad versions.
  Rules(const profiles::Node& profile, const Version& version);

  const std::string& engine() const { return engine_; }
  const Version& version() const { return version_; }
  /// Newer than the newest build the rules were read from: they may not hold any more.
  bool beyond_newest() const { return beyond_; }
  /// First row of the table whose since/until hold and whose conditions all hold; throws Error naming the table when none.
  const Row& pick(std::string_view table, const Traits& traits) const;
  const Row* find(std::string_view table, const Traits& traits) const;  ///< nullptr when none applies
  const std::vector<Row>& all(std::string_view table) const;            ///< rows of this version, conditions not tested

 private:
  struct Condition {
    enum class Test { any_of, at_least, at_most } test = Test::any_of;
    std::string trait;
    std::vector<Trait> values;
    bool holds(const Traits& traits) const;
  };
  struct Table {
    std::vector<Row> rows;
    std::vector<std::vector<Condition>> conditions;  // of each row
  };
  static std::vector<Condition> read_conditions(const profiles::Node& when);
  void read_row(const profiles::Node& node, Table& table);

  std::string engine_;
  Version version_;
  bool beyond_ = false;
  std::map<std::string, Table, std::less<>> tables_;
};

}  // namespace kvfit::planner
