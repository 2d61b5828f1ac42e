#include "hardware/gate_rules.h"

#include <doctest/doctest.h>

#include <string>

#include "profiles/error.h"

namespace kvfit::hardware {
namespace {

std::string error_of(const std::string& weights) {
  try {
    read_gate_rules(profiles::parse_yaml("id: e\nas_of: 2026-11-30\nkv_cache: []\nweights:\n" + weights, "r.yaml"));
  } catch (const profiles::Error& error) {
    return error.text();
  }
  return "no error";
}

TEST_CASE("a rule needs a source, and a reason unless it is native") {
  CHECK(error_of("  - {id: a, verdict: native, how: x}\n") ==
        "error: a rule without a source\n"
        "  --> r.yaml:5:5  (weights[0])\n"
        " 5 |   - {id: a, verdict: native, how: x}\n"
        "   |     ^\n"
        "  help: say where it was read in `source`");
  CHECK(error_of("  - {id: a, verdict: refused, source: s}\n") ==
        "error: a rule without a reason\n"
        "  --> r.yaml:5:5  (weights[0])\n"
        " 5 |   - {id: a, verdict: refused, source: s}\n"
        "   |     ^\n"
        "  help: say why in `reason`");
  CHECK(error_of("  - {id: a, verdict: native, source: s}\n") ==
        "error: a rule that runs without saying how\n"
        "  --> r.yaml:5:5  (weights[0])\n"
        " 5 |   - {id: a, verdict: native, source: s}\n"
        "   |     ^\n"
        "  help: name the kernel in `how`");
}

TEST_CASE("unknown words and keys name the nearest") {
  CHECK(error_of("  - {id: a, verdict: refsed, reason: r, source: s}\n") ==
        "error: unknown word 'refsed'\n"
        "  --> r.yaml:5:22  (weights[0].verdict)\n"
        " 5 |   - {id: a, verdict: refsed, reason: r, source: s}\n"
        "   |                      ^\n"
        "  help: did you mean 'refused'?");
  CHECK(error_of("  - {id: a, verdict: native, how: x, source: s, form: \"9.0\"}\n") ==
        "error: unknown key 'form'\n"
        "  --> r.yaml:5:55  (weights[0].form)\n"
        " 5 |   - {id: a, verdict: native, how: x, source: s, form: \"9.0\"}\n"
        "   |                                                       ^\n"
        "  help: did you mean 'from'?");
}

TEST_CASE("empty capability ranges and repeated ids are refused") {
  CHECK(error_of("  - {id: a, from: \"9.0\", below: \"9.0\", verdict: native, how: x}\n") ==
        "error: no capability lies between `from` and `below`\n"
        "  --> r.yaml:5:5  (weights[0])\n"
        " 5 |   - {id: a, from: \"9.0\", below: \"9.0\", verdict: native, how: x}\n"
        "   |     ^");
  CHECK(error_of("  - {id: a, verdict: native, how: x, source: s}\n  - {id: a, verdict: native, how: x, source: s}\n") ==
        "error: rule 'a' is there twice\n"
        "  --> r.yaml:6:10  (weights[1].id)\n"
        " 6 |   - {id: a, verdict: native, how: x, source: s}\n"
        "   |          ^");
}

}  // namespace
}  // namespace kvfit::hardware
