#include "carve/expert_table.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "models/file_bytes.h"
#include "models/header_scanner.h"
#include "profiles/error.h"
#include "profiles/text.h"
#include "profiles/units.h"

namespace kvfit::carve {
namespace {

using models::HeaderTensor;
using profiles::DType;

std::int64_t entry_at(std::span<const char> bytes, std::size_t i, std::int64_t width) {
  std::int64_t wide = 0;
  std::int32_t narrow = 0;
  if (width == 8) {
    std::memcpy(&wide, bytes.data() + 8 * i, 8);
    return wide;
  }
  std::memcpy(&narrow, bytes.data() + 4 * i, 4);
  return narrow;
}

void put_entry(std::span<char> bytes, std::size_t i, std::int64_t width, std::int32_t value) {
  const std::int64_t wide = value;
  std::memcpy(bytes.data() + static_cast<std::size_t>(width) * i, width == 8 ? static_cast<const void*>(&wide) : &value,
              static_cast<std::size_t>(width));
}

// Bytes of as many rows as a MiB holds, at least one.
std::int64_t whole_rows(std::int64_t row) { return std::max<std::int64_t>(1, profiles::kMiB / row) * row; }

}  // namespace

void for_each_table_piece(const Source& source, const Block& block,
                          const std::function<void(std::span<const std::int64_t>)>& visit) {
  const Shard& shard = source.shards[static_cast<std::size_t>(block.table.shard)];
  const HeaderTensor& tensor = tensor_of(source, block.table);
  const std::int64_t width = profiles::bits(tensor.dtype) / 8;
  const std::int64_t step = whole_rows(shard.header.shape(tensor).back() * width);
  const models::FileBytes file(shard.path);
  std::vector<char> bytes;
  std::vector<std::int64_t> experts;
  for (std::int64_t at = 0; at < tensor.bytes(); at += step) {
    bytes.resize(static_cast<std::size_t>(std::min(step, tensor.bytes() - at)));
    file.read(bytes, shard.header.data_begin() + tensor.begin + at);
    experts.resize(bytes.size() / static_cast<std::size_t>(width));
    for (std::size_t i = 0; i < experts.size(); ++i) {
      experts[i] = entry_at(bytes, i, width);
      if (experts[i] >= 0 && experts[i] < block.experts) continue;
      profiles::fail_input(
          profiles::format("'{}' names expert {} of {}", models::printable(tensor.name), experts[i], block.experts),
          {.file = shard.path}, "the file is damaged");
    }
    visit(experts);
  }
}

void check_table(const Source& source, const Block& block, std::int64_t keep) {
  const Shard& shard = source.shards[static_cast<std::size_t>(block.table.shard)];
  const HeaderTensor& tensor = tensor_of(source, block.table);
  const std::int64_t columns = shard.header.shape(tensor).back();
  if (columns > keep) {
    profiles::fail_input(
        profiles::format("'{}' names {} experts a token, and {} stay", models::printable(tensor.name), columns, keep),
        {.file = shard.path});
  }
  for_each_table_piece(source, block, [](std::span<const std::int64_t>) {});
}

ExpertTable::ExpertTable(const Source& source, const Block& block, std::span<const std::int32_t> kept)
    : new_of_old_(static_cast<std::size_t>(block.experts), -1), nearest_(new_of_old_.size()) {
  const HeaderTensor& tensor = tensor_of(source, block.table);
  entry_bytes_ = profiles::bits(tensor.dtype) / 8;
  columns_ = source.shards[static_cast<std::size_t>(block.table.shard)].header.shape(tensor).back();
  for (std::size_t i = 0; i < kept.size(); ++i)
    new_of_old_[static_cast<std::size_t>(kept[i])] = static_cast<std::int32_t>(i);
  const RouterRows rows(source, block);
  for (std::size_t old = 0; old < nearest_.size(); ++old) {
    if (new_of_old_[old] >= 0) continue;
    std::vector<double> alike;
    for (const std::int32_t other : kept) alike.push_back(rows.cosine(old, static_cast<std::size_t>(other)));
    for (std::size_t i = 0; i < kept.size(); ++i) nearest_[old].push_back(static_cast<std::int32_t>(i));
    std::stable_sort(nearest_[old].begin(), nearest_[old].end(), [&alike](std::int32_t a, std::int32_t b) {
      return alike[static_cast<std::size_t>(a)] > alike[static_cast<std::size_t>(b)];
    });
  }
}

std::int32_t ExpertTable::replacement(std::size_t old, std::span<const std::int64_t> taken) const {
  for (const std::int32_t candidate : nearest_[old]) {
    if (std::find(taken.begin(), taken.end(), candidate) == taken.end()) return candidate;
  }
  throw profiles::Error(profiles::Fault::bug, "a table's row is longer than the kept experts");
}

std::int64_t ExpertTable::piece_bytes() const { return whole_rows(columns_ * entry_bytes_); }

void ExpertTable::rewrite(std::span<char> rows) const {
  const std::size_t columns = static_cast<std::size_t>(columns_);
  const std::size_t count = rows.size() / static_cast<std::size_t>(entry_bytes_);
  std::vector<std::int64_t> now(columns);
  for (std::size_t begin = 0; begin + columns <= count; begin += columns) {
    // Kept experts first: a replacement must not take a number that a later entry of the row has.
    for (std::size_t i = 0; i < columns; ++i) {
      now[i] = new_of_old_.at(static_cast<std::size_t>(entry_at(rows, begin + i, entry_bytes_)));
    }
    for (std::size_t i = 0; i < columns; ++i) {
      if (now[i] < 0) now[i] = replacement(static_cast<std::size_t>(entry_at(rows, begin + i, entry_bytes_)), now);
      put_entry(rows, begin + i, entry_bytes_, static_cast<std::int32_t>(now[i]));
    }
  }
}

ExpertTables expert_tables(const Source& source, const Layout& layout, const std::vector<std::vector<std::int32_t>>& kept) {
  ExpertTables out;
  for (std::size_t b = 0; b < layout.blocks.size(); ++b) {
    if (layout.blocks[b].table.shard >= 0)
      out.try_emplace(static_cast<std::int32_t>(b), source, layout.blocks[b], std::span(kept[b]));
  }
  return out;
}

}  // namespace kvfit::carve
