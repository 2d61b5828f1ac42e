#include "carve/output_files.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "carve/json_spans.h"
#include "profiles/error.h"
#include "profiles/text.h"

namespace kvfit::carve {
namespace {

using models::HeaderTensor;
using profiles::format;

constexpr std::size_t kMostFiles = 99'999;                 // what five digits count
constexpr std::int64_t kReadableHeader = 25'000'000;       // longer ones are refused by the Hugging Face hub's own parser
constexpr std::int64_t kEntryFrame = 128;                  // of a header's entry: keys, punctuation, dtype, two offsets
constexpr std::int64_t kHeadFrame = 64 + 2 * kShareBlock;  // of a header: length, braces, padding

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

std::string member(std::string_view stem, std::size_t index, std::size_t total) {
  return format("{}{:05}-of-{:05}.safetensors", stem, index + 1, total);
}

// Fills one file after the other.
class Divider {
 public:
  Divider(const Survivors& survivors, std::int64_t most_bytes) : survivors_(survivors), most_bytes_(most_bytes) {}

  void shard(std::int32_t shard) {
    const Shard& from = survivors_.shard(shard);
    for (std::uint32_t i = 0; i < from.order.size(); ++i) {
      const TensorPlace& place = survivors_.places(shard)[from.order[i]];
      if (survivors_.survives(place)) tensor(shard, i, place);
    }
  }

  std::vector<OutputFile> finish() {
    for (std::size_t i = 0; i < files_.size(); ++i) {
      files_[i].name = files_.size() == 1 ? "model.safetensors" : member("model-", i, files_.size());
    }
    return std::move(files_);
  }

 private:
  void tensor(std::int32_t shard, std::uint32_t index, const TensorPlace& place) {
    const Shard& from = survivors_.shard(shard);
    const HeaderTensor& tensor = from.header.tensors[from.order[index]];
    const std::string text = format("{}{}", json_quoted(survivors_.name(tensor, place)),
                                    profiles::join(survivors_.shape(from.header, tensor, place), ","));
    const std::int64_t entry = static_cast<std::int64_t>(text.size()) + kEntryFrame;
    const std::int64_t data = survivors_.bytes(tensor, place);
    const bool fits = !files_.empty() && head_ + entry + data_ + data <= most_bytes_ && head_ + entry <= kReadableHeader &&
                      survivors_.shard(files_.back().spans.front().shard).metadata == from.metadata;
    if (!fits) begin(from);
    head_ += entry;
    data_ += data;
    std::vector<TensorSpan>& spans = files_.back().spans;
    if (spans.empty() || spans.back().shard != shard) {
      spans.push_back({shard, index, index + 1});
    } else {
      spans.back().last = index + 1;
    }
  }

  void begin(const Shard& from) {
    if (files_.size() == kMostFiles) {
      profiles::fail_input(format("files of at most {} bytes are more than {}", profiles::grouped(most_bytes_), kMostFiles),
                           {}, "a larger --reshard; libraries that save models use 5 to 50 GB");
    }
    files_.emplace_back();
    head_ = kHeadFrame + static_cast<std::int64_t>(from.metadata.size());
    data_ = 0;
  }

  const Survivors& survivors_;
  std::int64_t most_bytes_;
  std::vector<OutputFile> files_;
  std::int64_t head_ = 0, data_ = 0;  // of the file that is being filled; the head's is an upper bound
};

}  // namespace

std::vector<OutputFile> outputs_as_source(const Survivors& survivors) {
  std::vector<OutputFile> out;
  std::map<std::string, std::vector<std::size_t>> sets;  // by stem and total
  for (std::size_t s = 0; s < survivors.source().shards.size(); ++s) {
    const std::int32_t shard = static_cast<std::int32_t>(s);
    const std::vector<TensorPlace>& places = survivors.places(shard);
    const bool any = std::any_of(places.begin(), places.end(),
                                 [&survivors](const TensorPlace& place) { return survivors.survives(place); });
    if (!any) continue;
    const std::string& file = survivors.shard(shard).name;
    const std::optional<NumberedName> name = numbered(file);
    if (name) sets[format("{}/{}", name->stem, name->total)].push_back(out.size());
    out.push_back({file, {{shard, 0, static_cast<std::uint32_t>(places.size())}}});
  }
  for (const auto& [ignored, members] : sets) {
    const std::optional<NumberedName> name = numbered(out[members.front()].name);
    if (!name || name->total == static_cast<int>(members.size())) continue;
    for (std::size_t i = 0; i < members.size(); ++i) out[members[i]].name = member(name->stem, i, members.size());
  }
  return out;
}

std::vector<OutputFile> outputs_of_size(const Survivors& survivors, std::int64_t most_bytes) {
  Divider divider(survivors, most_bytes);
  for (std::size_t s = 0; s < survivors.source().shards.size(); ++s) divider.shard(static_cast<std::int32_t>(s));
  return divider.finish();
}

}  // namespace kvfit::carve
