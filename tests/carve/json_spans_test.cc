#include "carve/json_spans.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "profiles/error.h"

namespace kvfit::carve {
namespace {

std::string without(const std::string& text, const std::vector<bool>& removed) {
  std::vector<JsonEdit> edits;
  remove_children(parse_json_spans(text, "a.json"), removed, edits);
  return apply_edits(text, edits);
}

std::string message(const std::string& text) {
  try {
    parse_json_spans(text, "a.json");
  } catch (const profiles::Error& error) {
    return error.message();
  }
  return "";
}

}  // namespace

TEST_CASE("an edit changes its own bytes and no other") {
  const std::string text = "{\n  \"eps\": 1e-06,\n\t\"num_experts\" :256 ,\"x\":[1.50, true]\n}\n";
  const JsonSpan root = parse_json_spans(text, "a.json");
  const JsonSpan* const value = root.find("num_experts");
  REQUIRE(value);
  CHECK(value->text == "256");
  CHECK(apply_edits(text, {{value->begin, value->end, "128"}}) ==
        "{\n  \"eps\": 1e-06,\n\t\"num_experts\" :128 ,\"x\":[1.50, true]\n}\n");
}

TEST_CASE("removed children take one comma with them, wherever they stand") {
  CHECK(without("[1, 2, 3]", {true, false, false}) == "[2, 3]");
  CHECK(without("[1, 2, 3]", {false, true, false}) == "[1, 3]");
  CHECK(without("[1, 2, 3]", {false, false, true}) == "[1, 2]");
  CHECK(without("[1, 2, 3]", {true, false, true}) == "[2]");
  CHECK(without("[1, 2, 3]", {true, true, false}) == "[3]");
  CHECK(without("[1, 2, 3]", {true, true, true}) == "[]");
  CHECK(without("{\"a\": 1, \"b\": {\"c\": 2}}", {true, false}) == "{\"b\": {\"c\": 2}}");
  CHECK(without("{\"a\": 1, \"b\": {\"c\": 2}}", {false, true}) == "{\"a\": 1}");
}

TEST_CASE("strings are decoded for reading and escaped no more than needed for writing") {
  const JsonSpan root = parse_json_spans(R"({"a\u0041\n": "\"\\/\u00e9"})", "a.json");
  CHECK(root.members.front().key == "aA\n");
  CHECK(root.members.front().value.text == "\"\\/\u00e9");
  CHECK(json_quoted("\"\\/\u00e9\n\x01") == "\"\\\"\\\\/\u00e9\\n\\u0001\"");
}

TEST_CASE("what is no JSON is refused with the byte") {
  CHECK(message("{\"a\": }") == "this is not valid JSON: expected a value at byte 6");
  CHECK(message("{\"a\": 1} x") == "this is not valid JSON: expected the end of the file at byte 9");
  CHECK(message("[1 2]") == "this is not valid JSON: expected ',' or ']' at byte 3");
  CHECK(message("\"abc") == "this is not valid JSON: expected the end of a string at byte 4");
  CHECK(message("\"abc\\") == "this is not valid JSON: expected the end of a string at byte 5");
  CHECK(message("{\"a\": 1, \"a\": 2}") == "the key 'a' appears twice in one object");
  CHECK(message("\"\xff\"") == "the file is not UTF-8 at byte 1");
  CHECK(message(std::string(100, '[')) == "this is not valid JSON: expected fewer nested values at byte 65");
}

}  // namespace kvfit::carve
