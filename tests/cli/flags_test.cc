#include "cli/flags.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "cli/args.h"
#include "cli/help.h"
#include "cli/terminal.h"
#include "profiles/catalog.h"

namespace {

using namespace kvfit::cli;

int widest_line(const std::string& text) {
  int widest = 0;
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t end = rest.find('\n');
    widest = std::max(widest, display_width(rest.substr(0, end)));
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  }
  return widest;
}

}  // namespace

TEST_CASE("every flag has a verb that exists, a group, a short text without full stop, and a value name when it takes one") {
  for (const Flag& flag : flags()) {
    CAPTURE(flag.name);
    CHECK_FALSE(flag.group.empty());
    CHECK_FALSE(flag.help.empty());
    CHECK(flag.help.back() != '.');
    CHECK((flag.type == FlagType::toggle) == flag.value.empty());
    CHECK((flag.type == FlagType::choice) == !flag.choices.empty());
    if (flag.type == FlagType::integer || flag.type == FlagType::number) CHECK(flag.low < flag.high);
    bool used = false;
    for (const Verb& verb : verbs()) used = used || belongs(flag, verb.name);
    CHECK(used);
  }
}

TEST_CASE("no verb has two flags of one name or letter") {
  for (const Verb& verb : verbs()) {
    std::set<std::string> seen;
    for (const Flag& flag : flags()) {
      if (!belongs(flag, verb.name)) continue;
      CAPTURE(flag.name);
      CHECK(seen.insert("--" + std::string(flag.name)).second);
      if (flag.letter != 0) CHECK(seen.insert(std::string("-") + flag.letter).second);
    }
  }
}

TEST_CASE("help stays within 79 columns") {
  CHECK(widest_line(overview()) <= 79);
  for (const Verb& verb : verbs()) {
    CAPTURE(verb.name);
    CHECK(widest_line(brief_help(verb.name)) <= 79);
    CHECK(widest_line(full_help(verb.name)) <= 79);
  }
}

TEST_CASE("full help begins with examples and names every flag of its verb; brief help the common ones") {
  const std::string full = full_help("plan");
  const std::string brief = brief_help("plan");
  CHECK(full.find("Examples") < full.find("Machine"));
  for (const Flag& flag : flags()) {
    if (!belongs(flag, "plan")) continue;
    CAPTURE(flag.name);
    CHECK(full.find("--" + std::string(flag.name)) != std::string::npos);
    CHECK((brief.find("--" + std::string(flag.name)) != std::string::npos) >= flag.common);
  }
}

TEST_CASE("every example can be typed: its flags parse, its GPU and its model are known") {
  const kvfit::profiles::Catalog catalog;
  std::string examples = overview();
  for (const Verb& verb : verbs()) examples += std::string(verb.examples) + "\n";
  std::istringstream lines(examples);
  int tried = 0;
  for (std::string line; std::getline(lines, line);) {
    const std::size_t start = line.find("kvfit ");
    if (start == std::string::npos || line.find_first_not_of(' ') != start || line.find("COMMAND") != std::string::npos)
      continue;
    CAPTURE(line);
    std::istringstream text(line.substr(start + 6, line.find(" >") - start - 6));
    std::vector<std::string> words;
    for (std::string word; text >> word;) words.push_back(word);
    const Args args = parse_args(words);
    CHECK(find_verb(args.verb) != nullptr);
    if (const std::optional<std::string> gpu = args.text("gpu")) CHECK_NOTHROW(catalog.resolve("hardware", *gpu));
    if (args.verb == "models" && args.words.size() == 2 && args.words[0] == "show") {
      CHECK_NOTHROW(catalog.resolve("models", args.words[1]));
    }
    ++tried;
  }
  CHECK(tried >= 15);
}
