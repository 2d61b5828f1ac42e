#include "models/trellis.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string_view>
#include <system_error>

namespace kvfit::models {
namespace {

using profiles::round_up;

constexpr std::int64_t kTile = 128;
constexpr std::int64_t kMarker = 4;         // bytes of mcg or mul1
constexpr std::int64_t kStatesPerBit = 16;  // trellis int16 [in/16, out/16, 16 * bits]

}  // namespace

Bytes trellis_bytes(std::int64_t inputs, std::int64_t outputs, int bits) {
  const std::int64_t in = round_up(inputs, kTile);
  const std::int64_t out = round_up(outputs, kTile);
  return Bytes(profiles::checked_mul(profiles::checked_mul(in, out), bits) / 8 + 2 * in + 2 * out + kMarker);
}

Bytes sliced_expert_bytes(std::int64_t hidden, std::int64_t intermediate, std::int64_t ranks, int bits, bool shared_h) {
  const std::int64_t slice = profiles::cdiv(intermediate, ranks);
  Bytes rank = trellis_bytes(hidden, slice, bits) * 2 + trellis_bytes(slice, hidden, bits);
  if (shared_h) rank -= Bytes(6 * hidden);
  return rank * ranks;
}

bool can_encode(std::int64_t inputs, std::int64_t outputs) {
  return inputs > 0 && outputs > 0 && inputs % kTile == 0 && outputs % kTile == 0;
}

bool can_mxfp8(std::int64_t inputs, std::int64_t outputs) {
  constexpr std::int64_t kGroup = 32;
  return inputs >= kTile && outputs >= kTile && inputs % kGroup == 0;
}

int slice_rank(std::string_view name) {
  constexpr std::string_view kMark = ".rank";
  const std::size_t at = name.rfind(kMark);
  if (at == std::string_view::npos) return -1;
  const std::string_view digits = name.substr(at + kMark.size());
  int out = -1;
  const std::from_chars_result read = std::from_chars(digits.data(), digits.data() + digits.size(), out);
  return read.ec == std::errc() && read.ptr != digits.data() && *read.ptr == '.' ? out : -1;
}

TrellisLayout trellis_layout(const TensorInventory& inventory) {
  TrellisLayout out;
  std::set<int> bits;
  for (const Tensor& tensor : inventory.tensors) {
    if (!tensor.name.ends_with(".trellis") || tensor.shape.empty()) continue;
    out.ranks = std::max<std::int64_t>(out.ranks, slice_rank(tensor.name) + 1);
    if (tensor.role == Role::expert) bits.insert(static_cast<int>(tensor.shape.back() / kStatesPerBit));
  }
  out.expert_bits.assign(bits.begin(), bits.end());
  return out;
}

}  // namespace kvfit::models
