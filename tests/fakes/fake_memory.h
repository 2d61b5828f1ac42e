// Device memory that costs the host next to nothing: what the fill kernel writes is kept as a rule (first, step), what is
// copied is kept as bytes. A test of 22 GiB is a few hundred ranges.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace kvfit::fakes {

inline constexpr std::uint64_t kFirstAddress = std::uint64_t{1} << 44;

/// Words of 8 bytes: word i is first + i * step.
struct Rule {
  std::uint64_t first = 0, step = 0;
};

class FakeMemory {
 public:
  /// An address, or 0 when `bytes` is 0. Contents are not what anybody wrote.
  std::uint64_t allocate(std::uint64_t bytes);
  bool release(std::uint64_t address);
  void release_all();
  bool holds(std::uint64_t address, std::uint64_t bytes) const;

  std::uint64_t live_bytes() const { return live_bytes_; }  ///< in granules of 2 MiB, as the driver gives them
  std::uint64_t peak_bytes() const { return peak_bytes_; }
  std::size_t live() const { return blocks_.size(); }
  /// Position of the block in the order of allocation, from 0.
  std::uint64_t number_of(std::uint64_t address) const;
  std::uint64_t base_of(std::uint64_t address) const;

  void write_rule(std::uint64_t address, std::uint64_t bytes, Rule rule);
  void write(std::uint64_t address, std::string_view bytes);
  std::string read(std::uint64_t address, std::uint64_t bytes) const;

  /// Calls `rule` or `bytes` for each piece of the range, in order; `at` is its offset in the range.
  void visit(std::uint64_t address, std::uint64_t bytes,
             const std::function<void(std::uint64_t at, std::uint64_t, Rule)>& rule,
             const std::function<void(std::uint64_t at, std::string_view)>& bytes_piece) const;

 private:
  struct Range {
    std::uint64_t length = 0;
    bool ruled = true;
    Rule rule;
    std::string bytes;
  };
  struct Block {
    std::uint64_t size = 0, number = 0;
    std::map<std::uint64_t, Range> ranges;  ///< by offset; they cover the block
  };
  Block& block_at(std::uint64_t address, std::uint64_t& offset);
  static void split(Block& block, std::uint64_t offset);
  static void put(Block& block, std::uint64_t offset, Range range);

  std::map<std::uint64_t, Block> blocks_;
  std::uint64_t next_ = kFirstAddress, count_ = 0, live_bytes_ = 0, peak_bytes_ = 0;
};

}  // namespace kvfit::fakes
