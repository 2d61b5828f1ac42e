// The flags an engine's argument parser knows, by release: profiles/flags/ENGINE.yaml.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "planner/rules.h"
#include "profiles/document.h"

namespace kvfit::runtime {

enum class FlagKind { text, count, number, tokens, tokens_or_auto, json, list, optional_text, on, on_off };

struct EngineFlag {
  std::string name;  ///< long name without dashes
  FlagKind kind = FlagKind::text;
  std::string letter;        ///< "-tp"; empty = none
  std::string since, until;  ///< first release that knows it, first that does not; empty = no bound
  bool priced = false;       ///< kvfit's plan depends on it
  std::string unpriced;      ///< it changes memory in a way that is not computed: what
  std::string instead;       ///< what took its place
};

/// A flag as somebody spelled it.
struct FoundFlag {
  const EngineFlag* flag = nullptr;  ///< nullptr: not known to any release
  bool off = false;                  ///< --no-NAME
  std::string inner;                 ///< "cudagraph_mode" of --compilation-config.cudagraph_mode
  bool in_version = true;            ///< this release knows it
};

class FlagTable {
 public:
  FlagTable() = default;
  /// Throws Error with place on unknown keys, kinds and releases, and on a name that occurs twice.
  explicit FlagTable(const profiles::Node& profile);

  /// `spelled` with its dashes and without "=value": "--max_model_len", "-tp", "--no-enable-prefix-caching",
  /// "--compilation-config.mode". Underscores are dashes; an unambiguous beginning of a long name will do, as in argparse.
  FoundFlag find(std::string_view spelled, const planner::Version& version) const;
  const EngineFlag* named(std::string_view name) const;
  const std::vector<EngineFlag>& all() const { return flags_; }

  /// Whether a flag that this table lacks is one that the release refuses: its parser, or one before and one after it, was
  /// read whole.
  bool complete_for(const planner::Version& version) const;

  /// `key: false` of a configuration file leaves no trace in this release.
  bool drops_false(const planner::Version& version) const;

  /// "did you mean '--max-num-seqs'?" or "".
  std::string suggestion(std::string_view spelled, const planner::Version& version) const;

 private:
  const EngineFlag* by_beginning(std::string_view name, const planner::Version& version) const;

  std::vector<EngineFlag> flags_;  ///< sorted by name
  std::string false_is_dropped_until_;
  std::vector<planner::Version> parsers_;  ///< oldest first
};

/// Whether a flag exists in a release; a release that is not known counts as the newest.
bool exists_in(const EngineFlag& flag, const planner::Version& version);

}  // namespace kvfit::runtime
