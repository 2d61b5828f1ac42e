#include "carve/module_lists.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "profiles/error.h"

namespace kvfit::carve {
namespace {

// Of experts 0 to 3 of layer 0, 1 and 3 stay as 0 and 1.
const Renumberings& kept_1_and_3() {
  static const Renumberings out = {{"layers.0.mlp", {-1, 0, -1, 1}}};
  return out;
}

std::string edited(const std::string& text, ListOptions options = {}) {
  std::vector<JsonEdit> edits;
  std::vector<ListEdit> report;
  edit_lists(parse_json_spans(text, "config.json"), "config.json", kept_1_and_3(), options, edits, report);
  return apply_edits(text, edits);
}

}  // namespace

TEST_CASE("entries of kept experts are renumbered and those of dropped ones go, in lists and as keys") {
  CHECK(
      edited(R"({"ignore": ["lm_head", "model.layers.0.mlp.experts.0.up_proj", "model.layers.0.mlp.experts.3.up_proj"]})") ==
      R"({"ignore": ["lm_head", "model.layers.0.mlp.experts.1.up_proj"]})");
  CHECK(edited(R"({"q": {"model.layers.0.mlp.experts.1": {"bits": 4}, "model.layers.0.mlp.experts.2": {"bits": 4}}})") ==
        R"({"q": {"model.layers.0.mlp.experts.0": {"bits": 4}}})");
  CHECK(edited(R"(["model.layers.0.mlp.experts.up_proj.3.weight"])") ==
        R"(["model.layers.0.mlp.experts.up_proj.1.weight"])");
}

TEST_CASE("a list may spell the block with another wrapper") {
  CHECK(edited(R"(["model.language_model.layers.0.mlp.experts.3.up_proj"])") ==
        R"(["model.language_model.layers.0.mlp.experts.1.up_proj"])");
}

TEST_CASE("names of other blocks, shared experts and patterns for all experts stay") {
  const std::string text = R"(["model.layers.1.mlp.experts.0.up_proj", "model.layers.0.mlp.shared_experts.0.up_proj",)"
                           R"( "mtp*", "re:.*shared_expert.*", "re:.*mlp\\.experts\\.[0-9]+\\..*", "*.mlp.experts.*"])";
  CHECK(edited(text) == text);
}

TEST_CASE("a pattern that names an expert stops the carve unless told otherwise") {
  for (const std::string pattern :
       {"*experts.12*", "re:.*experts\\\\.3\\\\..*", "re:.*experts\\\\.(1|2)\\\\.up_proj", "*experts.up_proj.7.*"}) {
    const std::string text = "[\"" + pattern + "\"]";
    CAPTURE(text);
    CHECK_THROWS_AS(edited(text), profiles::Error);
    CHECK(edited(text, {.keep_patterns = true}) == text);
  }
}

}  // namespace kvfit::carve
