#include "runtime/comparison.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "hardware/gpu_catalog.h"
#include "models/catalogue.h"
#include "profiles/catalog.h"
#include "runtime/log_settings.h"

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

std::string without(std::string text, const std::string& part) {
  const std::size_t at = text.find(part);
  REQUIRE(at != std::string::npos);
  return text.erase(at, part.size());
}

// Without its last line the boot does not say that it was asked for 0.95; v0.19 would take 0.9 (79.19 x 0.05 = 3.96 GiB
// less). 58.11 + 14.99 available and weights as printed, 1.88 + 0.25 as planned, over 79.19: 0.95.
TEST_CASE("a utilisation that was assumed is named as the cause, and solved for") {
  std::string text = kBoot;
  text.erase(text.find("DEBUG Free memory"));
  const BootLog log = read_boot_log(text);
  const Comparison comparison = compare(log, planner::Evaluator(question_of(log)));
  REQUIRE(comparison.first_outside);
  CHECK(comparison.lines[*comparison.first_outside].id == "available_kv");
  REQUIRE(comparison.utilization);
  CHECK(comparison.utilization->assumed == 0.9);
  CHECK(comparison.utilization->solved == 0.95);
  CHECK(comparison.cause ==
        "the log does not state gpu_memory_utilization, so the engine's default 0.9 was assumed; its figures ask for 0.95 "
        "±0.001: compare again with --util 0.95");
  CHECK(comparison.assumed[0].name == "gpu_memory_utilization");
  CHECK(line(comparison, "tokens").agreement == Agreement::exact);  // given the printed memory

  planner::Question told = question_of(log);
  told.serving.gpu_memory_utilization = 0.95;
  const Comparison again = compare(log, planner::Evaluator(told));
  CHECK_FALSE(again.first_outside);
  CHECK_FALSE(again.utilization);
}

TEST_CASE("without any stated length the one of the concurrency line is compared") {
  const BootLog log = read_boot_log(without(kBoot, ", max_seq_len=8192"));
  const Comparison comparison = compare(log, planner::Evaluator(question_of(log)));
  CHECK(line(comparison, "concurrency").agreement == Agreement::exact);
  CHECK_FALSE(comparison.first_outside);
}

TEST_CASE("a weight of megabytes is not the plan's of gigabytes") {
  std::string text = kBoot;
  text.replace(text.find("14.99 GiB memory"), 16, "14.99 MiB memory");
  const BootLog log = read_boot_log(text);
  const Comparison comparison = compare(log, planner::Evaluator(question_of(log)));
  CHECK(line(comparison, "weights").agreement == Agreement::outside);
  CHECK(comparison.other_weights);  // nothing to correct by
  CHECK(std::none_of(comparison.corrections.begin(), comparison.corrections.end(),
                     [](const planner::Correction& c) { return c.quantity == planner::Quantity::weights; }));
}

// From v0.26 the printed activation holds the estimate: what the plan predicts for both together.
TEST_CASE("the merged breakdown is compared with activation and graph estimate together") {
  const std::string head =
      "INFO Initializing a V1 LLM engine (v0.26.0) with config: model='meta-llama/Llama-3.1-8B-Instruct', "
      "dtype=torch.bfloat16, "
      "max_seq_len=8192, tensor_parallel_size=1, kv_cache_dtype=auto\n";
  const BootLog log =
      read_boot_log(head +
                    "Free memory on device (cuda:0) (78.68/79.19 GiB) on startup. Desired GPU memory utilization is "
                    "(0.92, 72.86 GiB). Actual usage is 15.24 GiB for consumed memory (weights + non-torch), 2.72 GiB "
                    "for peak activation, and 0.91 GiB for CUDAGraph memory.\n");
  planner::Question question = question_of(log);
  question.serving.v2_model_runner = false;  // the other runner sets nothing aside
  const planner::Evaluator evaluator(question);
  const planner::MemorySums& sums = evaluator.numbers(evaluator.stated_point()).stages[0].sums;
  REQUIRE(sums.graph_estimate.bytes.count > 0);
  const Comparison comparison = compare(log, evaluator);
  CHECK(line(comparison, "activation").predicted ==
        doctest::Approx(profiles::to_gib(sums.activation.bytes + sums.graph_estimate.bytes)));
  CHECK(line(comparison, "consumed").predicted ==
        doctest::Approx(profiles::to_gib(sums.weights.bytes + sums.non_torch.bytes)));
}

// 32 layers x 8 heads x 128 x 2 (K and V) x 2 bytes = 131,072 bytes a token; 53.38 GiB hold 437,289 of them, and the two
// printed halves are rounded: 437,312 lies within.
TEST_CASE("of another engine only what does not hang on vLLM's budget is compared") {
  const BootLog log = read_boot_log(
      "server_args=ServerArgs(model_path='meta-llama/Llama-3.1-8B-Instruct', tp_size=1)\nLoad weight end. mem usage=15.02 "
      "GB.\n"
      "KV Cache is allocated. #tokens: 437312, K size: 26.69 GB, V size: 26.69 GB\n");
  const planner::Question question = question_of(read_boot_log(kBoot));
  const Comparison comparison = compare(log, planner::Evaluator(question));
  REQUIRE(comparison.lines.size() == 2);
  CHECK(comparison.lines[0].id == "weights");
  CHECK(comparison.lines[1].id == "tokens");
  CHECK(comparison.lines[1].agreement == Agreement::exact);
  CHECK(comparison.corrections.empty());
}

TEST_CASE("every line that can be off has a likely cause") {
  const profiles::Catalog catalog;
  for (const char* version : {"0.11.0", "0.19.0", "0.26.0", "0.31.0"}) {
    const planner::Rules rules(catalog.load(catalog.resolve("engines", "vllm")), planner::parse_version(version));
    planner::Traits traits = planner::traits_of(question_of(read_boot_log(kBoot)));
    for (const char* id :
         {"total", "free_at_start", "requested", "weights", "activation", "non_torch", "consumed", "graph_estimate",
          "available_kv", "blocks", "tokens", "concurrency", "mamba_blocks", "needed_kv", "estimated_max_len", "graphs"}) {
      CAPTURE(version);
      CAPTURE(id);
      traits["symptom"] = std::string(id);
      REQUIRE(rules.find("log_causes", traits) != nullptr);
      CHECK_FALSE(rules.find("log_causes", traits)->word("cause").empty());
    }
  }
}

}  // namespace
}  // namespace kvfit::runtime
