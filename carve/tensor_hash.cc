#include "carve/tensor_hash.h"

#include <xxhash.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "profiles/text.h"
#include "profiles/units.h"

namespace kvfit::carve {
namespace {

constexpr std::int64_t kPiece = 4 * profiles::kMiB;
constexpr std::size_t kLine = 33;  // 32 digits and the line's end

std::optional<std::uint64_t> half(std::string_view digits) {
  std::uint64_t out = 0;
  const char* const end = digits.data() + digits.size();
  const auto [at, error] = std::from_chars(digits.data(), end, out, 16);
  return error == std::errc() && at == end ? std::optional(out) : std::nullopt;
}

}  // namespace

std::string TensorHash::hex() const { return profiles::format("{:016x}{:016x}", high, low); }

struct TensorHasher::State {
  XXH3_state_t* xxh = nullptr;
};

void TensorHasher::Free::operator()(State* state) const {
  XXH3_freeState(state->xxh);
  delete state;
}

TensorHasher::TensorHasher(std::int64_t begin, std::span<const std::int64_t> ends)
    : state_(new State), at_(begin), ends_(ends) {
  state_->xxh = XXH3_createState();
  if (state_->xxh == nullptr) throw std::bad_alloc();
  XXH3_128bits_reset(state_->xxh);
  done_.reserve(ends.size());
  close();
}

void TensorHasher::close() {
  while (done_.size() < ends_.size() && ends_[done_.size()] == at_) {
    const XXH128_hash_t hash = XXH3_128bits_digest(state_->xxh);
    done_.push_back({hash.high64, hash.low64});
    XXH3_128bits_reset(state_->xxh);
  }
}

void TensorHasher::add(std::span<const char> bytes) {
  while (!bytes.empty() && done_.size() < ends_.size()) {
    const std::int64_t left = ends_[done_.size()] - at_;
    const std::span<const char> piece = bytes.first(std::min(bytes.size(), static_cast<std::size_t>(left)));
    XXH3_128bits_update(state_->xxh, piece.data(), piece.size());
    at_ += static_cast<std::int64_t>(piece.size());
    bytes = bytes.subspan(piece.size());
    close();
  }
}

std::vector<TensorHash> TensorHasher::finish() { return std::move(done_); }

std::vector<TensorHash> hash_tensors(const models::FileBytes& file, std::int64_t begin, std::span<const std::int64_t> ends,
                                     const std::function<void(std::int64_t)>& progress) {
  TensorHasher hasher(begin, ends);
  const std::int64_t end = ends.empty() ? begin : ends.back();
  std::vector<char> buffer(static_cast<std::size_t>(std::min(kPiece, end - begin)));
  for (std::int64_t at = begin; at < end; at += kPiece) {
    const std::span<char> piece = std::span(buffer).first(static_cast<std::size_t>(std::min(kPiece, end - at)));
    file.read(piece, at);
    hasher.add(piece);
    if (progress) progress(static_cast<std::int64_t>(piece.size()));
  }
  return hasher.finish();
}

std::string hashes_text(std::span<const TensorHash> hashes) {
  std::string out;
  out.reserve(hashes.size() * kLine);
  for (const TensorHash& hash : hashes) out += hash.hex() + "\n";
  return out;
}

std::optional<std::vector<TensorHash>> read_hashes(std::string_view text, std::size_t count) {
  if (text.size() != count * kLine) return std::nullopt;
  std::vector<TensorHash> out;
  out.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::string_view line = text.substr(i * kLine, kLine);
    const std::optional<std::uint64_t> high = half(line.substr(0, 16));
    const std::optional<std::uint64_t> low = half(line.substr(16, 16));
    if (!high || !low || line.back() != '\n') return std::nullopt;
    out.push_back({*high, *low});
  }
  return out;
}

}  // namespace kvfit::carve
