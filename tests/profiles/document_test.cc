#include "profiles/document.h"

#include <doctest/doctest.h>

#include <string>

namespace kvfit::profiles {
namespace {

std::string error_of(Node (*parse)(std::string, std::string), const std::string& text) {
  try {
    parse(text, "in");
  } catch (const Error& error) {
    return error.text();
  }
  return "no error";
}

TEST_CASE("json values know their line, column and dotted key") {
  const Node root = parse_json("{\n  \"a\": {\"bc\": [1, true, \"x\"]},\n  \"n\": -12,\n  \"f\": 1e6}", "c.json");
  const Node& list = root.at("a").at("bc");
  CHECK(list.where().line == 2);
  CHECK(list.where().column == 15);
  CHECK(list.list()[0].where().key == "a.bc[0]");
  CHECK(list.list()[0].where().column == 16);
  CHECK(list.list()[1].where().column == 19);
  CHECK(list.list()[2].where().column == 25);
  CHECK(root.at("n").integer() == -12);
  CHECK(root.at("n").where().line == 3);
  CHECK(root.at("n").where().column == 8);
  CHECK(root.at("f").integer() == 1000000);
}

TEST_CASE("duplicate json keys are refused where they stand") {
  CHECK(error_of(parse_json, "{\"a\": 1,\n \"a\": 2}") ==
        "error: duplicate key 'a'\n  --> in:2:2  (a)\n 2 |  \"a\": 2}\n   |  ^");
}

TEST_CASE("yaml integers are decimal, quoted scalars are text") {
  const Node root = parse_yaml("a: 010\nb: \"010\"\nc: 1.5\nd: ~\ne: .nan\n", "p.yaml");
  CHECK(root.at("a").integer() == 10);
  CHECK(root.at("b").string() == "010");
  CHECK(root.at("c").number() == 1.5);
  CHECK(root.find("d") == nullptr);
  CHECK(root.at("e").is_string());
}

TEST_CASE("duplicate yaml keys and aliases are refused") {
  CHECK(error_of(parse_yaml, "a: 1\na: 2\n") == "error: duplicate key 'a'\n  --> in:2:1\n 2 | a: 2\n   | ^");
  CHECK(error_of(parse_yaml, "a: &x [1]\nb: *x\n") ==
        "error: YAML aliases (*name) are not supported\n  --> in:2:4\n 2 | b: *x\n   |    ^");
}

TEST_CASE("an unknown key names the nearest known one") {
  const Node root = parse_yaml("sm_cout: 5\n", "g.yaml");
  Fields fields(root);
  CHECK(fields.find("sm_count") == nullptr);
  try {
    fields.finish();
    FAIL("no error");
  } catch (const Error& error) {
    CHECK(error.text() ==
          "error: unknown key 'sm_cout'\n  --> g.yaml:1:10  (sm_cout)\n 1 | sm_cout: 5\n   |          ^\n"
          "  help: did you mean 'sm_count'?");
  }
}

}  // namespace
}  // namespace kvfit::profiles
