// A document: YAML or JSON read into one tree whose every value knows its place, so that a reader can say
// "config.json:41:24 (num_hidden_layers)" and how to mend it. All readers of facts, configs and settings use this.
//
// Strict where the formats are lax: duplicate keys are errors, YAML 010 is the integer 10 and "010" a string, depth and
// size are bounded, and a document holds no aliases that expand without bound.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "profiles/error.h"

namespace kvfit::profiles {

/// File name, text and keys, shared by all nodes of a document.
struct Source {
  /// How a value is reached from the one that holds it.
  struct Step {
    int above = -1;         ///< step of the holder; -1 = this is the root
    std::size_t index = 0;  ///< place in a list
    std::string key;        ///< of a map's value; empty = the holder is a list
  };
  std::string file;
  std::string text;
  std::vector<Step> steps;
};

class Node {
 public:
  enum class Kind { null, boolean, integer, real, string, list, map };

  Kind kind() const { return kind_; }
  bool is_null() const { return kind_ == Kind::null; }
  bool is_map() const { return kind_ == Kind::map; }
  bool is_list() const { return kind_ == Kind::list; }
  bool is_string() const { return kind_ == Kind::string; }
  bool is_integer() const { return kind_ == Kind::integer; }
  bool is_number() const { return kind_ == Kind::integer || kind_ == Kind::real; }
  bool is_boolean() const { return kind_ == Kind::boolean; }

  /// Typed reads; each throws Error naming the place, the key, what was found and what was expected.
  std::int64_t integer() const;                                  ///< a real with no fraction (1e6) counts
  std::int64_t integer(std::int64_t lo, std::int64_t hi) const;  ///< and says the allowed range
  double number() const;
  bool boolean() const;
  const std::string& string() const;  ///< strings only
  std::string scalar_text() const;    ///< any scalar, as written
  const std::vector<Node>& list() const;
  const std::vector<std::pair<std::string, Node>>& members() const;

  /// Map access. find: nullptr when absent *or null*, so that `"x": null` means the default as in Hugging Face configs.
  const Node* find(std::string_view key) const;
  const Node& at(std::string_view key) const;  ///< throws "missing key" with the nearest spelling
  bool has(std::string_view key) const { return find(key) != nullptr; }

  Where where() const;        ///< place of the value, with its dotted key
  std::string place() const;  ///< "file:line"
  [[noreturn]] void fail(std::string message, std::string hint = {}) const;

 private:
  friend struct NodeBuilder;
  Kind kind_ = Kind::null;
  int line_ = 0;
  int column_ = 0;
  int step_ = -1;  // of source_, which spells the dotted path from the root
  bool boolean_ = false;
  std::int64_t integer_ = 0;
  double real_ = 0;
  std::string text_;
  std::vector<Node> items_;
  std::vector<std::pair<std::string, Node>> members_;
  std::shared_ptr<const Source> source_;
};

/// `file` is only a name for messages. Throw Error(Fault::input) with place.
Node parse_yaml(std::string text, std::string file);
Node parse_json(std::string text, std::string file);

/// Files that others wrote for other programs (compose, Kubernetes): several documents; aliases and "<<" put in, bounded by
/// `most` values; yes, no, on and off are booleans as YAML 1.1 has them. Same errors otherwise.
std::vector<Node> parse_yaml_stream(std::string text, std::string file, std::int64_t most = 100'000);

/// Reads a file of at most `limit` bytes whole; Error says the path and the reason (Fault::input when it does not exist).
std::string read_text_file(const std::string& path, std::int64_t limit = std::int64_t{64} << 20);

/// Reads a map's known keys and then complains about every key that nobody asked for, with did-you-mean.
class Fields {
 public:
  explicit Fields(const Node& map);  ///< throws when not a map
  const Node* find(std::string_view key);
  const Node& at(std::string_view key);
  std::int64_t integer(std::string_view key, std::int64_t fallback);
  double number(std::string_view key, double fallback);
  bool boolean(std::string_view key, bool fallback);
  std::string string(std::string_view key, const std::string& fallback);
  void ignore(std::string_view key);  ///< known, deliberately unused
  void finish() const;                ///< Error naming all unknown keys

 private:
  const Node& map_;
  std::vector<std::string> asked_;
};

}  // namespace kvfit::profiles
