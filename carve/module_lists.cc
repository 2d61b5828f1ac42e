#include "carve/module_lists.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "carve/expert_names.h"
#include "models/header_scanner.h"
#include "models/quantization.h"
#include "profiles/error.h"
#include "profiles/text.h"

namespace kvfit::carve {
namespace {

using profiles::format;
using std::string_view;

constexpr std::size_t kListed = 10;

enum class Fate { untouched, renamed, removed };
struct Verdict {
  Fate fate = Fate::untouched;
  std::string name;
};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_pattern(string_view text) {
  return text.starts_with("re:") || text.find_first_of("*?[](|^$\\+{") != string_view::npos;
}

void skip_separators(string_view& text) {
  while (!text.empty() && (text.front() == '\\' || text.front() == '.')) text.remove_prefix(1);
}

bool is_word(char c) { return (c >= 'a' && c <= 'z') || c == '_'; }

// A number, or a choice of some: "12", "(1|2)", "[12]"; "[0-9]" stands for all.
bool begins_with_number(string_view text) {
  if (text.starts_with("[")) return !text.starts_with("[0-9]") && !text.starts_with("[\\d");
  if (text.starts_with("(")) text.remove_prefix(text.starts_with("(?:") ? 3 : 1);
  return !text.empty() && is_digit(text.front());
}

class ListEditor {
 public:
  ListEditor(const std::string& file, const Renumberings& renumberings, const ListOptions& options,
             std::vector<JsonEdit>& edits, std::vector<ListEdit>& report)
      : file_(file), renumberings_(renumberings), options_(options), edits_(edits), report_(report) {}

  void walk(const JsonSpan& span, const std::string& pointer) {
    std::vector<bool> removed;
    if (span.kind == JsonSpan::Kind::object) {
      for (const JsonMember& member : span.members) {
        const std::string below = pointer + "/" + member.key;
        const bool gone = edit(member.key, member.begin, member.key_end, below);
        removed.push_back(gone);
        if (!gone) walk(member.value, below);
      }
    } else if (span.kind == JsonSpan::Kind::array) {
      for (std::size_t i = 0; i < span.items.size(); ++i) {
        const JsonSpan& item = span.items[i];
        const std::string below = format("{}/{}", pointer, i);
        const bool text = item.kind == JsonSpan::Kind::string;
        removed.push_back(text && edit(item.text, item.begin, item.end, below));
        if (!text) walk(item, below);
      }
    }
    remove_children(span, removed, edits_);
  }

  void finish() const {
    if (count_ == 0 || options_.keep_patterns) return;
    profiles::fail_input(format("{} by number and cannot be renumbered:\n    {}",
                                count_ == 1 ? "a pattern names an expert" : format("{} patterns name an expert", count_),
                                profiles::join(patterns_, "\n    ")),
                         {.file = file_}, "--keep-patterns leaves them as they are");
  }

 private:
  // True when the entry goes.
  bool edit(const std::string& text, std::size_t begin, std::size_t end, const std::string& pointer) {
    if (is_pattern(text)) {
      if (names_an_expert(text) && count_++ < kListed) patterns_.push_back(models::printable(text));
      return false;
    }
    const Verdict verdict = decide(text);
    if (verdict.fate == Fate::untouched) return false;
    report_.push_back({file_.substr(file_.rfind('/') + 1), pointer, text, verdict.name});
    if (verdict.fate == Fate::removed) return true;
    edits_.push_back({begin, end, json_quoted(verdict.name)});
    return false;
  }

  Verdict decide(const std::string& text) const {
    // The module itself ("…experts.7") is read as if it had a tensor.
    const std::string probe = text + ".weight";
    const std::optional<ExpertName> name = parse_expert_name(probe);
    if (!name) return {};
    const auto found = renumberings_.find(models::short_name(name->prefix));
    if (found == renumberings_.end()) return {};
    const Renumbering& numbers = found->second;
    const std::size_t expert = static_cast<std::size_t>(name->expert);
    if (expert >= numbers.size() || numbers[expert] < 0) return {Fate::removed, ""};
    if (numbers[expert] == name->expert) return {};
    return {Fate::renamed,
            text.substr(0, name->digits_begin) + std::to_string(numbers[expert]) + text.substr(name->digits_end)};
  }

  const std::string& file_;
  const Renumberings& renumberings_;
  const ListOptions& options_;
  std::vector<JsonEdit>& edits_;
  std::vector<ListEdit>& report_;
  std::vector<std::string> patterns_;
  std::size_t count_ = 0;
};

}  // namespace

bool names_an_expert(string_view pattern) {
  for (std::size_t at = pattern.find("experts"); at != string_view::npos; at = pattern.find("experts", at)) {
    const bool shared = at >= 7 && pattern.substr(at - 7, 7) == "shared_";
    at += 7;
    string_view rest = pattern.substr(at);
    skip_separators(rest);
    if (shared || rest.size() == pattern.size() - at) continue;
    if (begins_with_number(rest)) return true;
    const string_view from_word = rest;
    while (!rest.empty() && (is_word(rest.front()) || (is_digit(rest.front()) && rest.size() < from_word.size()))) {
      rest.remove_prefix(1);
    }
    const std::size_t before = rest.size();
    skip_separators(rest);
    if (rest.size() < before && begins_with_number(rest)) return true;
  }
  return false;
}

void edit_lists(const JsonSpan& root, const std::string& file, const Renumberings& renumberings, const ListOptions& options,
                std::vector<JsonEdit>& edits, std::vector<ListEdit>& report) {
  ListEditor editor(file, renumberings, options, edits, report);
  editor.walk(root, "");
  editor.finish();
}

}  // namespace kvfit::carve
