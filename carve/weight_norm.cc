#include "carve/weight_norm.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "carve/numbers.h"
#include "models/file_bytes.h"
#include "models/header_scanner.h"
#include "profiles/error.h"
#include "profiles/text.h"
#include "profiles/units.h"

namespace kvfit::carve {
namespace {

using models::HeaderTensor;
using profiles::DType;

constexpr std::int64_t kRowBytes = profiles::kMiB;  // rows are read this many bytes at a time

constexpr int kSteps = 12;  // of power iteration

constexpr const char* kOthers = "use --score kirigami, router-norm, random or file";

bool is_packed_fp4(const HeaderTensor& tensor) { return tensor.dtype == DType::u8 || tensor.dtype == DType::f4; }

std::int64_t tile(std::int64_t extent, std::int64_t scales) {
  return static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(profiles::cdiv(extent, scales))));
}

}  // namespace

// One expert's matrix: weights row by row, and the scale of each.
struct WeightNorms::Matrix {
  std::int64_t rows = 0, columns = 0;
  std::vector<double> scales;  // empty = 1
  std::int64_t scale_rows = 1, scale_columns = 1;
  double global = 1;

  double scale_at(std::int64_t row, std::int64_t column) const {
    if (scales.empty()) return global;
    // A scale covers 128 rows of a block format, one of a channel format, all of a tensor's: always a power of two, and the
    // last block may be short.
    const std::int64_t r = row / tile(rows, scale_rows);
    const std::int64_t c = column / tile(columns, scale_columns);
    return scales[static_cast<std::size_t>(r * scale_columns + c)] * global;
  }
};

WeightNorms::WeightNorms(const Source& source, const Layout& layout, bool ranks)
    : source_(source),
      layout_(layout),
      ranks_(ranks),
      sums_(layout.blocks.size() * static_cast<std::size_t>(layout.experts)) {
  for_each_expert_tensor(source, layout, [this](const ExpertTensor& tensor) {
    Scales& scales = scales_[{tensor.block, tensor.expert, std::string(tensor.projection)}];
    if (tensor.content == Content::scale) scales.scale = tensor.ref;
    if (tensor.content == Content::global_scale || tensor.content == Content::inverse_global_scale) {
      scales.global = tensor.ref;
      scales.inverse = tensor.content == Content::inverse_global_scale;
    }
  });
}

std::vector<double> WeightNorms::slab_numbers(TensorRef ref, std::int64_t slab, std::int64_t slabs) {
  const Shard& shard = source_.shards[static_cast<std::size_t>(ref.shard)];
  const HeaderTensor& tensor = shard.header.tensors[ref.tensor];
  std::vector<char> bytes(static_cast<std::size_t>(tensor.bytes() / slabs));
  models::FileBytes(shard.path).read(bytes, shard.header.data_begin() + tensor.begin + slab * (tensor.bytes() / slabs));
  bytes_read_ += static_cast<std::int64_t>(bytes.size());
  std::vector<double> out;
  decode(tensor.dtype, bytes, out);
  return out;
}

void WeightNorms::visit(const ExpertTensor& tensor, std::int64_t slab, const Visit& visit) {
  const Shard& shard = source_.shards[static_cast<std::size_t>(tensor.ref.shard)];
  const HeaderTensor& header = shard.header.tensors[tensor.ref.tensor];
  const std::span<const std::int64_t> shape = shard.header.shape(header);
  const std::int64_t slabs = tensor.expert >= 0 ? 1 : layout_.experts;
  const bool fp4 = is_packed_fp4(header);
  const std::int64_t row_bytes = shape.back() * profiles::bits(header.dtype) / 8;
  Matrix matrix{.rows = header.bytes() / slabs / row_bytes,
                .columns = row_bytes * 8 / (fp4 ? 4 : profiles::bits(header.dtype))};
  const Scales& scales = scales_[{tensor.block, tensor.expert, std::string(tensor.projection)}];
  if (scales.scale.shard >= 0) {
    const Shard& other = source_.shards[static_cast<std::size_t>(scales.scale.shard)];
    const std::span<const std::int64_t> extents = other.header.shape(tensor_of(source_, scales.scale));
    matrix.scales = slab_numbers(scales.scale, slab, slabs);
    const std::int64_t count = static_cast<std::int64_t>(matrix.scales.size());
    matrix.scale_columns = extents.empty() || count == 1 ? 1 : extents.back();
    matrix.scale_rows = count / std::max<std::int64_t>(1, matrix.scale_columns);
  }
  if (scales.global.shard >= 0) {
    const double global = slab_numbers(scales.global, slab, slabs).at(0);
    matrix.global = scales.inverse ? 1 / global : global;
  }
  const models::FileBytes file(shard.path);
  const std::int64_t step = std::max<std::int64_t>(1, kRowBytes / row_bytes);
  std::vector<char> bytes;
  std::vector<double> values;
  for (std::int64_t row = 0; row < matrix.rows; row += step) {
    bytes.resize(static_cast<std::size_t>(std::min(step, matrix.rows - row) * row_bytes));
    file.read(bytes, shard.header.data_begin() + header.begin + (slab * matrix.rows + row) * row_bytes);
    bytes_read_ += static_cast<std::int64_t>(bytes.size());
    if (fp4) {
      decode_fp4(bytes, values);
    } else {
      decode(header.dtype, bytes, values);
    }
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::int64_t at = static_cast<std::int64_t>(i);
      values[i] *= matrix.scale_at(row + at / matrix.columns, at % matrix.columns);
    }
    visit(values, static_cast<std::size_t>(matrix.columns));
  }
}

void WeightNorms::add_sums(const ExpertTensor& tensor, std::int64_t slab, Sums& sums) {
  visit(tensor, slab, [&sums](std::span<const double> weights, std::size_t) {
    for (const double weight : weights) {
      sums.absolute += std::abs(weight);
      sums.squares += weight * weight;
    }
    sums.count += static_cast<std::int64_t>(weights.size());
  });
}

// |W|_F^2 / |W|_2^2; the spectral norm by power iteration on W^T W, row by row, so that no matrix is held.
void WeightNorms::add_rank(const ExpertTensor& tensor, std::int64_t slab, Sums& sums) {
  std::vector<double> direction;
  std::vector<double> next;
  double squares = 0;
  double length = 0;
  for (int step = 0; step < kSteps; ++step) {
    squares = 0;
    visit(tensor, slab, [&](std::span<const double> weights, std::size_t columns) {
      if (direction.empty()) direction.assign(columns, 1 / std::sqrt(static_cast<double>(columns)));
      next.resize(columns);
      for (std::size_t begin = 0; begin < weights.size(); begin += columns) {
        const std::span<const double> row = weights.subspan(begin, columns);
        const double along = std::inner_product(row.begin(), row.end(), direction.begin(), 0.0);
        for (std::size_t i = 0; i < columns; ++i) next[i] += along * row[i];
        squares += std::inner_product(row.begin(), row.end(), row.begin(), 0.0);
      }
    });
    length = std::sqrt(std::inner_product(next.begin(), next.end(), next.begin(), 0.0));
    for (std::size_t i = 0; i < next.size(); ++i) direction[i] = length == 0 ? 0 : next[i] / length;
    next.assign(next.size(), 0);
  }
  sums.ranks += length == 0 ? 0 : squares / length;
  sums.count += 1;
}

void WeightNorms::add(const ExpertTensor& tensor) {
  const Shard& shard = source_.shards[static_cast<std::size_t>(tensor.ref.shard)];
  const HeaderTensor& header = shard.header.tensors[tensor.ref.tensor];
  const Scales& scales = scales_[{tensor.block, tensor.expert, std::string(tensor.projection)}];
  const bool fp4 =
      is_packed_fp4(header) && scales.scale.shard >= 0 && tensor_of(source_, scales.scale).dtype == DType::f8_e4m3;
  const bool plain = header.dtype == DType::bf16 || header.dtype == DType::f16 || header.dtype == DType::f32 ||
                     header.dtype == DType::f8_e4m3;
  if ((!fp4 && !plain) || shard.header.shape(header).size() < 2 || header.bytes() == 0) {
    profiles::fail_input(profiles::format("'{}' is stored as {}, which this score cannot read",
                                          models::printable(header.name), profiles::safetensors_name(header.dtype)),
                         {.file = shard.path}, kOthers);
  }
  const std::int64_t slabs = tensor.expert >= 0 ? 1 : layout_.experts;
  for (std::int64_t slab = 0; slab < slabs; ++slab) {
    const std::size_t expert = static_cast<std::size_t>(tensor.expert >= 0 ? tensor.expert : slab);
    Sums& sums = sums_[static_cast<std::size_t>(tensor.block) * static_cast<std::size_t>(layout_.experts) + expert];
    ranks_ ? add_rank(tensor, slab, sums) : add_sums(tensor, slab, sums);
  }
}

void WeightNorms::read(const std::function<void(std::int64_t)>& progress) {
  for_each_expert_tensor(source_, layout_, [&](const ExpertTensor& tensor) {
    if (tensor.content != Content::weight) return;
    add(tensor);
    progress(bytes_read_);
  });
  for (std::size_t i = 0; i < sums_.size(); ++i) {
    if (sums_[i].count > 0) continue;
    const std::size_t experts = static_cast<std::size_t>(layout_.experts);
    profiles::fail_input(profiles::format("expert {} of '{}' has no weights that this score can read", i % experts,
                                          layout_.blocks[i / experts].prefix),
                         {.file = source_.files.directory}, kOthers);
  }
}

const WeightNorms::Sums& WeightNorms::at(std::size_t block, std::size_t expert) const {
  return sums_[block * static_cast<std::size_t>(layout_.experts) + expert];
}

std::vector<double> WeightNorms::frobenius(std::size_t block) const {
  std::vector<double> out;
  for (std::size_t e = 0; e < static_cast<std::size_t>(layout_.experts); ++e) out.push_back(std::sqrt(at(block, e).squares));
  return out;
}

std::vector<double> WeightNorms::stable_rank(std::size_t block) const {
  std::vector<double> out;
  for (std::size_t e = 0; e < static_cast<std::size_t>(layout_.experts); ++e) {
    out.push_back(at(block, e).ranks / static_cast<double>(at(block, e).count));
  }
  return out;
}

std::vector<double> WeightNorms::aimer(std::size_t block) const {
  std::vector<double> out;
  for (std::size_t e = 0; e < static_cast<std::size_t>(layout_.experts); ++e) {
    const Sums& sums = at(block, e);
    const double count = static_cast<double>(sums.count);
    out.push_back(-(sums.absolute / count) / std::sqrt(sums.squares / count));
  }
  return out;
}

}  // namespace kvfit::carve
