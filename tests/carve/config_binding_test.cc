#include "carve/config_binding.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "profiles/error.h"

namespace kvfit::carve {
namespace {

std::string carved(const std::string& text, std::int64_t from, std::int64_t to, bool drop_draft = false) {
  std::vector<JsonEdit> edits;
  std::vector<ValueEdit> report;
  edit_counts(parse_json_spans(text, "config.json"), "config.json", from, to, drop_draft, edits, report);
  return apply_edits(text, edits);
}

template <class Body>
std::string message(const Body& body) {
  try {
    body();
  } catch (const profiles::Error& error) {
    return error.message();
  }
  return "";
}

}  // namespace

TEST_CASE("every key that counts experts changes, and nothing that only looks alike") {
  CHECK(carved(R"({"text_config": {"num_experts": 256, "num_experts_per_tok": 8, "hidden": 256}})", 256, 128) ==
        R"({"text_config": {"num_experts": 128, "num_experts_per_tok": 8, "hidden": 256}})");
  CHECK(carved(R"({"num_experts": 64, "num_local_experts": 64})", 64, 32) ==
        R"({"num_experts": 32, "num_local_experts": 32})");
  CHECK(carved(R"({"moe_num_experts": 64, "moe_capacity": [64, 64, 64]})", 64, 32) ==
        R"({"moe_num_experts": 32, "moe_capacity": [32, 32, 32]})");
  CHECK(carved(R"({"n_routed_experts": 256, "vision": {"num_experts": 1}})", 256, 192) ==
        R"({"n_routed_experts": 192, "vision": {"num_experts": 1}})");
}

TEST_CASE("a dropped draft head has no layers") {
  CHECK(carved(R"({"num_experts": 8, "mtp_num_hidden_layers": 1})", 8, 4, true) ==
        R"({"num_experts": 4, "mtp_num_hidden_layers": 0})");
}

TEST_CASE("a config that contradicts the tensors or itself is refused") {
  CHECK(message([] { carved(R"({"num_experts": 128})", 256, 64); }) ==
        "'/num_experts' is 128, but the checkpoint has 256 experts a layer");
  CHECK(message([] { carved(R"({"hidden": 1})", 256, 64); }) ==
        "no key of the config states the 256 experts a layer that the checkpoint has");
  CHECK(message([] { read_routing(parse_json_spans(R"({"moe_num_experts": [64, 64]})", ""), ""); }) ==
        "'/moe_num_experts' is a list: experts differ between parts of the model");
}

TEST_CASE("routing is read from the language model's part") {
  const Routing routing = read_routing(
      parse_json_spans(
          R"({"model_type": "x", "text_config": {"n_routed_experts": 256, "num_experts_per_tok": 8, "n_group": 8,
                           "topk_group": 4, "num_hidden_layers": 61, "norm_topk_prob": false}})",
          ""),
      "");
  CHECK(routing.experts == 256);
  CHECK(routing.top_k == 8);
  CHECK(routing.groups == 8);
  CHECK(routing.top_groups == 4);
  CHECK(routing.trunk_layers == 61);
  CHECK_FALSE(routing.normalised);
}

TEST_CASE("the hard rules of a count") {
  const Routing plain{.top_k = 8};
  CHECK_NOTHROW(check_keep(plain, 256, 12, false));
  CHECK_NOTHROW(check_keep(plain, 250, 250, false));  // all of them: nothing is carved
  CHECK(message([&] { check_keep(plain, 256, 8, false); }) == "8 experts are too few: the router picks 8 a token");
  CHECK(message([&] { check_keep(plain, 256, 257, false); }) == "cannot keep 257 of 256 experts");
  CHECK(message([&] { check_keep(plain, 256, 130, false); }) == "130 experts: the count must be a multiple of 4");
  CHECK_NOTHROW(check_keep(plain, 256, 130, true));
  // DeepSeek-V3: 8 groups, a token uses 4. 16 experts leave 2 a group, 8 within reach, and the router picks 8.
  const Routing grouped{.top_k = 8, .groups = 8, .top_groups = 4};
  CHECK_NOTHROW(check_keep(grouped, 256, 16, false));
  CHECK(message([&] { check_keep(grouped, 256, 132, false); }) == "132 experts do not divide into the router's 8 groups");
  const Routing one{.top_k = 4, .groups = 8, .top_groups = 4};
  CHECK(message([&] { check_keep(one, 256, 8, false); }) == "8 experts leave 1 a group; a group is scored by its best two");
  const Routing few{.top_k = 8, .groups = 8, .top_groups = 2};
  CHECK(message([&] { check_keep(few, 256, 24, false); }) ==
        "24 experts leave 6 in the 2 groups a token may use, and the router picks 8");
}

}  // namespace kvfit::carve
