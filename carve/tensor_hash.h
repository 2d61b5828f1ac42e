// A hash of each tensor's data: XXH3 of 128 bits, written as `xxhsum -H2` and Python's xxhash write it. It finds bytes that
// changed by accident, at the speed of memory; it is no proof against somebody who wants to deceive. The one place that
// knows xxhash.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/file_bytes.h"

namespace kvfit::carve {

struct TensorHash {
  std::uint64_t high = 0, low = 0;
  std::string hex() const;  ///< 32 digits
  friend bool operator==(const TensorHash&, const TensorHash&) = default;
};

/// Takes the data of a file's tensors in the order of the file, in pieces of any size.
class TensorHasher {
 public:
  /// The first tensor begins at `begin`, each ends at its `ends` and the next begins there. `ends` must outlive this.
  TensorHasher(std::int64_t begin, std::span<const std::int64_t> ends);
  void add(std::span<const char> bytes);
  /// One a tensor; all bytes have been added.
  std::vector<TensorHash> finish();

 private:
  void close();  // the tensors that end here
  struct State;
  struct Free {
    void operator()(State* state) const;
  };
  std::unique_ptr<State, Free> state_;
  std::int64_t at_;
  std::span<const std::int64_t> ends_;
  std::vector<TensorHash> done_;
};

/// The same of a file on disk. `progress` gets bytes since the last call and may throw to stop.
std::vector<TensorHash> hash_tensors(const models::FileBytes& file, std::int64_t begin, std::span<const std::int64_t> ends,
                                     const std::function<void(std::int64_t)>& progress);

/// One line a tensor.
std::string hashes_text(std::span<const TensorHash> hashes);
/// Of such a text; nullopt unless it has `count` of them and nothing else.
std::optional<std::vector<TensorHash>> read_hashes(std::string_view text, std::size_t count);

}  // namespace kvfit::carve
