#include "tests/bench/evaluation_bench.h"

#include <cstdint>
#include <ctime>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include "hardware/gpu_catalog.h"
#include "models/catalogue.h"
#include "models/tensor_inventory.h"
#include "planner/evaluator.h"
#include "planner/question.h"
#include "planner/rules.h"
#include "profiles/catalog.h"

namespace kvfit::bench {
namespace {

planner::Question question() {
  const profiles::Catalog catalog;
  planner::Question out;
  out.node.gpu = hardware::load_gpu(catalog, "rtx5090-24g");
  out.model = models::load_model(catalog, "qwen3.6-35b-a3b-nvfp4-unsloth").model;
  out.inventory = std::make_shared<const models::TensorInventory>(models::derive_inventory(out.model));
  out.rules = std::make_shared<const planner::Rules>(catalog.load(catalog.resolve("engines", "vllm")),
                                                     planner::parse_version("0.24"));
  out.serving.kv_cache_dtype = "fp8";
  out.serving.language_model_only = true;
  return out;
}

std::vector<planner::Point> points() {
  std::vector<planner::Point> out;
  for (const double utilization : {0.90, 0.92, 0.94}) {
    for (const std::int64_t experts : {256, 224, 192, 160, 128}) {
      for (std::int64_t context = 8192; context <= 262144; context *= 2) {
        for (const std::int64_t sequences : {1, 4, 16}) out.push_back({experts, context, sequences, utilization});
      }
    }
  }
  return out;
}

}  // namespace

double evaluations_per_second() {
  const planner::Evaluator evaluator(question());
  const std::vector<planner::Point> all = points();
  std::int64_t fitting = 0;
  const auto round = [&evaluator, &all, &fitting] {
    for (const planner::Point& point : all) {
      if (evaluator.probe(point).verdict == planner::Verdict::fits) ++fitting;
    }
  };
  round();  // prepares what depends on experts and sequences, once
  if (fitting == 0) throw std::runtime_error("nothing fits: the question is not the one meant to be timed");
  std::int64_t evaluations = 0;
  const std::clock_t begin = std::clock();
  while (std::clock() - begin < CLOCKS_PER_SEC) {
    round();
    evaluations += static_cast<std::int64_t>(all.size());
  }
  return static_cast<double>(evaluations) * CLOCKS_PER_SEC / static_cast<double>(std::clock() - begin);
}

}  // namespace kvfit::bench
