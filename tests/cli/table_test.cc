#include "cli/table.h"

#include <doctest/doctest.h>

#include <string>

namespace {

using namespace kvfit::cli;

Table sample() {
  return {.indent = 2,
          .columns = {{.title = "name", .name = true}, {.title = "bytes", .align = Align::right}, {.title = "note"}},
          .rows = {{{"weights.experts.routed"}, {"1,024"}, {"x"}}, {{"kv"}, {"7"}, {""}}}};
}

}  // namespace

TEST_CASE("numbers stand right, names left, and no line ends in blanks") {
  CHECK(render(sample(), Screen{}) ==
        "  name                    bytes  note\n"
        "  weights.experts.routed  1,024  x\n"
        "  kv                          7\n");
}

TEST_CASE("a narrow terminal shortens names, never numbers") {
  // 2 indent + 22 name + 2 + 5 bytes + 2 + 4 note = 37; 30 columns leave the name 15
  CHECK(render(sample(), Screen{.terminal = true, .width = 30}) ==
        "  name             bytes  note\n"
        "  weights….routed  1,024  x\n"
        "  kv                   7\n");
  CHECK(render(sample(), Screen{.terminal = true, .width = 20}) ==
        "  name          bytes  note\n"
        "  weight…outed  1,024  x\n"
        "  kv                7\n");
}

TEST_CASE("colour wraps the text, not the blanks around it") {
  const Table table{.indent = 0,
                    .columns = {{.title = ""}, {.title = "", .align = Align::right}},
                    .rows = {{{"OK", Tone::good}, {"1"}}, {{"TIGHT", Tone::warn}, {"20"}}}};
  CHECK(render(table, Screen{.terminal = true, .colour = true, .width = 80}) ==
        "\x1b[32mOK\x1b[0m      1\n"
        "\x1b[33mTIGHT\x1b[0m  20\n");
}

TEST_CASE("bars fill in eighths and stay within their width") {
  CHECK(bar(0.5, 4) == "██");
  CHECK(bar(1.0 / 32, 4) == "▏");
  CHECK(bar(0.9, 4) == "███▋");  // 0.9 * 32 = 28.8 -> 29 eighths = 3 full and 5
  CHECK(bar(-1, 4).empty());
  CHECK(bar(7, 2) == "██");
}
