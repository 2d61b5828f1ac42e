#include "carve/expert_reader.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "carve/expert_names.h"
#include "models/file_bytes.h"
#include "profiles/units.h"

namespace kvfit::carve {
namespace {

using models::HeaderTensor;
using profiles::DType;
using std::string_view;

constexpr std::int64_t kPiece = 4 * profiles::kMiB;

bool is_scale_type(DType type) {
  return type == DType::f8_e4m3 || type == DType::f8_e8m0 || type == DType::bf16 || type == DType::f16 || type == DType::f32;
}

Content content_of(string_view rest, const HeaderTensor& tensor) {
  if (rest == "weight_scale_2" || rest == "scale_2") return Content::global_scale;
  if (rest == "weight_global_scale" || rest == "global_scale") return Content::inverse_global_scale;
  const bool scale =
      rest == "weight_scale" || rest == "weight_scale_inv" || rest == "scale_inv" || rest == "scale" || rest == "scales";
  if (scale && (is_scale_type(tensor.dtype) || (rest == "scales" && tensor.dtype == DType::u8))) return Content::scale;
  const bool weight = rest.empty() || rest == "weight" || rest == "weight_packed" || rest == "packed" || rest == "blocks";
  return weight ? Content::weight : Content::other;
}

}  // namespace

void for_each_expert_tensor(const Source& source, const Layout& layout,
                            const std::function<void(const ExpertTensor&)>& visit) {
  for (std::size_t s = 0; s < source.shards.size(); ++s) {
    const Shard& shard = source.shards[s];
    for (const std::uint32_t t : shard.order) {
      const TensorPlace& place = layout.places[s][t];
      if (place.block < 0 || (place.part != Part::expert && place.part != Part::rows)) continue;
      const HeaderTensor& tensor = shard.header.tensors[t];
      ExpertTensor out{.ref = {static_cast<std::int32_t>(s), t}, .block = place.block, .expert = place.expert};
      string_view rest;
      if (place.part == Part::expert) {
        const std::optional<ExpertName> name = parse_expert_name(tensor.name);
        if (!name) continue;
        out.projection = name->projection;
        rest = name->rest;
      } else {
        const std::optional<StackName> name = parse_stack_name(tensor.name);
        if (!name) continue;  // a router or a vector
        out.projection = name->projection;
        rest = name->rest;
      }
      out.content = content_of(rest, tensor);
      visit(out);
    }
  }
}

void PieceReader::read(const ExpertTensor& tensor, const std::function<void(std::int32_t, std::span<const char>)>& visit) {
  const Shard& shard = source_.shards[static_cast<std::size_t>(tensor.ref.shard)];
  const HeaderTensor& header = shard.header.tensors[tensor.ref.tensor];
  const models::FileBytes& file = shard_file(tensor.ref.shard);
  const std::int64_t begin = shard.header.data_begin() + header.begin;
  const std::int64_t experts = tensor.expert >= 0 ? 1 : layout_.blocks[static_cast<std::size_t>(tensor.block)].experts;
  const std::int64_t slab = header.bytes() / experts;
  const std::span<const std::int64_t> shape = shard.header.shape(header);
  // Pieces end between rows of the last extent, so that blocks along a row are never cut.
  const std::int64_t row =
      shape.empty() || shape.back() == 0 ? slab : std::max<std::int64_t>(1, shape.back() * profiles::bits(header.dtype) / 8);
  const std::int64_t step = std::max<std::int64_t>(row, kPiece / row * row);
  for (std::int64_t e = 0; e < experts; ++e) {
    for (std::int64_t at = 0; at < slab; at += step) {
      const std::int64_t size = std::min(step, slab - at);
      buffer_.resize(static_cast<std::size_t>(size));
      file.read(buffer_, begin + e * slab + at);
      bytes_read_ += size;
      visit(tensor.expert >= 0 ? tensor.expert : static_cast<std::int32_t>(e), buffer_);
    }
  }
}

const models::FileBytes& PieceReader::shard_file(std::int32_t shard) {
  if (shard != open_shard_) {
    file_.emplace(source_.shards[static_cast<std::size_t>(shard)].path);
    open_shard_ = shard;
  }
  return *file_;
}

}  // namespace kvfit::carve
