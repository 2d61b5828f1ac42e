#include "runtime/comparison.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "hardware/gpu_catalog.h"
#include "models/catalogue.h"
#include "profiles/catalog.h"

namespace kvfit::runtime {
namespace {

// Llama-3.1-8B-Instruct on an H100 80GB, v0.19.0, utilisation 0.95: the figures of llm-d-incubation/llm-d-planner#205.
constexpr const char* kBoot =
    R"(INFO [core.py:97] Initializing a V1 LLM engine (v0.19.0) with config: model='meta-llama/Llama-3.1-8B-Instruct', dtype=torch.bfloat16, max_seq_len=8192, tensor_parallel_size=1, pipeline_parallel_size=1, enforce_eager=False, kv_cache_dtype=auto, enable_prefix_caching=False
INFO Chunked prefill is enabled with max_num_batched_tokens=8192.
INFO Model loading took 14.99 GiB memory and 3.42 seconds
INFO Estimated CUDA graph memory: 0.84 GiB total
INFO Available KV cache memory: 58.11 GiB
INFO GPU KV cache size: 476,016 tokens
INFO Maximum concurrency for 8,192 tokens per request: 58.11x
INFO Graph capturing finished in 12 secs, took 0.91 GiB
DEBUG Free memory on device (78.68/79.19 GiB) on startup. Desired GPU memory utilization is (0.95, 75.23 GiB). Actual usage is 14.99 GiB for weight, 1.89 GiB for peak activation, 0.25 GiB for non-torch memory, and 0.91 GiB for CUDAGraph memory.
)";

planner::Question question_of(const BootLog& log) {
  const profiles::Catalog catalog;
  planner::Question question;
  question.node.gpu = hardware::load_gpu(catalog, "h100-sxm");
  question.model = models::load_model(catalog, log.model->value).model;
  question.inventory = std::make_shared<models::TensorInventory>(models::derive_inventory(question.model));
  question.rules = std::make_shared<planner::Rules>(catalog.load(catalog.resolve("engines", "vllm")),
                                                    planner::parse_version(log.version->value));
  question.serving = settings_from_log(log, {});
  return question;
}

const ComparedLine& line(const Comparison& comparison, const std::string& id) {
  const auto found =
      std::find_if(comparison.lines.begin(), comparison.lines.end(), [&id](const ComparedLine& l) { return l.id == id; });
  REQUIRE(found != comparison.lines.end());
  return *found;
}

TEST_CASE("a public boot agrees line by line, and exactly once the available KV is given") {
  const BootLog log = read_boot_log(kBoot);
  const Comparison comparison = compare(log, planner::Evaluator(question_of(log)));
  CHECK_FALSE(comparison.first_outside);
  CHECK(line(comparison, "requested").agreement == Agreement::exact);
  CHECK(line(comparison, "weights").agreement == Agreement::exact);
  CHECK(line(comparison, "tokens").agreement == Agreement::exact);
  CHECK(line(comparison, "tokens").given_available);
  CHECK(line(comparison, "concurrency").agreement == Agreement::exact);
  CHECK(line(comparison, "available_kv").predicted == doctest::Approx(58.11).epsilon(0.002));
  CHECK(line(comparison, "weights").line == 3);
}

TEST_CASE("the first line that disagrees is named, with what the log teaches") {
  std::string text = kBoot;
  text.replace(text.find("14.99 GiB memory"), 16, "17.20 GiB memory");
  const BootLog log = read_boot_log(text);
  const Comparison comparison = compare(log, planner::Evaluator(question_of(log)));
  REQUIRE(comparison.first_outside);
  CHECK(comparison.lines[*comparison.first_outside].id == "weights");
  REQUIRE_FALSE(comparison.corrections.empty());
  CHECK(comparison.corrections[0].quantity == planner::Quantity::weights);
  CHECK(profiles::to_gib(comparison.corrections[0].difference) == doctest::Approx(2.21).epsilon(0.01));
}

TEST_CASE("a plan that uses what a log taught predicts that log") {
  std::string text = kBoot;
  text.replace(text.find("14.99 GiB memory"), 16, "17.20 GiB memory");
  const BootLog log = read_boot_log(text);
  planner::Question question = question_of(log);
  question.corrections = compare(log, planner::Evaluator(question)).corrections;
  const planner::Evaluator corrected(question);
  const Comparison again = compare(log, corrected);
  CHECK(line(again, "weights").agreement == Agreement::exact);
  CHECK(line(again, "graphs").agreement == Agreement::exact);
  const planner::Plan plan = corrected.plan(corrected.stated_point());  // its ledger sums, corrections included
  CHECK(std::any_of(plan.ledgers[0].entries.begin(), plan.ledgers[0].entries.end(),
                    [](const planner::Entry& e) { return e.label == "correction.weights"; }));
}

}  // namespace
}  // namespace kvfit::runtime
