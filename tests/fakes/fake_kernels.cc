#include "tests/fakes/fake_kernels.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <string_view>

#include "runtime/kernel_math.h"

namespace kvfit::fakes {
namespace {

template <typename T>
T argument(void** arguments, std::size_t index) {
  T out{};
  std::memcpy(&out, arguments[index], sizeof out);
  return out;
}

// Adds to the 64-bit word at `address`, as the kernel's atomics do.
std::uint64_t word_at(const FakeMemory& memory, std::uint64_t address) {
  const std::string bytes = memory.read(address, 8);
  std::uint64_t out = 0;
  std::memcpy(&out, bytes.data(), 8);
  return out;
}

void set_word(FakeMemory& memory, std::uint64_t address, std::uint64_t word) {
  memory.write(address, std::string_view(reinterpret_cast<const char*>(&word), 8));
}

std::int64_t fill(FakeMemory& memory, void** a) {
  const std::uint64_t region = argument<std::uint64_t>(a, 0), bytes = 8 * argument<std::uint64_t>(a, 1);
  if (!memory.holds(region, bytes)) return -1;
  memory.write_rule(region, bytes, {argument<std::uint64_t>(a, 2), argument<std::uint64_t>(a, 3)});
  return static_cast<std::int64_t>(bytes);
}

struct Found {
  std::uint64_t sum = 0, mismatches = 0, first = ~std::uint64_t{0};
  void mismatch(std::uint64_t index, std::uint64_t words) {
    mismatches += words;
    first = std::min(first, index);
  }
};

std::int64_t verify(FakeMemory& memory, void** a) {
  const std::uint64_t region = argument<std::uint64_t>(a, 0), bytes = 8 * argument<std::uint64_t>(a, 1);
  const Rule wanted{argument<std::uint64_t>(a, 2), argument<std::uint64_t>(a, 3)};
  const std::uint64_t base = argument<std::uint64_t>(a, 4), results = argument<std::uint64_t>(a, 5);
  if (!memory.holds(region, bytes) || !memory.holds(results, 24)) return -1;
  Found found;
  memory.visit(
      region, bytes,
      [&](std::uint64_t at, std::uint64_t length, Rule rule) {
        const std::uint64_t words = length / 8;
        found.sum += runtime::pattern_sum(rule.first, rule.step, words);
        const bool same = rule.step == wanted.step && rule.first == wanted.first + at / 8 * wanted.step;
        if (!same) found.mismatch(base + at / 8, words);
      },
      [&](std::uint64_t at, std::string_view piece) {
        for (std::size_t i = 0; i + 8 <= piece.size(); i += 8) {
          std::uint64_t word = 0;
          std::memcpy(&word, piece.data() + i, 8);
          found.sum += word;
          const std::uint64_t index = (at + i) / 8;
          if (word != wanted.first + index * wanted.step) found.mismatch(base + index, 1);
        }
      });
  set_word(memory, results, word_at(memory, results) + found.sum);
  set_word(memory, results + 8, word_at(memory, results + 8) + found.mismatches);
  if (found.mismatches > 0) set_word(memory, results + 16, std::max(word_at(memory, results + 16), ~found.first));
  return static_cast<std::int64_t>(bytes);
}

std::int64_t hash(FakeMemory& memory, void** a) {
  const std::uint64_t region = argument<std::uint64_t>(a, 0), bytes = 8 * argument<std::uint64_t>(a, 1);
  const std::uint64_t base = argument<std::uint64_t>(a, 2), results = argument<std::uint64_t>(a, 3);
  if (!memory.holds(region, bytes) || !memory.holds(results, 8)) return -1;
  const std::uint64_t sum = runtime::hash_words(memory.read(region, bytes), base);
  set_word(memory, results, word_at(memory, results) + sum);
  return static_cast<std::int64_t>(bytes);
}

std::int64_t gemv(FakeMemory& memory, void** a) {
  runtime::Nvfp4Matrix matrix{.rows = argument<std::uint32_t>(a, 4), .columns = argument<std::uint32_t>(a, 5)};
  matrix.global = argument<float>(a, 6);
  const std::uint64_t values = std::uint64_t{matrix.rows} * matrix.columns;
  const std::string weights = memory.read(argument<std::uint64_t>(a, 0), values / 2);
  const std::string scales = memory.read(argument<std::uint64_t>(a, 1), values / 16);
  const std::string inputs = memory.read(argument<std::uint64_t>(a, 2), matrix.columns * 4);
  matrix.weights = weights;
  matrix.scales = scales;
  std::vector<float> x(matrix.columns);
  std::memcpy(x.data(), inputs.data(), inputs.size());
  const std::vector<float> y = runtime::gemv_nvfp4(matrix, x);
  memory.write(argument<std::uint64_t>(a, 3),
               std::string_view(reinterpret_cast<const char*>(y.data()), y.size() * sizeof(float)));
  return static_cast<std::int64_t>(values / 2);
}

}  // namespace

std::vector<std::size_t> parameters_of(const std::string& ptx, const std::string& name) {
  std::vector<std::size_t> out;
  const std::size_t entry = ptx.find(".entry " + name + "(");
  if (entry == std::string::npos) return out;
  const std::string head = ptx.substr(entry, ptx.find(')', entry) - entry);
  for (std::size_t at = head.find(".param ."); at != std::string::npos; at = head.find(".param .", at + 1)) {
    out.push_back(head.compare(at + 9, 2, "64") == 0 ? 8 : 4);
  }
  return out;
}

std::int64_t run_kernel(FakeMemory& memory, const std::string& name, void** arguments) {
  if (name == "kvfit_fill") return fill(memory, arguments);
  if (name == "kvfit_verify") return verify(memory, arguments);
  if (name == "kvfit_hash") return hash(memory, arguments);
  return gemv(memory, arguments);
}

}  // namespace kvfit::fakes
