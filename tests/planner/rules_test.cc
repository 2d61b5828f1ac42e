#include "planner/rules.h"

#include <doctest/doctest.h>

#include <functional>
#include <string>

#include "profiles/catalog.h"
#include "profiles/error.h"

namespace kvfit::planner {
namespace {

using profiles::parse_yaml;

bool before(std::string_view a, std::string_view b) { return compare(parse_version(a), parse_version(b)) < 0; }

TEST_CASE("versions are ordered as the engine releases them") {
  CHECK(before("0.26.0", "0.26.1rc1.dev608+g99a1"));
  CHECK(before("0.26.1rc1.dev30", "0.26.1rc1.dev608+g99a1"));
  CHECK(before("0.26.1rc1.dev608+g99a1", "0.26.1rc1"));
  CHECK(before("0.26.1rc1", "0.26.1rc2"));
  CHECK(before("0.26.1rc2", "0.26.1"));
  CHECK(before("0.9.2", "0.10"));
  CHECK(before("0.31-dev", "0.31"));
  CHECK(before("0.30.9", "0.31-dev"));
  CHECK(before("v0.24", "v0.24.1"));
  CHECK(compare(parse_version("v0.24"), parse_version("0.24.0")) == 0);
  CHECK(compare(parse_version("0.28.0+cu129"), parse_version("0.28")) == 0);
  CHECK(compare(parse_version("0.17.0-cu130"), parse_version("0.17")) == 0);
  CHECK(compare(parse_version("~0.9.x (V1, June 2025)"), parse_version("0.9")) == 0);
  CHECK(compare(parse_version("0.8.5.post1"), parse_version("0.8.5")) == 0);
}

TEST_CASE("what names no release is unknown, and newer than every release") {
  for (const std::string_view text : {"nightly", "main", "", "2026-09 build", "V1, June 2025", "nightly 1acd67a7", "latest",
                                      "0.1.dev12+gabc", "26.06", "5", "0.24abc"}) {
    CAPTURE(text);
    CHECK(!parse_version(text).known);
    CHECK(parse_version(text).text == text);
    CHECK(before("0.99", text));
  }
  CHECK(compare(parse_version("nightly"), parse_version("main")) == 0);
}

Rules rules(const std::string& tables, const std::string& version) {
  return Rules(parse_yaml("engine: vllm\ntables:\n" + tables, "e.yaml"), parse_version(version));
}

TEST_CASE("the first row of the version whose conditions hold is picked") {
  const std::string text =
      "  peak:\n"
      "    - {until: \"0.17\", values: {c: 38}, error: {c: 1}, source: s}\n"
      "    - {since: \"0.17\", when: {runner: v1, tp_min: 2}, values: {c: 15}, source: s}\n"
      "    - {since: \"0.17\", when: {runner: [v1, v2], eager: no}, values: {c: 14}, words: {kind: sort}, source: s}\n";
  CHECK(rules(text, "0.16.9").pick("peak", {}).value("c") == 38);
  CHECK(rules(text, "0.16.9").pick("peak", {}).error_of("c") == 1);
  const Traits two{{"runner", "v1"}, {"tp", 2.0}, {"eager", "no"}};
  CHECK(rules(text, "0.17").pick("peak", two).value("c") == 15);
  const Traits one{{"runner", "v2"}, {"tp", 1.0}, {"eager", "no"}};
  CHECK(rules(text, "nightly").pick("peak", one).count("c") == 14);
  CHECK(rules(text, "0.17").pick("peak", one).is("kind", "sort"));
  CHECK(rules(text, "0.17").pick("peak", one).place == "e.yaml:6");
  CHECK(rules(text, "0.17").find("peak", {{"runner", "v3"}, {"eager", "no"}}) == nullptr);
  CHECK(rules(text, "0.17").find("valley", one) == nullptr);
  CHECK(rules(text, "0.17").all("peak").size() == 2);
}

std::string error_of(const std::function<void()>& what) {
  try {
    what();
  } catch (const profiles::Error& error) {
    return error.text();
  }
  return "no error";
}

TEST_CASE("bad rows are refused where they stand") {
  CHECK(error_of([] { rules("  t:\n    - {values: {a: 1}}\n", "0.20"); }) ==
        "error: missing key 'source'\n  --> e.yaml:4:7  (tables.t[0])\n 4 |     - {values: {a: 1}}\n   |       ^");
  CHECK(error_of([] { rules("  t:\n    - {since: soon, values: {a: 1}, source: s}\n", "0.20"); }) ==
        "error: 'soon' is not a version\n  --> e.yaml:4:15  (tables.t[0].since)\n 4 |     - {since: soon, values: {a: 1}, "
        "source: s}\n"
        "   |               ^\n  help: write it as \"0.21\" or \"0.25.1rc1.dev300\"");
  CHECK(error_of([] { rules("  t:\n    - {when: {runer: v1}, values: {a: 1}, source: s}\n", "0.20"); }) ==
        "error: unknown condition 'runer'\n  --> e.yaml:4:22  (tables.t[0].when.runer)\n"
        " 4 |     - {when: {runer: v1}, values: {a: 1}, source: s}\n   |                      ^\n  help: did you mean "
        "'runner'?");
  CHECK(error_of([] {
          rules("  t:\n    - {when: {runner_min: 1}, values: {a: 1}, source: s}\n", "0.20");
        }).starts_with("error: unknown condition 'runner_min'\n"));
  CHECK(error_of([] {
          rules("  t:\n    - {since: \"0.20\", until: \"0.20\", values: {a: 1}, source: s}\n", "0.20");
        }).starts_with("error: 'until' must be after 'since'\n"));
  CHECK(error_of([] { rules("  t:\n    - {source: s}\n", "0.20"); }).starts_with("error: a rule needs values or words\n"));
  CHECK(error_of([] {
          rules("  t:\n    - {values: {a: 1}, error: {b: 1}, source: s}\n", "0.20");
        }).starts_with("error: an error bar for 'b', which has no value\n"));
  CHECK(
      error_of([] { rules("  t:\n    - {values: {a: x}, source: s}\n", "0.20"); }).starts_with("error: expected a number"));
  CHECK(error_of([] {
          rules("  t:\n    - {values: {a: 1}, source: s, provenance: guess}\n", "0.20");
        }).starts_with("error: unknown provenance 'guess'\n"));
  CHECK(error_of([] { rules("  t: []\n", "0.20"); }).starts_with("error: table 't' is empty\n"));
  CHECK(error_of([] { rules("  t:\n    - {values: {a: 1}, sources: s}\n", "0.20"); }).starts_with("error: "));
}

TEST_CASE("asking for what is not there says so") {
  const Rules some = rules(
      "  t:\n    - {until: \"0.2\", values: {a: 1}, source: s}\n    - {since: \"0.3\", values: {a: 1}, source: s}\n", "0.3");
  CHECK(error_of([&] { some.pick("t", {}).value("b"); }) == "error: the engine rule has no value 'b'\n  --> e.yaml:5");
  CHECK(error_of([&] { some.pick("u", {}); }) ==
        "error: no rule of table 'u' applies to vllm 0.3\n  help: add a row to the engine profile");
  CHECK(error_of([&] { static_cast<void>(some.all("u")); }) == "error: the engine profile has no table 'u'");
}

// Every table answers in every release from v0.8.5 on, whatever is asked.
TEST_CASE("the built-in profile has a row for every release") {
  const profiles::Catalog catalog;
  const profiles::Node profile = catalog.load(catalog.resolve("engines", "vllm"));
  for (const char* version : {"0.8.5", "0.9.1", "0.10.2", "0.11.0", "0.14", "0.17", "0.20", "0.21", "0.24",
                              "0.25.1rc1.dev100", "0.26", "0.28", "0.29", "0.31-dev", "nightly"}) {
    CAPTURE(version);
    const Rules rules(profile, parse_version(version));
    const Traits traits{{"kv_cache_dtype", "bf16"}, {"runner", "v1"}};
    for (const char* table : {"gpu_memory_utilization",
                              "batch_defaults",
                              "auto_dtype",
                              "prefix_caching",
                              "async_scheduling",
                              "model_runner",
                              "speculative",
                              "capture_sizes",
                              "cudagraph_mode",
                              "graph_estimate_mode",
                              "attention_backend",
                              "attention_block",
                              "kv_dtype",
                              "kv_latent",
                              "kv_indexer",
                              "kv_compressed",
                              "kv_compressor",
                              "state_pages",
                              "hybrid_unit",
                              "kv_grouping",
                              "kv_unify",
                              "kv_packed",
                              "in_flight",
                              "kv_tokens",
                              "kv_check",
                              "mamba_blocks_check",
                              "align_assert"}) {
      CAPTURE(table);
      CHECK(rules.find(table, traits) != nullptr);
    }
  }
}

}  // namespace
}  // namespace kvfit::planner
