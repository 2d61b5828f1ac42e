// Rules that no deployment of tests/deployments shows, and what keeps them silent.
#include "cli/check_rules.h"

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <vector>

#include "cli/finding_catalog.h"
#include "planner/search.h"
#include "tests/cli/sample_reports.h"

namespace {

using namespace kvfit;
using namespace kvfit::cli;

std::string ids(const std::vector<Placed>& findings) {
  std::string out;
  for (const Placed& one : findings) {
    out += (out.empty() ? "" : " ") + one.finding.id + ":" + std::string(level_name(one.finding.level));
  }
  return out;
}

CheckCase fitting() {
  CheckCase out;
  out.report = samples::all().front().report;
  return out;
}

RuleInput input(const CheckCase& one, const runtime::FlagTable& flags) {
  return {.one = one,
          .report = *one.report,
          .deployment = one.deployment,
          .flags = flags,
          .missing_draft = "",
          .margin = profiles::Bytes(0)};
}

models::Tensor router(models::Role role, models::Role draft_role, std::int64_t experts) {
  models::Tensor out;
  out.name = role == models::Role::draft ? "mtp.layers.0.mlp.gate.weight" : "model.layers.0.mlp.gate.weight";
  out.role = role;
  out.draft_role = draft_role;
  out.shape = {experts, 2048};
  return out;
}

std::string draft_finding(std::int64_t trunk, std::int64_t draft, bool exact, bool used) {
  CheckCase one = fitting();
  models::TensorInventory inventory;
  inventory.exact = exact;
  inventory.tensors = {router(models::Role::router, models::Role::other, trunk),
                       router(models::Role::draft, models::Role::router, draft)};
  one.report->question.inventory = std::make_shared<const models::TensorInventory>(std::move(inventory));
  if (used) one.report->question.serving.speculative = planner::Speculative{.method = "mtp", .tokens = 2};
  const runtime::FlagTable flags;
  std::vector<Placed> out;
  model_rules(input(one, flags), out);
  return ids(out);
}

}  // namespace

TEST_CASE("a carve that left the draft head alone is an error where the draft is used") {
  CHECK(draft_finding(192, 256, true, true) == "KVF013:error");
  CHECK(draft_finding(192, 256, true, false) == "KVF013:warning");
  CHECK(draft_finding(192, 192, true, true).empty());
  CHECK(draft_finding(192, 256, false, true).empty());  // derived from the configuration: nothing was read
}

TEST_CASE("headroom is measured against the check with the least of it") {
  CheckCase one = fitting();  // kv_one_request has 1792 MiB to spare, free_memory 932, run 1024
  const runtime::FlagTable flags;
  std::vector<Placed> out;
  RuleInput asked = input(one, flags);
  asked.margin = profiles::mib(900);
  verdict_rules(asked, out);
  CHECK(ids(out).empty());
  asked.margin = profiles::mib(933);
  verdict_rules(asked, out);
  CHECK(ids(out) == "KVF030:error");
  CHECK(out.front().finding.text == "free_memory has 0.91 GiB to spare, the margin is 0.91 GiB");
}

TEST_CASE("every finding has a page, in the order of the ids, and a title without full stop") {
  std::string before;
  for (const FindingPage& page : finding_pages()) {
    CAPTURE(page.id);
    CHECK(before < std::string(page.id));
    before = page.id;
    CHECK_FALSE(page.title.empty());
    CHECK(page.title.back() != '.');
    CHECK_FALSE(page.about.empty());
    CHECK_FALSE(page.remedy.empty());
    CHECK(find_page(page.id) == &page);
  }
  CHECK(find_page("kvf004") != nullptr);
  CHECK(find_page("KVF4") == nullptr);
  CHECK(page_text(*find_page("KVF021"), 0) ==
        "KVF021 (note): flag stands twice\n  what   The last one holds; the engine only warns.\n"
        "  mend   Remove one of them.\n  source vllm/utils/argparse_utils.py\n");
}
