// What a document refuses, with the whole text a person sees. Each row is one way in which files are broken or hostile.
#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "profiles/document.h"
#include "profiles/error.h"

namespace kvfit::profiles {
namespace {

using Parse = Node (*)(std::string, std::string);

struct Refused {
  std::string text;
  std::string error;  // without "error: "
};

template <typename Compute>
std::string error_of(Compute compute) {
  try {
    compute();
  } catch (const Error& error) {
    CHECK(error.fault() == Fault::input);
    return error.text();
  }
  return "no error";
}

void check_refused(Parse parse, const std::vector<Refused>& rows) {
  for (const Refused& row : rows) {
    CHECK(error_of([&] { parse(row.text, "in"); }) == "error: " + row.error);
  }
}

std::string repeated(const std::string& text, int times) {
  std::string out;
  for (int i = 0; i < times; ++i) out += text;
  return out;
}

TEST_CASE("hostile json") {
  const std::vector<Refused> rows = {
      {"",
       R"(not JSON: the text ends too early
  --> in:1:1)"},
      {"{\"a\": [1, 2",
       R"(not JSON: the text ends too early
  --> in:1:12  (a[2])
 1 | {"a": [1, 2
   |            ^)"},
      {"{\"a\": 1,}",
       R"(not JSON: unexpected '}'; expected string literal
  --> in:1:9  (a)
 1 | {"a": 1,}
   |         ^)"},
      {"{\"a\": 1} {}",
       R"(not JSON: unexpected '{'; expected end of input
  --> in:1:10
 1 | {"a": 1} {}
   |          ^)"},
      {"{\"a\": NaN}",
       R"(not JSON: invalid literal
  --> in:1:7  (a)
 1 | {"a": NaN}
   |       ^)"},
      {"{\"a\": 010}",
       R"(not JSON: unexpected number literal; expected '}'
  --> in:1:10  (a)
 1 | {"a": 010}
   |          ^)"},
      {"{a: 1}",
       R"(not JSON: invalid literal; expected string literal
  --> in:1:2
 1 | {a: 1}
   |  ^)"},
      {"{\"a\": 1 // no\n}",
       R"(not JSON: invalid literal; expected '}'
  --> in:1:9  (a)
 1 | {"a": 1 // no
   |         ^)"},
      {"{\"a\": 1e999}",
       R"(number too large: 1e999
  --> in:1:12  (a)
 1 | {"a": 1e999}
   |            ^)"},
      {"{\"a\": 18446744073709551615}",
       R"(number too large: 18446744073709551615
  --> in:1:7  (a)
 1 | {"a": 18446744073709551615}
   |       ^)"},
      {"{\"a\": \"\xff\"}",
       R"(not UTF-8 text
  --> in:1:8
 1 | {"a": "?"}
   |        ^)"},
      {"{\"a\":\n \"\x01\"}",
       R"(a control character in the text
  --> in:2:3
 2 |  "?"}
   |   ^)"},
      {"{\"a\": [0, {\"b\": 1, \"b\": 2}]}",
       R"(duplicate key 'b'
  --> in:1:20  (a[1].b)
 1 | {"a": [0, {"b": 1, "b": 2}]}
   |                    ^)"},
  };
  check_refused(parse_json, rows);
}

TEST_CASE("hostile yaml") {
  const std::vector<Refused> rows = {
      {"a: [1, 2\n",
       R"(not YAML: end of sequence flow not found
  --> in:2:1)"},
      {"a: b: c\n",
       R"(not YAML: illegal map value
  --> in:1:5
 1 | a: b: c
   |     ^)"},
      {"a:\n\tb: 1\n",
       R"(not YAML: illegal map value
  --> in:2:3
 2 |  b: 1
   |   ^
  help: YAML is indented with spaces, not with tabs)"},
      {"a: 1\nb: {c: 1, c: 2}\n",
       R"(duplicate key 'c'
  --> in:2:11
 2 | b: {c: 1, c: 2}
   |           ^)"},
      {"a: &x 1\nb: *x\n",
       R"(YAML aliases (*name) are not supported
  --> in:2:4
 2 | b: *x
   |    ^)"},
      {"a: &x {b: 1}\nc:\n  <<: *x\n",
       R"(YAML aliases (*name) are not supported
  --> in:3:7
 3 |   <<: *x
   |       ^)"},
      {"--- 1\n--- 2\n",
       R"(more than one document in one file
  --> in:2:1
 2 | --- 2
   | ^)"},
      {"? [1, 2]\n: 3\n",
       R"(a list or map stands as a key, or a bracket is not closed
  --> in:1:3
 1 | ? [1, 2]
   |   ^)"},
      {"a: \"open\n",
       R"(not YAML: a quote is not closed
  --> in:1:4
 1 | a: "open
   |    ^)"},
      {"a: 'it''s\n",
       R"(not YAML: a quote is not closed
  --> in:1:4
 1 | a: 'it''s
   |    ^)"},
      {"{a: 1",
       R"(a list or map stands as a key, or a bracket is not closed
  --> in:1:1
 1 | {a: 1
   | ^)"},
      {"a: \xc3\x28\n",
       R"(not UTF-8 text
  --> in:1:4
 1 | a: ?(
   |    ^)"},
      {std::string("a: x\0y\n", 7),
       R"(a control character in the text
  --> in:1:5
 1 | a: x?y
   |     ^)"},
  };
  check_refused(parse_yaml, rows);
}

TEST_CASE("documents nested deeper than 64 levels are refused before they are built") {
  for (const auto& [parse, text] : std::vector<std::pair<Parse, std::string>>{
           {parse_json, repeated("[", 65)},
           {parse_json, repeated("{\"a\":", 65)},
           {parse_json, repeated("[", 1'000'000)},
           {parse_yaml, repeated("[", 65) + repeated("]", 65)},
           {parse_yaml, repeated("- ", 65)},
           {parse_yaml, repeated("- ", 100'000)},
       }) {
    const std::string error = error_of([&] { parse(text, "in"); });
    CHECK(error.substr(0, error.find('\n')) == "error: nested too deeply: more than 64 levels");
  }
  CHECK(error_of([] { parse_json(repeated("[", 64) + repeated("]", 64), "in"); }) == "no error");
  CHECK(error_of([] { parse_yaml(repeated("[", 64) + repeated("]", 64), "in"); }) == "no error");
}

TEST_CASE("a value of the wrong kind says what was expected and what was found") {
  const Node root =
      parse_json(R"({"n": 1.5, "s": "x", "b": true, "l": [], "m": {}, "z": null, "big": 1e300, "neg": -3})", "in");
  const std::vector<std::pair<std::string, std::string>> rows = {
      {error_of([&] { root.at("n").integer(); }), "expected a whole number, found a number\n  --> in:1:7  (n)"},
      {error_of([&] { root.at("big").integer(); }), "expected a whole number, found a number\n  --> in:1:69  (big)"},
      {error_of([&] { root.at("s").number(); }), "expected a number, found text\n  --> in:1:17  (s)"},
      {error_of([&] { root.at("s").boolean(); }), "expected true or false, found text\n  --> in:1:17  (s)"},
      {error_of([&] { root.at("b").string(); }), "expected text, found true/false\n  --> in:1:27  (b)"},
      {error_of([&] { root.at("l").members(); }), "expected a map, found a list\n  --> in:1:38  (l)"},
      {error_of([&] { root.at("m").list(); }), "expected a list, found a map\n  --> in:1:47  (m)"},
      {error_of([&] { root.at("m").scalar_text(); }), "expected a single value, found a map\n  --> in:1:47  (m)"},
      {error_of([&] { root.at("l").find("x"); }), "expected a map, found a list\n  --> in:1:38  (l)"},
      {error_of([&] { root.at("neg").integer(0, 10); }), "-3 is out of range: 0 to 10 is allowed\n  --> in:1:83  (neg)"},
      {error_of([&] { root.at("z"); }), "'z' must have a value\n  --> in:1:56  (z)"},
      {error_of([&] { root.at("bigg"); }), "missing key 'bigg'\n  --> in:1:1"},
  };
  for (const auto& [found, expected] : rows) CHECK(found.substr(0, found.find("\n 1 |")) == "error: " + expected);
}

TEST_CASE("an empty document is null and knows its file") {
  for (const char* text : {"", "# only a comment\n", "~\n"}) {
    const Node root = parse_yaml(text, "empty.yaml");
    CHECK(root.is_null());
    CHECK(error_of([&] { root.members(); }).starts_with("error: expected a map, found nothing\n  --> empty.yaml:1:1"));
  }
}

TEST_CASE("words and numbers are read as YAML 1.2's core schema does, less octal and hexadecimal") {
  const Node root =
      parse_yaml("[010, 0x10, 0o17, 1e3, -1.5, +7, .5, ., -, yes, True, .inf, 1e999, 1_000, 99999999999999999999]", "in");
  using Kind = Node::Kind;
  const std::vector<Kind> kinds = {Kind::integer, Kind::string, Kind::string, Kind::real,   Kind::real,
                                   Kind::integer, Kind::real,   Kind::string, Kind::string, Kind::string,
                                   Kind::string,  Kind::string, Kind::string, Kind::string, Kind::real};
  REQUIRE(root.list().size() == kinds.size());
  for (std::size_t i = 0; i < kinds.size(); ++i) CHECK(root.list()[i].kind() == kinds[i]);
  CHECK(root.list()[0].integer() == 10);
  CHECK(root.list()[3].integer() == 1000);
}

TEST_CASE("reading a file names what is wrong with it") {
  const std::string data = std::string(KVFIT_TEST_DATA) + "/profiles";
  CHECK(error_of([&] { read_text_file(data + "/absent.yaml"); }) == "error: no such file\n  --> " + data + "/absent.yaml");
  CHECK(error_of([&] { read_text_file(data); }) == "error: a directory, where a file was expected\n  --> " + data);
  const std::string card = data + "/broken/hardware/card.yaml";
  CHECK(read_text_file(card) == "names: [5090]\n");
  CHECK(error_of([&] { read_text_file(card, 13); }) ==
        "error: the file is too large: at most 13 bytes are read\n  --> " + card);
}

}  // namespace
}  // namespace kvfit::profiles
