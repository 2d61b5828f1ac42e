#include "profiles/catalog.h"

#include <doctest/doctest.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "profiles/document.h"
#include "profiles/error.h"

namespace kvfit::profiles {
namespace {

const std::string kData = std::string(KVFIT_TEST_DATA) + "/profiles/";

std::string error_of_resolving(const Catalog& catalog, std::string_view kind, std::string_view name) {
  try {
    catalog.resolve(kind, name);
  } catch (const Error& error) {
    return error.text();
  }
  return "no error";
}

std::string error_of_opening(const std::string& directory) {
  try {
    Catalog({directory});
  } catch (const Error& error) {
    return error.text();
  }
  return "no error";
}

TEST_CASE("every built-in profile parses, and is listed in order of its id") {
  const Catalog catalog;
  for (const char* kind : {"hardware", "models", "engines"}) {
    const std::vector<ProfileFile> files = catalog.list(kind);
    for (std::size_t i = 0; i < files.size(); ++i) {
      CHECK(catalog.load(files[i]).is_map());
      if (i > 0) CHECK(files[i - 1].id < files[i].id);
    }
  }
}

TEST_CASE("a directory adds profiles") {
  const Catalog catalog({kData + "first"});
  const ProfileFile* mine = catalog.find("hardware", "My-Card");
  REQUIRE(mine != nullptr);
  CHECK(catalog.load(*mine).at("sm_count").integer() == 10);
  CHECK(mine->origin == kData + "first/hardware/My-Card.yaml");
  CHECK(catalog.find("models", "My-Card") == nullptr);
}

TEST_CASE("ids and names resolve whatever their case") {
  const Catalog catalog({kData + "first"});
  CHECK(catalog.resolve("hardware", "my-card").id == "My-Card");
  CHECK(catalog.resolve("hardware", "MY-CARD").id == "My-Card");
  CHECK(catalog.resolve("hardware", "nvidia my card").id == "My-Card");
  CHECK(catalog.resolve("hardware", "mc1").id == "My-Card");
}

TEST_CASE("of two directories with one id the later holds, whole") {
  const Catalog catalog({kData + "first", kData + "second"});
  const ProfileFile* mine = catalog.find("hardware", "My-Card");
  REQUIRE(mine != nullptr);
  CHECK(catalog.load(*mine).at("sm_count").integer() == 20);
  CHECK(mine->names == std::vector<std::string>{"mc2"});
  CHECK(error_of_resolving(catalog, "hardware", "My-Curd") ==
        "error: unknown GPU 'My-Curd'\n  help: did you mean 'My-Card'? `kvfit gpus list` shows all");
}

TEST_CASE("an unknown name says what was looked for") {
  const Catalog catalog;
  CHECK(error_of_resolving(catalog, "engines", "no such engine at all") ==
        "error: unknown engine 'no such engine at all'\n  help: known: vllm");
  CHECK(error_of_resolving(catalog, "models", "no such model at all") ==
        "error: unknown model 'no such model at all'\n  help: `kvfit models list` shows all; a directory, a config.json or "
        "a YAML spec will do too");
}

TEST_CASE("a broken profile or a missing directory is reported when the catalogue is opened") {
  CHECK(error_of_opening(kData + "absent") ==
        "error: no such profile directory\n  --> " + kData +
            "absent\n  help: a profile directory holds hardware/, models/ or engines/ with "
            ".yaml files");
  CHECK(error_of_opening(kData + "broken") ==
        "error: expected text, found a whole number\n  --> " + kData +
            "broken/hardware/card.yaml:1:9  (names[0])\n 1 | names: [5090]\n   |         ^");
}

}  // namespace
}  // namespace kvfit::profiles
