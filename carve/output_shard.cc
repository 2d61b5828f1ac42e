#include "carve/output_shard.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "carve/json_spans.h"
#include "models/header_scanner.h"
#include "profiles/error.h"
#include "profiles/text.h"
#include "profiles/units.h"

namespace kvfit::carve {
namespace {

using models::HeaderTensor;
using profiles::format;

class ShardPlanner {
 public:
  explicit ShardPlanner(const Survivors& survivors) : survivors_(survivors) {}

  void add(const TensorSpan& span);
  OutputShard finish(std::string_view metadata, Padding padding);

 private:
  void tensor(std::uint32_t index);
  void slabs(const HeaderTensor& tensor, const TensorPlace& place, std::int64_t rows, std::int64_t slab);
  void copy(std::int64_t source, std::int64_t bytes, std::int32_t table = -1);
  std::int64_t padded(std::int64_t least, Padding padding) const;

  const Survivors& survivors_;
  std::int32_t shard_ = 0;  // that is being read
  std::string text_;        // entries of the header
  OutputShard out_;         // targets and ends relative to the data's begin
  std::int64_t at_ = 0;
};

void ShardPlanner::add(const TensorSpan& span) {
  shard_ = span.shard;
  for (std::uint32_t i = span.first; i < span.last; ++i) tensor(survivors_.shard(shard_).order[i]);
}

void ShardPlanner::copy(std::int64_t source, std::int64_t bytes, std::int32_t table) {
  if (bytes == 0) return;
  source += survivors_.shard(shard_).header.data_begin();
  Run* const last = out_.runs.empty() ? nullptr : &out_.runs.back();
  if (last && last->shard == shard_ && last->source + last->bytes == source && table < 0 && last->table < 0) {
    last->bytes += bytes;
  } else {
    out_.runs.push_back({source, at_, bytes, shard_, table});
  }
  at_ += bytes;
}

// `rows` rows of E slabs each.
void ShardPlanner::slabs(const HeaderTensor& tensor, const TensorPlace& place, std::int64_t rows, std::int64_t slab) {
  for (std::int64_t row = 0; row < rows; ++row) {
    for (const std::int32_t old : survivors_.kept(place)) {
      copy(tensor.begin + (row * survivors_.experts() + old) * slab, slab);
    }
  }
}

void ShardPlanner::tensor(std::uint32_t index) {
  const models::SafetensorsHeader& header = survivors_.shard(shard_).header;
  const HeaderTensor& tensor = header.tensors[index];
  const TensorPlace& place = survivors_.places(shard_)[index];
  if (!survivors_.survives(place)) return;
  const std::int64_t begin = at_;
  if (place.part == Part::rows || place.part == Part::columns) {
    const std::int64_t rows = place.part == Part::rows ? 1 : header.shape(tensor)[0];
    slabs(tensor, place, rows, tensor.bytes() / (rows * survivors_.experts()));
  } else {
    copy(tensor.begin, tensor.bytes(), place.part == Part::table ? place.block : -1);
  }
  const std::vector<std::int64_t> shape = survivors_.shape(header, tensor, place);
  text_ += format(R"({}{}:{{"dtype":"{}","shape":[{}],"data_offsets":[{},{}]}})", text_.empty() ? "" : ",",
                  json_quoted(survivors_.name(tensor, place)), profiles::safetensors_name(tensor.dtype),
                  profiles::join(shape, ","), begin, at_);
  out_.ends.push_back(at_);
  out_.elements += elements_of(shape);
}

std::int64_t ShardPlanner::padded(std::int64_t least, Padding padding) const {
  const std::int64_t shortest = profiles::round_up(least, 8);
  if (padding == Padding::canonical) return shortest;
  // Bytes shareable at each header length modulo the block: 8 + N + target = source.
  std::array<std::int64_t, kShareBlock> gain{};
  for (const Run& run : out_.runs) {
    if (run.bytes < kWorthSharing || run.table >= 0) continue;
    const std::int64_t residue = ((run.source - run.target - 8) % kShareBlock + kShareBlock) % kShareBlock;
    gain[static_cast<std::size_t>(residue)] += run.bytes;
  }
  std::int64_t best = shortest;
  for (std::int64_t length = shortest; length < least + kShareBlock; length += 8) {
    if (gain[static_cast<std::size_t>(length % kShareBlock)] > gain[static_cast<std::size_t>(best % kShareBlock)])
      best = length;
  }
  return best;
}

OutputShard ShardPlanner::finish(std::string_view metadata, Padding padding) {
  std::string head(8, '\0');
  head.reserve(text_.size() + metadata.size() + 2 * kShareBlock);
  head += '{';
  if (!metadata.empty()) head += format("\"__metadata__\":{}{}", metadata, text_.empty() ? "" : ",");
  head += text_;
  head += '}';
  text_ = std::string();
  const std::int64_t length = padded(static_cast<std::int64_t>(head.size()) - 8, padding);
  if (length > models::kMaxHeaderBytes) {
    throw profiles::Error(profiles::Fault::bug, "a carved header is longer than the format allows");
  }
  head.resize(static_cast<std::size_t>(8 + length), ' ');
  for (std::size_t i = 0; i < 8; ++i) {
    head[i] = static_cast<char>(static_cast<unsigned char>(static_cast<std::uint64_t>(length) >> (8 * i)));
  }
  for (Run& run : out_.runs) run.target += 8 + length;
  for (std::int64_t& end : out_.ends) end += 8 + length;
  out_.head = std::move(head);
  out_.bytes = 8 + length + at_;
  return std::move(out_);
}

}  // namespace

OutputShard plan_shard(const Survivors& survivors, const std::vector<TensorSpan>& spans, Padding padding) {
  ShardPlanner planner(survivors);
  for (const TensorSpan& span : spans) planner.add(span);
  return planner.finish(survivors.shard(spans.front().shard).metadata, padding);
}

void for_each_output_tensor(const Survivors& survivors, const std::vector<TensorSpan>& spans,
                            const std::function<void(std::string name)>& visit) {
  for (const TensorSpan& span : spans) {
    const Shard& from = survivors.shard(span.shard);
    for (std::uint32_t i = span.first; i < span.last; ++i) {
      const TensorPlace& place = survivors.places(span.shard)[from.order[i]];
      if (survivors.survives(place)) visit(survivors.name(from.header.tensors[from.order[i]], place));
    }
  }
}

std::int64_t tensor_bytes_at(const Source& source, const Layout& layout, std::int64_t keep) {
  std::int64_t fixed = 0;
  std::int64_t per_expert = 0;
  for (std::size_t s = 0; s < source.shards.size(); ++s) {
    for (std::size_t t = 0; t < layout.places[s].size(); ++t) {
      const std::int64_t bytes = source.shards[s].header.tensors[t].bytes();
      const Part part = layout.places[s][t].part;
      if (part == Part::whole || part == Part::table) fixed += bytes;
      if (part == Part::expert || part == Part::rows || part == Part::columns) per_expert += bytes;
    }
  }
  return fixed + per_expert / layout.experts * keep;
}

}  // namespace kvfit::carve
