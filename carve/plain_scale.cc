#include "carve/plain_scale.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "carve/numbers.h"
#include "models/file_bytes.h"

namespace kvfit::carve {
namespace {

using profiles::DType;

constexpr std::int64_t kRun = 64, kEvery = 4;
constexpr std::size_t kBlock = 16;

// One expert's part of a weight tensor as rows.
struct Rows {
  std::int64_t experts = 1, rows = 0, width = 0, row_bytes = 0;
};

Rows rows_of(const Source& source, const ExpertTensor& tensor) {
  const Shard& shard = source.shards[static_cast<std::size_t>(tensor.ref.shard)];
  const models::HeaderTensor& header = shard.header.tensors[tensor.ref.tensor];
  const std::span<const std::int64_t> shape = shard.header.shape(header);
  const bool plain = header.dtype == DType::bf16 || header.dtype == DType::f16 || header.dtype == DType::f32;
  Rows out;
  if (!plain || shape.size() < 2 || header.bytes() == 0) return out;
  out.experts = tensor.expert >= 0 ? 1 : shape[0];
  out.width = shape.back();
  out.row_bytes = out.width * profiles::bits(header.dtype) / 8;
  out.rows = header.bytes() / out.row_bytes / out.experts;
  return out;
}

std::int64_t rows_read(std::int64_t rows) {
  const std::int64_t whole = rows / (kRun * kEvery) * kRun;
  return whole + std::min(kRun, rows % (kRun * kEvery));
}

double peaks(DType type, std::span<const char> row, std::vector<double>& scratch) {
  double out = 0;
  if (type == DType::bf16) {  // magnitudes of bfloat16 are ordered as their bits are
    for (std::size_t at = 0; at < row.size(); at += 2 * kBlock) {
      const std::size_t end = std::min(row.size(), at + 2 * kBlock);
      std::uint16_t peak = 0;
      for (std::size_t i = at; i < end; i += 2) {
        std::uint16_t bits = 0;
        std::memcpy(&bits, row.data() + i, 2);
        peak = std::max(peak, static_cast<std::uint16_t>(bits & 0x7FFFU));
      }
      out += static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(peak) << 16U)) / 6;
    }
    return out;
  }
  decode(type, row, scratch);
  for (std::size_t at = 0; at < scratch.size(); at += kBlock) {
    double peak = 0;
    for (std::size_t i = at; i < std::min(scratch.size(), at + kBlock); ++i) {
      peak = std::isnan(scratch[i]) ? scratch[i] : std::max(peak, std::abs(scratch[i]));
    }
    out += peak / 6;
  }
  return out;
}

}  // namespace

void PlainScale::add(const Source& source, const ExpertTensor& tensor) {
  const Rows rows = rows_of(source, tensor);
  if (rows.rows == 0) return;
  const Shard& shard = source.shards[static_cast<std::size_t>(tensor.ref.shard)];
  const models::HeaderTensor& header = shard.header.tensors[tensor.ref.tensor];
  const models::FileBytes file(shard.path);
  const std::int64_t begin = shard.header.data_begin() + header.begin;
  std::vector<char> buffer;
  std::vector<double> scratch;
  for (std::int64_t e = 0; e < rows.experts; ++e) {
    const std::size_t expert = static_cast<std::size_t>(tensor.expert >= 0 ? tensor.expert : e);
    for (std::int64_t row = 0; row < rows.rows; row += kRun * kEvery) {
      const std::int64_t count = std::min(kRun, rows.rows - row);
      buffer.resize(static_cast<std::size_t>(count * rows.row_bytes));
      file.read(buffer, begin + (e * rows.rows + row) * rows.row_bytes);
      bytes_read_ += count * rows.row_bytes;
      for (std::int64_t r = 0; r < count; ++r) {
        const std::span<const char> one = std::span(buffer).subspan(static_cast<std::size_t>(r * rows.row_bytes),
                                                                    static_cast<std::size_t>(rows.row_bytes));
        sums_[expert] += peaks(header.dtype, one, scratch);
      }
      counts_[expert] += count * ((rows.width + 15) / 16);
    }
  }
}

std::vector<double> PlainScale::means() const {
  std::vector<double> out;
  for (std::size_t e = 0; e < sums_.size(); ++e) {
    if (counts_[e] == 0) return {};
    out.push_back(sums_[e] / static_cast<double>(counts_[e]));
  }
  return out;
}

std::int64_t plain_scale_cost(const Source& source, const ExpertTensor& tensor) {
  const Rows rows = rows_of(source, tensor);
  return rows.experts * rows_read(rows.rows) * rows.row_bytes;
}

}  // namespace kvfit::carve
