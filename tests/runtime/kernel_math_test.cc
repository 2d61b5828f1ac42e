#include "runtime/kernel_math.h"

#include <doctest/doctest.h>

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "runtime/kernels.h"
#include "tests/support/ptx_machine.h"

namespace kvfit::runtime {
namespace {

using tests::PtxMachine;

constexpr std::uint64_t kRegion = PtxMachine::kBase;

std::uint64_t word_of(const PtxMachine& machine, std::uint64_t at) {
  std::uint64_t out = 0;
  std::memcpy(&out, machine.memory.data() + (at - PtxMachine::kBase), 8);
  return out;
}

void put(PtxMachine& machine, std::uint64_t at, const void* from, std::size_t bytes) {
  std::memcpy(machine.memory.data() + (at - PtxMachine::kBase), from, bytes);
}

struct Results {
  std::uint64_t sum = 0, mismatches = 0, complement = 0;
};

Results verify(PtxMachine& machine, std::uint64_t words, std::uint64_t first, unsigned blocks) {
  const std::uint64_t results = kRegion + words * 8;
  machine.memory.resize(words * 8 + blocks * 24);
  machine.launch("kvfit_verify", blocks, 8, {kRegion, words, first, kPatternStep, 0, results});
  Results out;
  for (unsigned b = 0; b < blocks; ++b) {
    out.sum += word_of(machine, results + b * 24);
    out.mismatches += word_of(machine, results + b * 24 + 8);
    out.complement = std::max(out.complement, word_of(machine, results + b * 24 + 16));
  }
  return out;
}

TEST_CASE("the sum of a pattern in closed form is the sum of its words") {
  // 1 word: first. 4 words: 4 first + (0 + 1 + 2 + 3) step. 5 words: 5 first + 10 step.
  CHECK(pattern_sum(7, 3, 0) == 0);
  CHECK(pattern_sum(7, 3, 1) == 7);
  CHECK(pattern_sum(7, 3, 4) == 4 * 7 + 6 * 3);
  CHECK(pattern_sum(7, 3, 5) == 5 * 7 + 10 * 3);
  std::uint64_t sum = 0;
  for (std::uint64_t i = 0; i < 1001; ++i) sum += pattern_first(5) + i * kPatternStep;
  CHECK(pattern_sum(pattern_first(5), kPatternStep, 1001) == sum);
}

TEST_CASE("regions of different seeds share no word, and a region repeats none") {
  CHECK(pattern_first(0) != pattern_first(1));
  CHECK(kPatternStep % 2 == 1);  // odd: i * step repeats only after 2^64 words
}

TEST_CASE("e2m1 codes are 0, 0.5, 1, 1.5, 2, 3, 4, 6 and their negatives") {
  const std::vector<float> wanted = {0, 0.5F, 1, 1.5F, 2, 3, 4, 6};
  for (unsigned code = 0; code < 8; ++code) {
    CHECK(decode_e2m1(code) == wanted[code]);
    CHECK(decode_e2m1(code + 8) == -wanted[code]);
  }
}

TEST_CASE("e4m3 codes follow OCP FP8: bias 7, three bits of mantissa, subnormals of 2^-9") {
  CHECK(decode_e4m3(0x38) == 1.0F);  // exponent 7
  CHECK(decode_e4m3(0x3C) == 1.5F);  // mantissa 100
  CHECK(decode_e4m3(0x40) == 2.0F);  // exponent 8
  CHECK(decode_e4m3(0x01) == 0x1p-9F);
  CHECK(decode_e4m3(0x07) == 7 * 0x1p-9F);
  CHECK(decode_e4m3(0x7E) == 448.0F);  // the largest
  CHECK(decode_e4m3(0xB8) == -1.0F);
}

TEST_CASE("the hash of a piece depends on its place, and of all pieces not on their cut") {
  const std::string text = "sixteen bytes ABC and a tail";
  CHECK(hash_words(text, 0) == hash_words(text.substr(0, 16), 0) + hash_words(text.substr(16), 2));
  CHECK(hash_words(text, 0) != hash_words(text, 1));
  CHECK(hash_words("ABCDEFGHIJKLMNOP", 0) != hash_words("IJKLMNOPABCDEFGH", 0));
  CHECK(hash_words("", 9) == 0);
}

TEST_CASE("the PTX that fills writes the pattern, for any number of threads") {
  for (const std::uint64_t words : {2ULL, 16ULL, 1000ULL}) {
    for (const unsigned blocks : {1U, 3U}) {
      PtxMachine machine(kernels_ptx());
      machine.memory.resize(words * 8);
      machine.launch("kvfit_fill", blocks, 8, {kRegion, words, 42, kPatternStep});
      for (std::uint64_t i = 0; i < words; ++i) REQUIRE(word_of(machine, kRegion + 8 * i) == 42 + i * kPatternStep);
    }
  }
}

TEST_CASE("the PTX that verifies counts words that differ, finds the first, and adds up what it read") {
  PtxMachine machine(kernels_ptx());
  machine.memory.resize(1000 * 8);
  machine.launch("kvfit_fill", 2, 8, {kRegion, 1000, 42, kPatternStep});
  const Results clean = verify(machine, 1000, 42, 3);
  CHECK(clean.sum == pattern_sum(42, kPatternStep, 1000));
  CHECK(clean.mismatches == 0);
  CHECK(clean.complement == 0);

  std::fill(machine.memory.begin() + 1000 * 8, machine.memory.end(), static_cast<unsigned char>(0));
  machine.memory[17 * 8] ^= 1;       // an odd word: the second of a pair
  machine.memory[500 * 8 + 3] ^= 4;  // an even one
  const Results dirty = verify(machine, 1000, 42, 3);
  CHECK(dirty.mismatches == 2);
  CHECK(~dirty.complement == 17);
  CHECK(dirty.sum != clean.sum);
}

TEST_CASE("the PTX that hashes agrees with hash_words") {
  PtxMachine machine(kernels_ptx());
  std::string bytes(8 * 333, '\0');
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i * 37 % 251);
  machine.memory.resize(bytes.size() + 4 * 8);
  put(machine, kRegion, bytes.data(), bytes.size());
  const std::uint64_t results = kRegion + bytes.size();
  machine.launch("kvfit_hash", 4, 16, {kRegion, 333, 1000, results});
  std::uint64_t sum = 0;
  for (unsigned b = 0; b < 4; ++b) sum += word_of(machine, results + 8 * b);
  CHECK(sum == hash_words(bytes, 1000));
}

TEST_CASE("the PTX that multiplies gives the bits of gemv_nvfp4, for every scale and every pair of weights") {
  // 16 rows x 256 columns: 256 scales, one of each code, and 2048 bytes of weights, eight of each.
  constexpr std::uint32_t kRows = 16, kColumns = 256;
  std::string weights(kRows * kColumns / 2, '\0'), scales(kRows * kColumns / 16, '\0');
  for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = static_cast<char>(i * 91 % 256);
  for (std::size_t i = 0; i < scales.size(); ++i) scales[i] = static_cast<char>(i);
  std::vector<float> inputs;
  for (std::uint32_t i = 0; i < kColumns; ++i) inputs.push_back(static_cast<float>(i % 13) * 0.37F - 2);
  const float global = 0.0123F;
  const std::vector<float> wanted = gemv_nvfp4({kRows, kColumns, weights, scales, global}, inputs);

  PtxMachine machine(kernels_ptx());
  const std::uint64_t scales_at = kRegion + weights.size(), inputs_at = scales_at + scales.size(),
                      outputs_at = inputs_at + kColumns * 4;
  machine.memory.resize(weights.size() + scales.size() + kColumns * 4 + kRows * 4);
  put(machine, kRegion, weights.data(), weights.size());
  put(machine, scales_at, scales.data(), scales.size());
  put(machine, inputs_at, inputs.data(), kColumns * 4);
  machine.launch("kvfit_gemv_nvfp4", 3, 8,
                 {kRegion, scales_at, inputs_at, outputs_at, kRows, kColumns, std::bit_cast<std::uint32_t>(global)});
  std::vector<float> found(kRows);
  std::memcpy(found.data(), machine.memory.data() + (outputs_at - PtxMachine::kBase), kRows * 4);
  for (std::uint32_t row = 0; row < kRows; ++row) {
    CHECK(std::bit_cast<std::uint32_t>(found[row]) == std::bit_cast<std::uint32_t>(wanted[row]));
  }
}

TEST_CASE("a product by hand") {
  // One row of 16: weights 1 and 0.5 in turn (codes 2 and 1), scale 2 (0x40), global 0.25, inputs all 1:
  // 8 x (1 + 0.5) x 2 x 0.25 = 6.
  const std::string weights(8, '\x12'), scales(1, '\x40');
  const std::vector<float> inputs(16, 1.0F);
  CHECK(gemv_nvfp4({1, 16, weights, scales, 0.25F}, inputs) == std::vector<float>{6.0F});
}

}  // namespace
}  // namespace kvfit::runtime
