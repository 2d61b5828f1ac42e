// The profile run's peak against "peak activation" of public boots (llm-d-incubation/llm-d-planner#205: v0.11.0, v0.15 to
// v0.19.0 on H100; 1024 sequences, 8192 batched tokens).
#include "planner/activation.h"

#include <doctest/doctest.h>

#include "planner/memory_model.h"
#include "tests/planner/memory_support.h"

namespace kvfit::planner {
namespace {

using namespace test;

double peak(const Dense& dense, const char* version, std::int64_t tp = 1) {
  Question question = h100(dense, version);
  question.serving.tensor_parallel_size = tp;
  const Asked asked = ask(question);  // 1024 sequences, 8192 tokens: the defaults of an 80 GB card
  const Rank rank = distinct_ranks(question.model, asked.settings).front();
  return gib(ActivationModel(question, asked.settings, asked.traits, rank).at(asked.settings));
}

bool near(double value, double printed) { return std::abs(value - printed) <= 0.012; }

TEST_CASE("peak activation of dense models as printed, row by row") {
  CHECK(near(peak(kLlama31_8b, "0.19.0"), 1.89));
  CHECK(near(peak(kLlama31_8b, "0.19.0", 4), 1.89));  // the sampler is not divided
  CHECK(near(peak(kQwen25_7b, "0.19.0"), 2.21));
  CHECK(near(peak(kQwen25_72b, "0.19.0", 2), 2.29));
  CHECK(near(peak(kGemma2_27b, "0.19.0"), 3.66));
  CHECK(near(peak(kGemma2_2b, "0.19.0"), 3.62));
  CHECK(near(peak(kPhi4, "0.19.0"), 1.52));
  CHECK(std::abs(peak(kCodeLlama_7b, "0.19.0") - 0.77) <= 0.02);  // the forward pass is larger than the sampler here
  CHECK(near(peak(kLlama31_8b, "0.11.0"), 4.76));
  CHECK(near(peak(kQwen3_32b, "0.11.0"), 5.64));
  CHECK(near(peak(kQwen3_32b, "0.11.0", 2), 5.64));
}

// Same command, same card, only the release differs: the sampler stopped sorting in v0.17.
TEST_CASE("Qwen3-14B on H100 from v0.15 to v0.18: activation, non-torch and available KV as printed") {
  struct Release {
    const char* version;
    double activation, non_torch, available;
  };
  for (const Release& release : {Release{"0.15.0", 5.64, 0.13, 41.94}, Release{"0.16.0", 5.64, 0.13, 41.94},
                                 Release{"0.17.0", 2.23, 0.13, 45.34}, Release{"0.18.0", 2.23, 0.25, 45.23}}) {
    const Question question = h100(kQwen3_14b, release.version);
    const Asked asked = ask(question);
    const MemoryModel memory(question, asked.settings, asked.traits, distinct_ranks(question.model, asked.settings).front());
    const MemorySums sums = memory.sums(asked.settings, 0);
    CHECK(near(gib(sums.activation), release.activation));
    CHECK(near(gib(sums.non_torch), release.non_torch));
    const double requested = 0.95 * 79.19;
    CHECK(requested - profiles::to_gib(sums.budgeted()) == doctest::Approx(release.available).epsilon(0.001));
  }
}

models::Vision tower(std::int64_t patch, std::int64_t merge, std::int64_t item_tokens, std::int64_t out) {
  models::Vision vision;
  vision.kind = "test";
  vision.layers = 27;
  vision.hidden = 1152;
  vision.intermediate = 4304;
  vision.heads = 16;
  vision.patch = patch;
  vision.merge = merge;
  vision.max_item_tokens = item_tokens;
  vision.out_hidden = out;
  return vision;
}

// One image of 16384 tokens = 65536 patches of 2 x 1536 pixel bytes, 6 x 1152 and 4 x 4304: 1.66 GiB, plus 32 MiB of cuBLAS:
// 1.69 (a boot of Qwen3.8-27B on an RTX 5090 with one sequence prints 1.70). At TP2 the feed-forward of the tower is
// divided.
TEST_CASE("one full-size image sets the peak when sequences are few, and tensor parallelism divides the tower") {
  models::Model model = model_of({5120, 4, 24, 4, 256, 17408, 248320, 262144});
  model.vision = tower(16, 2, 16384, 5120);
  model.vision->temporal_patch = 2;
  Question question = h100(model, inventory_of({5120, 4, 24, 4, 256, 17408, 248320, 262144}), "0.24.0");
  question.serving.max_num_seqs = 1;
  question.serving.max_num_batched_tokens = 2048;
  for (const std::int64_t tp : {1, 2}) {
    question.serving.tensor_parallel_size = tp;
    const Asked asked = ask(question);
    const ActivationModel activation(question, asked.settings, asked.traits, distinct_ranks(model, asked.settings).front());
    CHECK(activation.parts(asked.settings).encoder == 65536 * (2 * 1536 + 6 * 1152 + 4 * 4304 / tp));
    CHECK(std::string(activation.parts(asked.settings).largest()) == "encoder");
  }
  question.serving.language_model_only = true;
  const Asked asked = ask(question);
  CHECK(ActivationModel(question, asked.settings, asked.traits, distinct_ranks(model, asked.settings).front())
            .parts(asked.settings)
            .encoder == 0);
}

// Gemma-3-27B: 8192 tokens hold 32 images of 256 tokens; each keeps 3 x 896 x 896 pixels of 2 bytes and its outputs.
TEST_CASE("outputs and pixels of the profiled images stay beside the sampler: Gemma-3-27B prints 3.99 GiB") {
  const Dense gemma{5376, 62, 32, 16, 128, 21504, 262208, 131072, true, false, false, false, 4};
  models::Model model = model_of(gemma);
  model.vision = tower(14, 1, 256, 5376);
  model.vision->position_rows = 4096;
  const Question question = h100(model, inventory_of(gemma), "0.19.0");
  const Asked asked = ask(question);
  const ActivationModel activation(question, asked.settings, asked.traits, distinct_ranks(model, asked.settings).front());
  CHECK(activation.parts(asked.settings).encoder_outputs == 32 * (256 * 5376 * 2 + 3 * 896 * 896 * 2));
  CHECK(near(gib(activation.at(asked.settings)), 3.99));
}

TEST_CASE("sums and entries agree, and grow with sequences and batch") {
  Question question = h100(kLlama31_8b, "0.24.0");
  question.serving.max_num_seqs = 64;
  Asked asked = ask(question);
  const MemoryModel memory(question, asked.settings, asked.traits, distinct_ranks(question.model, asked.settings).front());
  Bytes before;
  for (const std::int64_t seqs : {1, 8, 64, 256, 1024}) {
    asked.settings.max_num_seqs = seqs;
    const MemorySums sums = memory.sums(asked.settings, 0);
    CHECK(sums.budgeted() >= before);
    before = sums.budgeted();
    Bytes inside, outside;
    for (const Entry& entry : memory.entries(asked.settings, 0)) {
      if (entry.section == Section::weights || entry.section == Section::profile) inside += entry.bytes;
      if (entry.section == Section::outside) outside += entry.bytes;
    }
    CHECK(inside == sums.budgeted());
    CHECK(outside == sums.outside.bytes);
  }
  before = Bytes{};
  for (const std::int64_t tokens : {2048, 8192, 16384}) {
    asked.settings.max_num_batched_tokens = tokens;
    CHECK(memory.activation().at(asked.settings).bytes > before);
    before = memory.activation().at(asked.settings).bytes;
  }
}

}  // namespace
}  // namespace kvfit::planner
