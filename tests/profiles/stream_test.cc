// Files that were written for other programs: several documents, aliases, merged maps.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "profiles/document.h"
#include "profiles/error.h"

namespace {

using namespace kvfit::profiles;

std::string complaint(const std::string& text) {
  try {
    (void)parse_yaml_stream(text, "a.yaml", 1000);
  } catch (const Error& error) {
    return error.text();
  }
  return "no error";
}

}  // namespace

TEST_CASE("a stream holds several documents, and keys count from each one's root") {
  const std::vector<Node> documents = parse_yaml_stream("a: 1\n---\nb: {c: 2}\n", "a.yaml");
  REQUIRE(documents.size() == 2);
  CHECK(documents[0].at("a").integer() == 1);
  CHECK(documents[1].at("b").at("c").where().key == "b.c");
  CHECK(documents[1].at("b").at("c").where().line == 3);
}

TEST_CASE("an empty stream is one null") {
  CHECK(parse_yaml_stream("", "a.yaml").size() == 1);
  CHECK(parse_yaml_stream("# nothing\n", "a.yaml").front().is_null());
}

TEST_CASE("an alias stands for what it names, and a merged map gives way to the map's own keys") {
  const std::vector<Node> documents =
      parse_yaml_stream("base: &base {image: x, n: 1}\nuse:\n  <<: *base\n  n: 2\nlist: &l [1, 2]\nagain: *l\n", "a.yaml");
  const Node& use = documents[0].at("use");
  CHECK(use.at("image").string() == "x");
  CHECK(use.at("n").integer() == 2);
  CHECK_FALSE(use.has("<<"));
  CHECK(documents[0].at("again").list().size() == 2);
}

TEST_CASE("several maps may be merged; the first one that has a key wins") {
  const std::vector<Node> documents = parse_yaml_stream("a: &a {x: 1}\nb: &b {x: 2, y: 3}\nc:\n  <<: [*a, *b]\n", "a.yaml");
  CHECK(documents[0].at("c").at("x").integer() == 1);
  CHECK(documents[0].at("c").at("y").integer() == 3);
}

TEST_CASE("plain yes, no, on and off are booleans in a stream; quoted they are text") {
  const Node root = parse_yaml_stream("a: no\nb: On\nc: 'no'\nd: True\n", "a.yaml").front();
  CHECK(root.at("a").boolean() == false);
  CHECK(root.at("b").boolean() == true);
  CHECK(root.at("c").string() == "no");
  CHECK(root.at("d").scalar_text() == "True");
}

TEST_CASE("aliases that double and double again are stopped") {
  std::string text = "a0: &a0 [1, 1]\n";
  for (int i = 1; i < 40; ++i) {
    const std::string n = std::to_string(i);
    const std::string p = std::to_string(i - 1);
    text += "a" + n + ": &a" + n + " [*a" + p + ", *a" + p + "]\n";
  }
  CHECK(complaint(text).starts_with("error: too many values in one document\n  --> a.yaml:"));
}

TEST_CASE("what cannot be merged, and what names itself, is said") {
  CHECK(complaint("a: 1\nb:\n  <<: 3\n") ==
        "error: only a map can be merged with <<\n  --> a.yaml:3:7\n 3 |   <<: 3\n   |       ^");
  CHECK(complaint("a: &a [*a]\n").starts_with("error: an alias stands inside what it names\n"));
}
