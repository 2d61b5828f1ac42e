#include "carve/survivors.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kvfit::carve {

using models::HeaderTensor;

std::string carved_name(std::string_view name, const TensorPlace& place, std::int32_t new_expert) {
  if (place.part != Part::expert) return std::string(name);
  return std::string(name.substr(0, place.digits_begin)) + std::to_string(new_expert) +
         std::string(name.substr(place.digits_end));
}

Survivors::Survivors(const Source& source, const Layout& layout, const Kept& kept)
    : source_(source), layout_(layout), kept_(kept) {
  for (const std::vector<std::int32_t>& block : kept) {
    std::vector<std::int32_t>& numbers = new_of_old_.emplace_back(static_cast<std::size_t>(layout.experts), -1);
    for (std::size_t i = 0; i < block.size(); ++i)
      numbers[static_cast<std::size_t>(block[i])] = static_cast<std::int32_t>(i);
  }
}

std::int32_t Survivors::new_expert(const TensorPlace& place) const {
  return new_of_old_[static_cast<std::size_t>(place.block)][static_cast<std::size_t>(place.expert)];
}

bool Survivors::survives(const TensorPlace& place) const {
  return place.part != Part::dropped && (place.part != Part::expert || new_expert(place) >= 0);
}

const std::vector<std::int32_t>& Survivors::kept(const TensorPlace& place) const {
  return kept_[static_cast<std::size_t>(place.block)];
}

std::string Survivors::name(const HeaderTensor& tensor, const TensorPlace& place) const {
  return carved_name(tensor.name, place, place.part == Part::expert ? new_expert(place) : -1);
}

std::vector<std::int64_t> Survivors::shape(const models::SafetensorsHeader& header, const HeaderTensor& tensor,
                                           const TensorPlace& place) const {
  const std::span<const std::int64_t> extents = header.shape(tensor);
  std::vector<std::int64_t> out(extents.begin(), extents.end());
  if (place.part == Part::rows || place.part == Part::columns) {
    std::int64_t& axis = out[place.part == Part::rows ? 0 : 1];
    axis = axis / layout_.experts * static_cast<std::int64_t>(kept(place).size());
  }
  return out;
}

std::int64_t Survivors::bytes(const HeaderTensor& tensor, const TensorPlace& place) const {
  if (place.part != Part::rows && place.part != Part::columns) return tensor.bytes();
  return tensor.bytes() / layout_.experts * static_cast<std::int64_t>(kept(place).size());
}

}  // namespace kvfit::carve
