#include "carve/output_shard.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
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

// Number of each kept expert, -1 for the others.
std::vector<std::int32_t> renumber(const std::vector<std::int32_t>& kept, std::int64_t experts) {
  std::vector<std::int32_t> out(static_cast<std::size_t>(experts), -1);
  for (std::size_t i = 0; i < kept.size(); ++i) out[static_cast<std::size_t>(kept[i])] = static_cast<std::int32_t>(i);
  return out;
}

class ShardPlanner {
 public:
  ShardPlanner(const Source& source, const Layout& layout, const Kept& kept, std::int32_t shard)
      : shard_(source.shards[static_cast<std::size_t>(shard)]),
        places_(layout.places[static_cast<std::size_t>(shard)]),
        layout_(layout),
        kept_(kept) {
    for (const std::vector<std::int32_t>& block : kept) new_of_old_.push_back(renumber(block, layout.experts));
  }

  // -1: dropped.
  std::int32_t new_expert(const TensorPlace& place) const {
    return new_of_old_[static_cast<std::size_t>(place.block)][static_cast<std::size_t>(place.expert)];
  }
  bool survives(const TensorPlace& place) const {
    return place.part != Part::dropped && (place.part != Part::expert || new_expert(place) >= 0);
  }

  void plan(OutputShard& out, Padding padding);

 private:
  void tensor(std::uint32_t index);
  void slabs(const HeaderTensor& tensor, const TensorPlace& place, std::int64_t rows, std::int64_t slab);
  void copy(std::int64_t source, std::int64_t bytes, std::int32_t table = -1);
  std::int64_t padded(std::int64_t least, Padding padding) const;

  const Shard& shard_;
  const std::vector<TensorPlace>& places_;
  const Layout& layout_;
  const Kept& kept_;
  std::vector<std::vector<std::int32_t>> new_of_old_;
  std::string text_;
  std::vector<Run> runs_;  // targets relative to the data's begin
  std::int64_t at_ = 0;
  std::int64_t count_ = 0;
  std::int64_t elements_ = 0;
};

void ShardPlanner::copy(std::int64_t source, std::int64_t bytes, std::int32_t table) {
  if (bytes == 0) return;
  source += shard_.header.data_begin();
  if (!runs_.empty() && runs_.back().source + runs_.back().bytes == source && table < 0 && runs_.back().table < 0) {
    runs_.back().bytes += bytes;
  } else {
    runs_.push_back({source, at_, bytes, table});
  }
  at_ += bytes;
}

// `rows` rows of E slabs each.
void ShardPlanner::slabs(const HeaderTensor& tensor, const TensorPlace& place, std::int64_t rows, std::int64_t slab) {
  for (std::int64_t row = 0; row < rows; ++row) {
    for (const std::int32_t old : kept_[static_cast<std::size_t>(place.block)]) {
      copy(tensor.begin + (row * layout_.experts + old) * slab, slab);
    }
  }
}

void ShardPlanner::tensor(std::uint32_t index) {
  const HeaderTensor& tensor = shard_.header.tensors[index];
  const TensorPlace& place = places_[index];
  if (!survives(place)) return;
  const std::span<const std::int64_t> extents = shard_.header.shape(tensor);
  std::vector<std::int64_t> shape(extents.begin(), extents.end());
  const std::int64_t begin = at_;
  if (place.part == Part::rows || place.part == Part::columns) {
    const std::size_t axis = place.part == Part::rows ? 0 : 1;
    const std::int64_t rows = axis == 0 ? 1 : shape[0];
    const std::int64_t keep = static_cast<std::int64_t>(kept_[static_cast<std::size_t>(place.block)].size());
    slabs(tensor, place, rows, tensor.bytes() / (rows * layout_.experts));
    shape[axis] = shape[axis] / layout_.experts * keep;
  } else {
    copy(tensor.begin, tensor.bytes(), place.part == Part::table ? place.block : -1);
  }
  const std::int32_t expert = place.part == Part::expert ? new_expert(place) : -1;
  text_ += format(R"({}{}:{{"dtype":"{}","shape":[{}],"data_offsets":[{},{}]}})", text_.size() > 1 ? "," : "",
                  json_quoted(carved_name(tensor.name, place, expert)), profiles::safetensors_name(tensor.dtype),
                  profiles::join(shape, ","), begin, at_);
  ++count_;
  elements_ += elements_of(shape);
}

std::int64_t ShardPlanner::padded(std::int64_t least, Padding padding) const {
  const std::int64_t shortest = profiles::round_up(least, 8);
  if (padding == Padding::canonical) return shortest;
  // Bytes shareable at each header length modulo the block: 8 + N + target = source.
  std::array<std::int64_t, kShareBlock> gain{};
  for (const Run& run : runs_) {
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

void ShardPlanner::plan(OutputShard& out, Padding padding) {
  text_ = "{";
  if (!shard_.metadata.empty()) text_ += "\"__metadata__\":" + shard_.metadata;
  for (const std::uint32_t index : shard_.order) tensor(index);
  text_ += '}';
  text_.resize(static_cast<std::size_t>(padded(static_cast<std::int64_t>(text_.size()), padding)), ' ');
  if (static_cast<std::int64_t>(text_.size()) > models::kMaxHeaderBytes) {
    throw profiles::Error(profiles::Fault::bug, "a carved header is longer than the format allows");
  }
  for (std::size_t i = 0; i < 8; ++i) out.head += static_cast<char>(static_cast<unsigned char>(text_.size() >> (8 * i)));
  out.head += text_;
  const std::int64_t head = static_cast<std::int64_t>(out.head.size());
  for (Run& run : runs_) run.target += head;
  out.runs = std::move(runs_);
  out.bytes = head + at_;
  out.tensors = count_;
  out.elements = elements_;
}

// "model-00003-of-00007.safetensors" -> "model-", 7
struct NumberedName {
  std::string stem;
  int total = 0;
};
std::optional<NumberedName> numbered(const std::string& name) {
  constexpr std::string_view kTail = ".safetensors";
  constexpr std::size_t kLength = 5 + 4 + 5;  // 00003-of-00007
  if (!name.ends_with(kTail) || name.size() < kTail.size() + kLength) return std::nullopt;
  const std::size_t begin = name.size() - kTail.size() - kLength;
  const std::string_view digits(name.data() + begin, kLength);
  const auto all_digits = [](std::string_view text) {
    return text.find_first_not_of("0123456789") == std::string_view::npos;
  };
  if (!all_digits(digits.substr(0, 5)) || digits.substr(5, 4) != "-of-" || !all_digits(digits.substr(9)))
    return std::nullopt;
  return NumberedName{name.substr(0, begin), std::stoi(std::string(digits.substr(9)))};
}

}  // namespace

std::string carved_name(std::string_view name, const TensorPlace& place, std::int32_t new_expert) {
  if (place.part != Part::expert) return std::string(name);
  return std::string(name.substr(0, place.digits_begin)) + std::to_string(new_expert) +
         std::string(name.substr(place.digits_end));
}

std::vector<std::string> output_names(const Source& source, const Layout& layout, const Kept& kept) {
  std::vector<std::string> out;
  std::map<std::string, std::vector<std::size_t>> sets;  // by stem and total
  for (std::size_t s = 0; s < source.shards.size(); ++s) {
    const ShardPlanner planner(source, layout, kept, static_cast<std::int32_t>(s));
    const bool survives = std::any_of(layout.places[s].begin(), layout.places[s].end(),
                                      [&planner](const TensorPlace& place) { return planner.survives(place); });
    out.push_back(survives ? source.shards[s].name : "");
    const std::optional<NumberedName> name = numbered(source.shards[s].name);
    if (survives && name) sets[format("{}/{}", name->stem, name->total)].push_back(s);
  }
  for (const auto& [ignored, members] : sets) {
    const std::optional<NumberedName> name = numbered(source.shards[members.front()].name);
    if (!name || name->total == static_cast<int>(members.size())) continue;
    for (std::size_t i = 0; i < members.size(); ++i) {
      out[members[i]] = format("{}{:05}-of-{:05}.safetensors", name->stem, i + 1, members.size());
    }
  }
  return out;
}

OutputShard plan_shard(const Source& source, const Layout& layout, const Kept& kept, std::int32_t shard, std::string name,
                       Padding padding) {
  OutputShard out;
  out.name = std::move(name);
  out.shard = shard;
  ShardPlanner(source, layout, kept, shard).plan(out, padding);
  return out;
}

void for_each_output_tensor(const Source& source, const Layout& layout, const Kept& kept, std::int32_t shard,
                            const std::function<void(const std::string& name)>& visit) {
  const ShardPlanner planner(source, layout, kept, shard);
  const Shard& from = source.shards[static_cast<std::size_t>(shard)];
  for (const std::uint32_t index : from.order) {
    const TensorPlace& place = layout.places[static_cast<std::size_t>(shard)][index];
    if (!planner.survives(place)) continue;
    visit(carved_name(from.header.tensors[index].name, place, place.part == Part::expert ? planner.new_expert(place) : -1));
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
