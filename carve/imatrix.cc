#include "carve/imatrix.h"

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "carve/numbers.h"
#include "models/file_bytes.h"
#include "profiles/error.h"
#include "profiles/text.h"
#include "profiles/units.h"

namespace kvfit::carve {
namespace {

using profiles::format;

constexpr std::uint32_t kF32 = 0;
constexpr std::uint64_t kMost = 1'000'000;
constexpr std::int64_t kLargest = 2 * profiles::kGiB;

struct GgufTensor {
  std::string name;
  std::vector<std::int64_t> shape;  // fastest first, as ggml counts
  std::uint32_t type = 0;
  std::int64_t offset = 0;
};

// Reads GGUF's header field by field through a small window.
class Gguf {
 public:
  explicit Gguf(const std::string& path) : path_(path), file_(path) {}

  std::vector<GgufTensor> tensors() {
    if (text(4) != "GGUF") fail("it does not begin with GGUF");
    const std::uint32_t version = number<std::uint32_t>();
    if (version != 2 && version != 3) fail(format("version {} is not known", version));
    const std::uint64_t count = number<std::uint64_t>();
    const std::uint64_t keys = number<std::uint64_t>();
    if (count > kMost || keys > kMost) fail("it has too many entries");
    for (std::uint64_t i = 0; i < keys; ++i) {
      const std::string key = string();
      const std::uint32_t type = number<std::uint32_t>();
      if (key == "general.alignment" && type == 4) {
        alignment_ = number<std::uint32_t>();
      } else {
        skip(type, 0);
      }
    }
    std::vector<GgufTensor> out;
    for (std::uint64_t i = 0; i < count; ++i) {
      GgufTensor& tensor = out.emplace_back();
      tensor.name = string();
      const std::uint32_t rank = number<std::uint32_t>();
      if (rank > 4) fail("a tensor has more than 4 axes");
      for (std::uint32_t axis = 0; axis < rank; ++axis) tensor.shape.push_back(size());
      tensor.type = number<std::uint32_t>();
      tensor.offset = size();
    }
    if (alignment_ == 0 || alignment_ > 65536) fail("its alignment is absurd");
    data_ = profiles::round_up(at_, alignment_);
    return out;
  }

  std::vector<double> values(const GgufTensor& tensor) const {
    std::int64_t bytes = 4;
    for (const std::int64_t extent : tensor.shape) bytes = profiles::checked_mul(bytes, extent);
    const std::int64_t end = profiles::checked_add(profiles::checked_add(data_, tensor.offset), bytes);
    if (tensor.type != kF32 || end > file_.size()) fail(format("'{}' is no F32 tensor inside the file", tensor.name));
    std::vector<char> raw(static_cast<std::size_t>(bytes));
    file_.read(raw, data_ + tensor.offset);
    std::vector<double> out;
    decode(profiles::DType::f32, raw, out);
    return out;
  }

  [[noreturn]] void fail(std::string_view what) const {
    profiles::fail_input(format("this is no imatrix that kvfit can read: {}", what), {.file = path_});
  }

 private:
  std::string text(std::int64_t bytes) {
    if (bytes < 0 || bytes > file_.size() - at_) fail("it is cut short");
    std::string out(static_cast<std::size_t>(bytes), '\0');
    file_.read(out, at_);
    at_ += bytes;
    return out;
  }
  template <class Number>
  Number number() {
    const std::string raw = text(sizeof(Number));
    Number out = 0;
    std::memcpy(&out, raw.data(), sizeof(Number));
    return out;
  }
  std::int64_t size() {
    const std::uint64_t stated = number<std::uint64_t>();
    if (stated > static_cast<std::uint64_t>(INT64_MAX)) fail("a number is absurd");
    return static_cast<std::int64_t>(stated);
  }
  std::string string() {
    const std::int64_t length = size();
    if (length > profiles::kMiB) fail("a string is too long");
    return text(length);
  }
  void skip(std::uint32_t type, int depth) {
    constexpr std::int64_t kSizes[] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
    if (type == 8) {
      const std::int64_t length = size();
      if (length > file_.size() - at_) fail("it is cut short");
      at_ += length;
    } else if (type == 9 && depth == 0) {
      const std::uint32_t of = number<std::uint32_t>();
      const std::int64_t count = size();
      if (count > file_.size()) fail("it is cut short");
      for (std::int64_t i = 0; i < count; ++i) skip(of, 1);
    } else if (type < 13 && kSizes[type] > 0) {
      at_ += kSizes[type];
    } else {
      fail("a value has an unknown type");
    }
  }

  std::string path_;
  models::FileBytes file_;
  std::int64_t at_ = 0, data_ = 0;
  std::uint32_t alignment_ = 32;
};

// "blk.3.ffn_down_exps.weight.counts" -> 3 when it ends in `kind`.
std::optional<int> layer_of(std::string_view name, std::string_view kind) {
  constexpr std::string_view kHead = "blk.";
  constexpr std::string_view kTail = ".ffn_down_exps.weight.";
  if (!name.starts_with(kHead) || !name.ends_with(kind)) return std::nullopt;
  const std::string_view middle = name.substr(kHead.size(), name.size() - kHead.size() - kind.size());
  if (!middle.ends_with(kTail) || middle.size() == kTail.size()) return std::nullopt;
  const std::string_view digits = middle.substr(0, middle.size() - kTail.size());
  if (digits.size() > 6 || digits.find_first_not_of("0123456789") != std::string_view::npos) return std::nullopt;
  return std::stoi(std::string(digits));
}

}  // namespace

std::map<int, std::vector<double>> imatrix_scores(const std::string& path, std::int64_t experts) {
  if (models::FileBytes(path).size() > kLargest) profiles::fail_input("the imatrix is too large", {.file = path});
  Gguf gguf(path);
  std::map<int, std::vector<double>> counts;
  std::map<int, std::vector<double>> energy;
  for (const GgufTensor& tensor : gguf.tensors()) {
    if (const std::optional<int> layer = layer_of(tensor.name, "counts")) counts[*layer] = gguf.values(tensor);
    const std::optional<int> layer = layer_of(tensor.name, "in_sum2");
    if (!layer) continue;
    if (tensor.shape.empty() || tensor.shape.back() != experts) {
      gguf.fail(format("'{}' is not of {} experts", tensor.name, experts));
    }
    const std::vector<double> squares = gguf.values(tensor);
    const std::size_t inputs = squares.size() / static_cast<std::size_t>(experts);
    std::vector<double>& sums = energy[*layer];
    for (std::size_t e = 0; e < static_cast<std::size_t>(experts); ++e) {
      double sum = 0;
      for (std::size_t i = 0; i < inputs; ++i) sum += squares[e * inputs + i];
      sums.push_back(sum);
    }
  }
  for (auto& [layer, tokens] : counts) {
    const auto sums = energy.find(layer);
    if (static_cast<std::int64_t>(tokens.size()) != experts || sums == energy.end()) {
      gguf.fail(format("layer {} has no counts and energies of {} experts", layer, experts));
    }
    for (std::size_t e = 0; e < tokens.size(); ++e) {
      tokens[e] = tokens[e] > 0 ? tokens[e] * std::sqrt(sums->second[e] / tokens[e]) : 0;
    }
  }
  if (counts.empty()) gguf.fail("it holds no counts of experts");
  return counts;
}

}  // namespace kvfit::carve
