// A set of names that knows where each stands: an index file has a hundred thousand, and a general hash table would cost a
// node, an allocation and a cache miss for each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

namespace kvfit::models {

/// Open addressing over (part of the hash, position); the names themselves stay with their owner.
class NameTable {
 public:
  explicit NameTable(std::size_t expected = 0) { rehash(expected); }

  /// `name_at(i)`: the name of position i. False, and nothing changes, when the name is there already.
  template <class NameAt>
  bool insert(std::string_view name, std::uint32_t position, const NameAt& name_at) {
    if ((size_ + 1) * 2 > slots_.size()) rehash(size_ * 2 + 8);
    const std::uint32_t hash = hash_of(name);
    std::size_t i = hash & mask_;
    for (; slots_[i].position != kFree; i = (i + 1) & mask_) {
      if (slots_[i].hash == hash && name_at(slots_[i].position) == name) return false;
    }
    slots_[i] = {hash, position};
    ++size_;
    return true;
  }

  template <class NameAt>
  std::optional<std::uint32_t> find(std::string_view name, const NameAt& name_at) const {
    const std::uint32_t hash = hash_of(name);
    for (std::size_t i = hash & mask_; slots_[i].position != kFree; i = (i + 1) & mask_) {
      if (slots_[i].hash == hash && name_at(slots_[i].position) == name) return slots_[i].position;
    }
    return std::nullopt;
  }

 private:
  static constexpr std::uint32_t kFree = 0xFFFFFFFF;
  struct Slot {
    std::uint32_t hash = 0, position = kFree;
  };

  static std::uint32_t hash_of(std::string_view name) {
    const std::size_t hash = std::hash<std::string_view>()(name);
    return static_cast<std::uint32_t>(hash ^ (hash >> 32U));
  }

  void rehash(std::size_t expected) {
    std::size_t slots = 16;
    while (slots < expected * 2) slots *= 2;
    std::vector<Slot> old(slots);
    old.swap(slots_);
    mask_ = slots - 1;
    for (const Slot& slot : old) {
      if (slot.position == kFree) continue;
      std::size_t i = slot.hash & mask_;
      while (slots_[i].position != kFree) i = (i + 1) & mask_;
      slots_[i] = slot;
    }
  }

  std::vector<Slot> slots_;
  std::size_t mask_ = 0;
  std::size_t size_ = 0;
};

}  // namespace kvfit::models
