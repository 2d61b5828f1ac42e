// Every format of every verdict against tests/golden/. KVFIT_UPDATE_GOLDEN=1 rewrites them; read the difference.
#include "cli/report.h"

#include <doctest/doctest.h>

#include <string>

#include "planner/ledger.h"
#include "profiles/document.h"
#include "tests/cli/sample_reports.h"
#include "tests/support/golden.h"

namespace {

using namespace kvfit;
using namespace kvfit::cli;
using tests::check_golden;

// YAML and JSON of one plan must be the same tree, whoever reads them.
void check_same(const profiles::Node& yaml, const profiles::Node& json) {
  CAPTURE(json.where().key);
  REQUIRE(yaml.kind() == json.kind());
  if (json.is_map()) {
    REQUIRE(yaml.members().size() == json.members().size());
    for (std::size_t i = 0; i < json.members().size(); ++i) {
      CHECK(yaml.members()[i].first == json.members()[i].first);
      check_same(yaml.members()[i].second, json.members()[i].second);
    }
  } else if (json.is_list()) {
    REQUIRE(yaml.list().size() == json.list().size());
    for (std::size_t i = 0; i < json.list().size(); ++i) check_same(yaml.list()[i], json.list()[i]);
  } else {
    CHECK(yaml.scalar_text() == json.scalar_text());
  }
}

}  // namespace

TEST_CASE("the samples' ledgers sum to the byte") {
  for (const samples::Sample& sample : samples::all()) {
    for (const planner::Ledger& ledger : sample.report.plan.ledgers) CHECK_NOTHROW(planner::verify(ledger));
  }
}

TEST_CASE("every verdict reads the same as before in every format") {
  for (const samples::Sample& sample : samples::all()) {
    check_golden("plan-" + sample.name + ".txt", table_text(sample.report, Screen{}));
    check_golden("plan-" + sample.name + ".md", markdown_text(sample.report));
    check_golden("plan-" + sample.name + ".json", json_text(json_value(sample.report)));
    check_golden("plan-" + sample.name + ".yaml", yaml_text(json_value(sample.report)));
  }
}

TEST_CASE("yaml and json are the same tree") {
  for (const samples::Sample& sample : samples::all()) {
    CAPTURE(sample.name);
    const profiles::Json value = json_value(sample.report);
    check_same(profiles::parse_yaml(yaml_text(value), "plan.yaml"), profiles::parse_json(json_text(value), "plan.json"));
  }
}

TEST_CASE("a terminal of 80 columns is never overrun by numbers, and colour only adds escapes") {
  for (const samples::Sample& sample : samples::all()) {
    CAPTURE(sample.name);
    const Screen plain{.terminal = true, .colour = false, .width = 80};
    const std::string text = table_text(sample.report, plain);
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      CAPTURE(line);
      CHECK(display_width(line) <= 80);
    }
    std::string coloured = table_text(sample.report, Screen{.terminal = true, .colour = true, .width = 80});
    for (std::size_t at = coloured.find('\x1b'); at != std::string::npos; at = coloured.find('\x1b')) {
      coloured.erase(at, coloured.find('m', at) - at + 1);
    }
    CHECK(coloured == text);
  }
}

TEST_CASE("strings that YAML would read as something else are quoted") {
  profiles::Json value;
  value["no"] = "no";
  value["number"] = "0.24";
  value["word"] = "fits";
  value["colon"] = "a: b";
  value["empty"] = "";
  value["list"] = profiles::Json::array();
  value["nested"] = {{{"a", 1}, {"b", "x"}}, {{"a", 2}}};
  CHECK(yaml_text(value) ==
        "\"no\": \"no\"\nnumber: \"0.24\"\nword: fits\ncolon: \"a: b\"\nempty: \"\"\nlist: []\n"
        "nested:\n  - a: 1\n    b: x\n  - a: 2\n");
}
