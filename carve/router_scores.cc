#include "carve/router_scores.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <tuple>
#include <vector>

#include "carve/exact_sum.h"
#include "carve/expert_table.h"
#include "carve/numbers.h"
#include "models/file_bytes.h"
#include "models/header_scanner.h"
#include "profiles/error.h"
#include "profiles/text.h"

namespace kvfit::carve {
namespace {

using models::HeaderTensor;
using profiles::DType;
using profiles::format;

void check_plain(const Source& source, TensorRef ref, std::string_view what) {
  const HeaderTensor& tensor = tensor_of(source, ref);
  if (is_number(tensor.dtype) && tensor.dtype != DType::u8) return;
  profiles::fail_input(format("the {} '{}' is stored as {}, which is no plain number", what, models::printable(tensor.name),
                              profiles::safetensors_name(tensor.dtype)),
                       {.file = source.shards[static_cast<std::size_t>(ref.shard)].path},
                       "--score random or file do not read it");
}

// Calls visit(expert, bytes) for each row of the router.
template <class Visit>
void for_each_row(const Source& source, const Block& block, const Visit& visit) {
  check_plain(source, block.router, "router");
  const Shard& shard = source.shards[static_cast<std::size_t>(block.router.shard)];
  const HeaderTensor& tensor = tensor_of(source, block.router);
  std::vector<char> row(static_cast<std::size_t>(tensor.bytes() / block.experts));
  const models::FileBytes file(shard.path);
  for (std::int64_t e = 0; e < block.experts; ++e) {
    file.read(row, shard.header.data_begin() + tensor.begin + e * static_cast<std::int64_t>(row.size()));
    visit(e, std::span<const char>(row));
  }
}

double dot(std::span<const float> a, std::span<const float> b) {
  double out = 0;
  for (std::size_t i = 0; i < a.size(); ++i) out += static_cast<double>(a[i]) * static_cast<double>(b[i]);
  return out;
}

}  // namespace

std::vector<double> router_norms(const Source& source, const Block& block) {
  const DType type = tensor_of(source, block.router).dtype;
  std::vector<double> out;
  std::vector<double> values;
  for_each_row(source, block, [&](std::int64_t, std::span<const char> row) {
    if (type == DType::bf16) {
      Bf16Squares squares;
      squares.add(row);
      out.push_back(squares.finite() ? std::sqrt(squares.sum()) : std::numeric_limits<double>::quiet_NaN());
      return;
    }
    decode(type, row, values);
    CompensatedSum sum;
    for (const double v : values) sum.add(v * v);
    out.push_back(std::sqrt(sum.value()));
  });
  return out;
}

RouterRows::RouterRows(const Source& source, const Block& block) {
  const DType type = tensor_of(source, block.router).dtype;
  std::vector<double> values;
  for_each_row(source, block, [&](std::int64_t, std::span<const char> row) {
    decode(type, row, values);
    const std::size_t begin = values_.size();
    for (const double v : values) values_.push_back(static_cast<float>(v));
    width_ = values.size();
    const std::span<const float> now = std::span(values_).subspan(begin);
    norms_.push_back(std::sqrt(dot(now, now)));
  });
}

double RouterRows::cosine(std::size_t a, std::size_t b) const {
  const std::span<const float> all = values_;
  const double lengths = norms_[a] * norms_[b];
  return lengths == 0 ? 0 : dot(all.subspan(a * width_, width_), all.subspan(b * width_, width_)) / lengths;
}

std::vector<double> router_diversity(const Source& source, const Block& block) {
  const RouterRows rows(source, block);
  const std::size_t experts = static_cast<std::size_t>(block.experts);
  std::vector<std::tuple<double, std::size_t, std::size_t>> pairs;
  for (std::size_t a = 0; a < experts; ++a) {
    for (std::size_t b = a + 1; b < experts; ++b) pairs.emplace_back(-rows.cosine(a, b), a, b);
  }
  std::sort(pairs.begin(), pairs.end());
  std::vector<double> out(experts, static_cast<double>(experts - 1));
  std::vector<bool> gone(experts);
  double step = 0;
  for (const auto& [ignored, a, b] : pairs) {
    if (gone[a] || gone[b]) continue;
    gone[b] = true;
    out[b] = step++;
  }
  return out;
}

std::vector<double> negated_correction(const Source& source, const Block& block) {
  if (block.correction.shard < 0) {
    profiles::fail_input(format("'{}' has no score correction to rank by", block.prefix), {.file = source.files.directory},
                         "use another --score");
  }
  check_plain(source, block.correction, "score correction");
  const Shard& shard = source.shards[static_cast<std::size_t>(block.correction.shard)];
  const HeaderTensor& tensor = tensor_of(source, block.correction);
  std::vector<char> bytes(static_cast<std::size_t>(tensor.bytes()));
  models::FileBytes(shard.path).read(bytes, shard.header.data_begin() + tensor.begin);
  std::vector<double> out;
  decode(tensor.dtype, bytes, out);
  for (double& v : out) v = -v;
  return out;
}

std::vector<double> table_counts(const Source& source, const Block& block) {
  if (block.table.shard < 0) {
    profiles::fail_input(format("'{}' has no table of token to expert to count in", block.prefix),
                         {.file = source.files.directory}, "use another --score; blocks with a table are counted by any");
  }
  std::vector<double> out(static_cast<std::size_t>(block.experts));
  for_each_table_piece(source, block, [&out](std::span<const std::int64_t> experts) {
    for (const std::int64_t e : experts) out[static_cast<std::size_t>(e)] += 1;
  });
  return out;
}

}  // namespace kvfit::carve
