#include "profiles/packed.h"

#include <doctest/doctest.h>

#include <stdexcept>
#include <string>

#include "profiles/catalog.h"

namespace kvfit::profiles {
namespace {

TEST_CASE("a packed document keeps kinds, values, keys and places") {
  const Node before = parse_yaml("a: {b: [1, -2.5, true, ~, \"010\"]}\nc: \"x \\\"y\\\" ?\"\n", "p.yaml");
  const Node after = unpack(pack(before), "p.yaml");
  const Node& list = after.at("a").at("b");
  CHECK(list.list()[0].integer() == 1);
  CHECK(list.list()[1].number() == -2.5);
  CHECK(list.list()[2].boolean());
  CHECK(list.list()[3].is_null());
  CHECK(list.list()[4].string() == "010");
  CHECK(after.at("c").string() == "x \"y\" ?");
  CHECK(list.list()[1].where().key == "a.b[1]");
  CHECK(list.list()[1].where().line == before.at("a").at("b").list()[1].where().line);
  CHECK(list.list()[1].where().column == before.at("a").at("b").list()[1].where().column);
}

TEST_CASE("a packed document that is cut short is a bug, not a crash") {
  const std::string whole = pack(parse_yaml("a: [1, two, {three: 3}]\n", "p.yaml"));
  for (std::size_t length = 0; length < whole.size(); ++length) {
    CHECK_THROWS_AS(unpack(whole.substr(0, length), "p.yaml"), std::logic_error);
  }
}

TEST_CASE("every built-in profile loads and names itself") {
  const Catalog catalog;
  for (const char* kind : {"hardware", "engines"}) {
    for (const ProfileFile& file : catalog.list(kind)) {
      const Node profile = catalog.load(file);
      CHECK(profile.where().file == file.origin);
      CHECK(profile.has("as_of"));
    }
  }
}

}  // namespace
}  // namespace kvfit::profiles
