#include "carve/tensor_hash.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "models/file_bytes.h"
#include "tests/support/temp_directory.h"

namespace kvfit::carve {
namespace {

// The buffer of xxHash's own sanity test (Cyan4973/xxHash, cli/xsum_sanity_check.c): the top byte of a product that grows.
std::string sanity_bytes(std::size_t count) {
  std::string out;
  std::uint64_t word = 2654435761U;
  for (std::size_t i = 0; i < count; ++i) {
    out += static_cast<char>(static_cast<unsigned char>(word >> 56));
    word *= 11400714785074694797U;
  }
  return out;
}

std::string hash_of(const std::string& bytes, std::size_t piece) {
  const std::vector<std::int64_t> ends = {static_cast<std::int64_t>(bytes.size())};
  TensorHasher hasher(0, ends);
  for (std::size_t at = 0; at < bytes.size(); at += piece) {
    hasher.add(std::span(bytes).subspan(at, std::min(piece, bytes.size() - at)));
  }
  return hasher.finish().at(0).hex();
}

}  // namespace

TEST_CASE("the hash is XXH3 of 128 bits, as xxHash's own test vectors have it") {
  // XSUM_XXH128_testdata, seed 0: low word, high word
  CHECK(hash_of("", 1) == "99aa06d3014798d86001c324468d497f");
  CHECK(hash_of(sanity_bytes(1), 1) == "a6cd5e9392000f6ac44bdff4074eecdb");
  CHECK(hash_of(sanity_bytes(6), 6) == "082afe0b8162d12a3e7039bdda43cfc6");
  CHECK(hash_of(sanity_bytes(12), 12) == "6e3efd8fc7802b18061a192713f69ad9");
  CHECK(hash_of(sanity_bytes(81), 81) == "4952f58181ab00425e8bafb9f95fb803");
  CHECK(hash_of(sanity_bytes(403), 403) == "1b6de21e332dd73dcdeb804d65c6dea4");
}

TEST_CASE("pieces do not matter, and tensors without a byte have the hash of nothing") {
  const std::string bytes = sanity_bytes(1000);
  const std::vector<std::int64_t> ends = {10, 10, 403 + 10, 1010, 1010};  // the first begins at 10 and is empty
  std::vector<TensorHash> expected;
  for (const std::size_t piece : {1U, 7U, 64U, 999U, 1000U}) {
    TensorHasher hasher(10, ends);
    for (std::size_t at = 0; at < bytes.size(); at += piece) {
      hasher.add(std::span(bytes).subspan(at, std::min(piece, bytes.size() - at)));
    }
    const std::vector<TensorHash> found = hasher.finish();
    REQUIRE(found.size() == 5);
    CHECK(found[0].hex() == "99aa06d3014798d86001c324468d497f");
    CHECK(found[1] == found[0]);
    CHECK(found[4] == found[0]);
    CHECK(found[2].hex() == "1b6de21e332dd73dcdeb804d65c6dea4");
    if (expected.empty()) expected = found;
    CHECK(found == expected);
  }
}

TEST_CASE("a file's tensors hash as the bytes between their ends") {
  tests::TempDirectory place;
  place.write("data", "head" + sanity_bytes(81) + sanity_bytes(12));
  const std::vector<std::int64_t> ends = {85, 97};
  std::int64_t seen = 0;
  const std::vector<TensorHash> found = hash_tensors(models::FileBytes((place.path() / "data").string()), 4, ends,
                                                     [&seen](std::int64_t bytes) { seen += bytes; });
  REQUIRE(found.size() == 2);
  CHECK(found[0].hex() == "4952f58181ab00425e8bafb9f95fb803");
  CHECK(found[1].hex() == "6e3efd8fc7802b18061a192713f69ad9");
  CHECK(seen == 93);
}

TEST_CASE("hashes are read back as they were written, and from nothing else") {
  const std::vector<TensorHash> hashes = {{1, 2}, {0xFFFFFFFFFFFFFFFF, 0}};
  const std::string text = hashes_text(hashes);
  CHECK(text == "00000000000000010000000000000002\nffffffffffffffff0000000000000000\n");
  CHECK(read_hashes(text, 2) == hashes);
  CHECK(read_hashes(text, 1) == std::nullopt);
  CHECK(read_hashes(text.substr(1), 2) == std::nullopt);
  CHECK(read_hashes(std::string(66, '\0'), 2) == std::nullopt);
  CHECK(read_hashes("", 0)->empty());
}

}  // namespace kvfit::carve
