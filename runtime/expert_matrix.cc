#include "runtime/expert_matrix.h"

#include <array>
#include <cstring>
#include <map>
#include <span>
#include <string_view>
#include <utility>

#include "models/file_bytes.h"
#include "models/model.h"
#include "models/tensor_inventory.h"

namespace kvfit::runtime {
namespace {

using models::HeaderTensor;
using models::SafetensorsHeader;
using profiles::DType;

constexpr std::int64_t kMostBytes = std::int64_t{64} << 20;  // of one matrix; larger ones are left alone
constexpr std::uint32_t kGroup = 16;                         // columns a scale covers

struct Layout {
  std::string_view weight, scale, global;
  bool divides = false;
};
constexpr std::array kLayouts = {Layout{".weight", ".weight_scale", ".weight_scale_2", false},
                                 Layout{".weight_packed", ".weight_scale", ".weight_global_scale", true}};

struct Place {
  std::size_t file = 0;
  const HeaderTensor* tensor = nullptr;
};
using Places = std::map<std::string, Place, std::less<>>;

std::string bytes_of(const std::vector<SafetensorsHeader>& files, const Place& place, std::int64_t count) {
  const SafetensorsHeader& file = files[place.file];
  std::string out(static_cast<std::size_t>(count), '\0');
  models::FileBytes(file.file).read(out, file.data_begin() + place.tensor->begin);
  return out;
}

bool is_expert(std::string_view name) {
  const models::NameParts parts = models::classify(name, models::Model{});
  return parts.role == models::Role::expert || parts.draft_role == models::Role::expert;
}

// Rows and columns of the last two extents; {0, 0} when it is no matrix of this format.
std::pair<std::int64_t, std::int64_t> extents(const SafetensorsHeader& file, const HeaderTensor& weight,
                                              const HeaderTensor& scale) {
  const std::span<const std::int64_t> packed = file.shape(weight);
  const bool types = (weight.dtype == DType::u8 || weight.dtype == DType::f4) && scale.dtype == DType::f8_e4m3;
  if (!types || packed.size() < 2) return {0, 0};
  const std::int64_t rows = packed[packed.size() - 2];
  const std::int64_t columns = packed.back() * (weight.dtype == DType::u8 ? 2 : 1);
  const std::int64_t slabs = rows > 0 && columns > 0 ? weight.bytes() / (rows * columns / 2) : 0;
  const bool fits = slabs > 0 && columns % kGroup == 0 && scale.bytes() == slabs * rows * (columns / kGroup);
  return fits && rows * columns / 2 <= kMostBytes ? std::pair{rows, columns} : std::pair<std::int64_t, std::int64_t>{0, 0};
}

float global_of(const std::vector<SafetensorsHeader>& files, const Place& place, bool divides) {
  if (place.tensor->dtype != DType::f32 || place.tensor->bytes() < 4) return 1;
  float value = 1;
  std::memcpy(&value, bytes_of(files, place, 4).data(), sizeof value);
  return divides ? 1 / value : value;
}

std::optional<ExpertMatrix> matrix_at(const std::vector<SafetensorsHeader>& files, const Places& places,
                                      std::string_view name, const Layout& layout) {
  if (!name.ends_with(layout.weight) || !is_expert(name)) return std::nullopt;
  const std::string module(name.substr(0, name.size() - layout.weight.size()));
  const Places::const_iterator weight = places.find(name);
  const Places::const_iterator scale = places.find(module + std::string(layout.scale));
  const Places::const_iterator global = places.find(module + std::string(layout.global));
  if (scale == places.end() || global == places.end()) return std::nullopt;
  const auto [rows, columns] = extents(files[weight->second.file], *weight->second.tensor, *scale->second.tensor);
  if (rows == 0) return std::nullopt;
  return ExpertMatrix{.tensor = std::string(name),
                      .rows = static_cast<std::uint32_t>(rows),
                      .columns = static_cast<std::uint32_t>(columns),
                      .weights = bytes_of(files, weight->second, rows * columns / 2),
                      .scales = bytes_of(files, scale->second, rows * columns / kGroup),
                      .global = global_of(files, global->second, layout.divides)};
}

}  // namespace

std::optional<ExpertMatrix> find_expert_matrix(const std::vector<SafetensorsHeader>& files) {
  Places places;
  for (std::size_t i = 0; i < files.size(); ++i) {
    for (const HeaderTensor& tensor : files[i].tensors) places.emplace(std::string(tensor.name), Place{i, &tensor});
  }
  for (const SafetensorsHeader& file : files) {
    for (const HeaderTensor& tensor : file.tensors) {
      for (const Layout& layout : kLayouts) {
        if (std::optional<ExpertMatrix> found = matrix_at(files, places, tensor.name, layout)) return found;
      }
    }
  }
  return std::nullopt;
}

}  // namespace kvfit::runtime
