#include "cli/terminal.h"

#include <doctest/doctest.h>

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace {

using namespace kvfit::cli;

Environment with(std::map<std::string, std::string, std::less<>> values) {
  return [values](std::string_view name) -> std::optional<std::string> {
    const auto it = values.find(name);
    return it == values.end() ? std::nullopt : std::optional(it->second);
  };
}

bool colour(std::map<std::string, std::string, std::less<>> values, bool terminal,
            ColourChoice choice = ColourChoice::automatic) {
  return decide_screen(choice, {.terminal = terminal}, with(std::move(values))).colour;
}

}  // namespace

TEST_CASE("colour follows the terminal when nobody speaks") {
  CHECK(colour({}, true));
  CHECK_FALSE(colour({}, false));
}

TEST_CASE("--color outranks every variable") {
  CHECK(colour({{"NO_COLOR", "1"}}, false, ColourChoice::always));
  CHECK_FALSE(colour({{"FORCE_COLOR", "1"}}, true, ColourChoice::never));
}

TEST_CASE("FORCE_COLOR outranks NO_COLOR, NO_COLOR outranks CLICOLOR_FORCE") {
  CHECK(colour({{"FORCE_COLOR", "1"}, {"NO_COLOR", "1"}}, false));
  CHECK_FALSE(colour({{"FORCE_COLOR", "0"}, {"NO_COLOR", "1"}}, true));
  CHECK_FALSE(colour({{"NO_COLOR", "0"}, {"CLICOLOR_FORCE", "1"}}, true));
}

TEST_CASE("an empty NO_COLOR is no word at all") { CHECK(colour({{"NO_COLOR", ""}}, true)); }

TEST_CASE("CLICOLOR_FORCE outranks CLICOLOR, CLICOLOR=0 outranks the terminal, and so does TERM=dumb") {
  CHECK(colour({{"CLICOLOR_FORCE", "1"}, {"CLICOLOR", "0"}}, false));
  CHECK_FALSE(colour({{"CLICOLOR", "0"}}, true));
  CHECK_FALSE(colour({{"TERM", "dumb"}}, true));
  CHECK(colour({{"CLICOLOR", "1"}, {"TERM", "xterm"}}, true));
}

TEST_CASE("width: COLUMNS, else the terminal, else 80; none when nobody watches") {
  const auto width = [](std::map<std::string, std::string, std::less<>> values, StreamFacts facts) {
    return decide_screen(ColourChoice::automatic, facts, with(std::move(values))).width;
  };
  CHECK(width({{"COLUMNS", "100"}}, {.terminal = true, .columns = 120}) == 100);
  CHECK(width({}, {.terminal = true, .columns = 120}) == 120);
  CHECK(width({}, {.terminal = true}) == 80);
  CHECK(width({{"COLUMNS", "wide"}}, {.terminal = true}) == 80);
  CHECK(width({{"COLUMNS", "3"}}, {.terminal = true}) == 20);
  CHECK(width({{"COLUMNS", "100"}}, {.terminal = false}) == 0);
}

TEST_CASE("display width counts columns, not bytes") {
  CHECK(display_width("kvfit") == 5);
  CHECK(display_width("±0.30") == 5);
  CHECK(display_width("模型") == 4);      // two wide characters
  CHECK(display_width("e\u0301") == 1);   // e and a combining acute accent
  CHECK(display_width("\xff\xfe") == 2);  // broken bytes stand for themselves
}

TEST_CASE("control characters of a name never reach the terminal") {
  CHECK(printable("a\x1b[31mb\n") == "a?[31mb?");
  CHECK(printable("Qwen \xc2\x9b 模型") == "Qwen ? 模型");  // U+009B starts an escape sequence too
}

TEST_CASE("eliding keeps both ends") {
  CHECK(elide_middle("qwen3.6-35b-a3b-nvfp4", 11) == "qwen3…nvfp4");
  CHECK(elide_middle("short", 11) == "short");
  CHECK(elide_middle("模型模型模型", 7) == "模…型");  // 3 columns of head hold one wide character, 3 of tail one
}

TEST_CASE("wrapping breaks at blanks only") {
  CHECK(wrap("one two three", 9, 2) == "one two\n  three");  // 2 columns stand before it
  CHECK(wrap("one two three", 8, 2) == "one\n  two\n  three");
  CHECK(wrap("one two three", 0, 2) == "one two three");
  CHECK(wrap("unbreakable", 4, 0) == "unbreakable");
}
