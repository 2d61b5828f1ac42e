#include "tests/fakes/fake_memory.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace kvfit::fakes {
namespace {

constexpr std::uint64_t kGranule = std::uint64_t{2} << 20;
constexpr Rule kUnwritten{0x5EED5EED5EED5EED, 0};

std::uint64_t granules(std::uint64_t bytes) { return (bytes + kGranule - 1) / kGranule * kGranule; }

std::string bytes_of(const Rule& rule, std::uint64_t offset, std::uint64_t length) {
  std::string out(length, '\0');
  for (std::uint64_t i = 0; i < length; ++i) {
    const std::uint64_t word = rule.first + (offset + i) / 8 * rule.step;
    out[i] = static_cast<char>(word >> ((offset + i) % 8 * 8) & 255);
  }
  return out;
}

}  // namespace

std::uint64_t FakeMemory::allocate(std::uint64_t bytes) {
  if (bytes == 0) return 0;
  const std::uint64_t address = next_;
  next_ += granules(bytes) + kGranule;
  Block block{.size = bytes, .number = count_++, .ranges = {}};
  block.ranges[0] = {.length = bytes, .ruled = true, .rule = kUnwritten, .bytes = {}};
  blocks_[address] = std::move(block);
  live_bytes_ += granules(bytes);
  peak_bytes_ = std::max(peak_bytes_, live_bytes_);
  return address;
}

bool FakeMemory::release(std::uint64_t address) {
  const std::map<std::uint64_t, Block>::iterator found = blocks_.find(address);
  if (found == blocks_.end()) return false;
  live_bytes_ -= granules(found->second.size);
  blocks_.erase(found);
  return true;
}

void FakeMemory::release_all() {
  blocks_.clear();
  live_bytes_ = 0;
}

bool FakeMemory::holds(std::uint64_t address, std::uint64_t bytes) const {
  std::map<std::uint64_t, Block>::const_iterator found = blocks_.upper_bound(address);
  if (found == blocks_.begin()) return false;
  --found;
  return address - found->first + bytes <= found->second.size;
}

std::uint64_t FakeMemory::base_of(std::uint64_t address) const { return std::prev(blocks_.upper_bound(address))->first; }

std::uint64_t FakeMemory::number_of(std::uint64_t address) const {
  return std::prev(blocks_.upper_bound(address))->second.number;
}

FakeMemory::Block& FakeMemory::block_at(std::uint64_t address, std::uint64_t& offset) {
  const std::map<std::uint64_t, Block>::iterator found = std::prev(blocks_.upper_bound(address));
  offset = address - found->first;
  return found->second;
}

// Makes a range begin at `offset`.
void FakeMemory::split(Block& block, std::uint64_t offset) {
  if (offset >= block.size || block.ranges.contains(offset)) return;
  const std::map<std::uint64_t, Range>::iterator before = std::prev(block.ranges.upper_bound(offset));
  Range& range = before->second;
  const std::uint64_t kept = offset - before->first;
  Range rest{.length = range.length - kept, .ruled = range.ruled, .rule = range.rule, .bytes = {}};
  if (range.ruled && kept % 8 == 0) {
    rest.rule.first = range.rule.first + kept / 8 * range.rule.step;
  } else {
    const std::string all = range.ruled ? bytes_of(range.rule, 0, range.length) : range.bytes;
    range.ruled = rest.ruled = false;
    range.bytes = all.substr(0, kept);
    rest.bytes = all.substr(kept);
  }
  range.length = kept;
  block.ranges[offset] = std::move(rest);
}

void FakeMemory::put(Block& block, std::uint64_t offset, Range range) {
  split(block, offset);
  split(block, offset + range.length);
  block.ranges.erase(block.ranges.lower_bound(offset), block.ranges.lower_bound(offset + range.length));
  block.ranges[offset] = std::move(range);
}

void FakeMemory::write_rule(std::uint64_t address, std::uint64_t bytes, Rule rule) {
  std::uint64_t offset = 0;
  Block& block = block_at(address, offset);
  put(block, offset, {.length = bytes, .ruled = true, .rule = rule, .bytes = {}});
}

void FakeMemory::write(std::uint64_t address, std::string_view bytes) {
  std::uint64_t offset = 0;
  Block& block = block_at(address, offset);
  put(block, offset, {.length = bytes.size(), .ruled = false, .rule = {}, .bytes = std::string(bytes)});
}

void FakeMemory::visit(std::uint64_t address, std::uint64_t bytes,
                       const std::function<void(std::uint64_t, std::uint64_t, Rule)>& rule,
                       const std::function<void(std::uint64_t, std::string_view)>& bytes_piece) const {
  const std::map<std::uint64_t, Block>::const_iterator found = std::prev(blocks_.upper_bound(address));
  const Block& block = found->second;
  const std::uint64_t offset = address - found->first, end = offset + bytes;
  for (std::map<std::uint64_t, Range>::const_iterator at = std::prev(block.ranges.upper_bound(offset));
       at != block.ranges.end() && at->first < end; ++at) {
    const std::uint64_t from = std::max(offset, at->first), to = std::min(end, at->first + at->second.length);
    const std::uint64_t inside = from - at->first;
    const Range& range = at->second;
    if (!range.ruled) {
      bytes_piece(from - offset, std::string_view(range.bytes).substr(inside, to - from));
    } else if (inside % 8 == 0) {
      rule(from - offset, to - from, {range.rule.first + inside / 8 * range.rule.step, range.rule.step});
    } else {
      bytes_piece(from - offset, bytes_of(range.rule, inside, to - from));
    }
  }
}

std::string FakeMemory::read(std::uint64_t address, std::uint64_t bytes) const {
  std::string out;
  visit(
      address, bytes, [&out](std::uint64_t, std::uint64_t length, Rule rule) { out += bytes_of(rule, 0, length); },
      [&out](std::uint64_t, std::string_view piece) { out += piece; });
  return out;
}

}  // namespace kvfit::fakes
