#include "carve/layout.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "carve/block_census.h"
#include "carve/expert_names.h"
#include "models/header_scanner.h"
#include "models/pattern.h"
#include "models/quantization.h"
#include "profiles/error.h"
#include "profiles/text.h"

namespace kvfit::carve {
namespace {

using models::HeaderTensor;
using models::printable;
using profiles::fail_input;
using profiles::format;

constexpr std::size_t kListed = 20;

int last_number(std::string_view prefix) {
  int out = -1;
  for (std::size_t at = 0; at < prefix.size();) {
    const std::size_t dot = std::min(prefix.find('.', at), prefix.size());
    const std::string_view part = prefix.substr(at, dot - at);
    if (!part.empty() && part.size() < 8 && part.find_first_not_of("0123456789") == std::string_view::npos) {
      out = std::stoi(std::string(part));
    }
    at = dot + 1;
  }
  return out;
}

bool names_a_draft(std::string_view prefix) { return prefix.starts_with("mtp.") || prefix.find(".mtp.") != prefix.npos; }

class Recogniser {
 public:
  Recogniser(const Source& source, const ConfigHints& hints, const LayoutOptions& options)
      : source_(source), hints_(hints), options_(options) {
    if (!options.allow_unknown.empty()) allowed_.emplace(options.allow_unknown);
  }
  Layout run();

 private:
  using Census = BlockCensus;
  std::int32_t block_of(std::string_view prefix, Form form);
  void experts(std::size_t shard, std::uint32_t tensor);
  void stacks(std::size_t shard, std::uint32_t tensor);
  void siblings(std::size_t shard, std::uint32_t tensor);
  void sibling(TensorRef ref, TensorPlace& place, std::string_view tail);
  void router(TensorRef ref, TensorPlace& place, std::string_view tail, std::string_view module);
  void table(TensorRef ref, TensorPlace& place);
  bool along_experts(TensorRef ref, TensorPlace& place) const;
  bool has_expert_axis(TensorRef ref, std::int64_t experts) const;
  void unknown(std::string_view name, std::string why);
  bool is_draft(std::string_view name) const;
  void settle();
  void divisible(std::size_t shard, std::uint32_t tensor);
  void drafts();
  void order();
  std::span<const std::int64_t> shape(TensorRef ref) const {
    return source_.shards[static_cast<std::size_t>(ref.shard)].header.shape(tensor_of(source_, ref));
  }
  template <class Visit>
  void each(Visit visit) {
    for (std::size_t s = 0; s < source_.shards.size(); ++s) {
      for (std::uint32_t t = 0; t < source_.shards[s].header.tensors.size(); ++t) (this->*visit)(s, t);
    }
  }

  const Source& source_;
  const ConfigHints& hints_;
  const LayoutOptions& options_;
  std::optional<models::Regex> allowed_;
  Layout out_;
  std::map<std::string, std::int32_t, std::less<>> by_prefix_;
  std::vector<Census> census_;
  std::vector<std::string> unknown_;
  std::size_t unknown_count_ = 0;
};

std::int32_t Recogniser::block_of(std::string_view prefix, Form form) {
  const auto known = by_prefix_.find(prefix);
  if (known != by_prefix_.end()) {
    const Block& block = out_.blocks[static_cast<std::size_t>(known->second)];
    if (block.form != form) {
      fail_input(format("'{}' holds its experts in two forms, {} and {}", printable(prefix), form_name(block.form),
                        form_name(form)),
                 {.file = source_.files.directory});
    }
    return known->second;
  }
  const std::int32_t index = static_cast<std::int32_t>(out_.blocks.size());
  by_prefix_.emplace(prefix, index);
  out_.blocks.push_back({.prefix = std::string(prefix), .layer = last_number(prefix), .form = form});
  out_.blocks.back().draft = is_draft(prefix);
  census_.emplace_back();
  return index;
}

bool Recogniser::is_draft(std::string_view name) const {
  if (names_a_draft(name)) return true;
  const std::size_t mark = name.find("layers.");
  if (hints_.trunk_layers <= 0 || mark == name.npos || (mark > 0 && name[mark - 1] != '.')) return false;
  const std::string_view rest = name.substr(mark + 7);
  const std::string_view digits = rest.substr(0, rest.find('.'));
  return name.find("visual") == name.npos && name.find("vision") == name.npos && last_number(digits) >= hints_.trunk_layers;
}

void Recogniser::unknown(std::string_view name, std::string why) {
  if (allowed_ && allowed_->matches(name)) {
    out_.findings.push_back(format("'{}' is carried unchanged: {}", printable(name), why));
    return;
  }
  if (unknown_count_++ < kListed) unknown_.push_back(format("{} ({})", printable(name), why));
}

void Recogniser::experts(std::size_t shard, std::uint32_t index) {
  const models::SafetensorsHeader& header = source_.shards[shard].header;
  const HeaderTensor& tensor = header.tensors[index];
  const std::optional<ExpertName> name = parse_expert_name(tensor.name);
  if (!name) return;
  if (is_rank_sliced(name->rest) && !options_.rank_sliced) {
    fail_input(format("'{}' is one rank's slice of an expert", printable(tensor.name)), {.file = source_.shards[shard].path},
               "a carve breaks the hashes of a rank-sliced checkpoint; --tr3-drop-manifest carves it without them");
  }
  const std::int32_t block = block_of(name->prefix, name->swapped ? Form::swapped : Form::per_expert);
  TensorPlace& place = out_.places[shard][index];
  place = {.block = block,
           .expert = name->expert,
           .digits_begin = static_cast<std::uint32_t>(name->digits_begin),
           .digits_end = static_cast<std::uint32_t>(name->digits_end),
           .part = Part::expert};
  census_[static_cast<std::size_t>(block)].add(*name, tensor, header.shape(tensor));
}

void Recogniser::stacks(std::size_t shard, std::uint32_t index) {
  TensorPlace& place = out_.places[shard][index];
  if (place.part != Part::whole) return;
  const HeaderTensor& tensor = source_.shards[shard].header.tensors[index];
  const std::optional<StackName> name = parse_stack_name(tensor.name);
  if (!name) return;
  const std::span<const std::int64_t> extents = source_.shards[shard].header.shape(tensor);
  const std::int64_t first = extents.empty() ? 0 : extents.front();
  if (name->flattened && (hints_.experts <= 0 || first % hints_.experts != 0)) {
    return unknown(tensor.name, "its rows are not a multiple of the expert count in config.json");
  }
  if (extents.empty() || (first == 1 && tensor.bytes() <= 8)) {  // one scale for all experts
    out_.findings.push_back(format("'{}' holds one value for all experts and is carried unchanged", printable(tensor.name)));
    return;
  }
  place.block = block_of(name->prefix, name->flattened ? Form::flattened : Form::stacked);
  place.part = Part::rows;
  census_[static_cast<std::size_t>(place.block)].add_stack(tensor.name, name->flattened ? hints_.experts : first);
}

bool Recogniser::has_expert_axis(TensorRef ref, std::int64_t experts) const {
  const std::span<const std::int64_t> extents = shape(ref);
  return std::find(extents.begin(), extents.end(), experts) != extents.end();
}

bool Recogniser::along_experts(TensorRef ref, TensorPlace& place) const {
  const std::span<const std::int64_t> extents = shape(ref);
  const std::int64_t experts = out_.blocks[static_cast<std::size_t>(place.block)].experts;
  if (!extents.empty() && extents[0] == experts) {
    place.part = Part::rows;
  } else if (extents.size() == 2 && extents[1] == experts && extents[0] == 1) {
    place.part = Part::columns;
  } else {
    return false;
  }
  return true;
}

void Recogniser::router(TensorRef ref, TensorPlace& place, std::string_view tail, std::string_view module) {
  Block& block = out_.blocks[static_cast<std::size_t>(place.block)];
  const HeaderTensor& tensor = tensor_of(source_, ref);
  const std::string_view rest = tail.substr(module.size() + 1);
  const std::span<const std::int64_t> extents = shape(ref);
  const bool weight = rest == "weight" || rest == "weight_packed";
  if (!extents.empty() && extents[0] == block.experts) {
    place.part = Part::rows;
    if (weight && block.router.shard >= 0) return unknown(tensor.name, "a second router in one block");
    if (weight) block.router = ref;
  } else if (weight) {
    unknown(tensor.name, format("the router has {} rows for {} experts", extents.empty() ? 0 : extents[0], block.experts));
  } else if (rest != "scale" && tensor.bytes() > 8) {
    unknown(tensor.name, "the router is quantised in blocks that span experts, or this is no router's tensor");
  }
}

void Recogniser::table(TensorRef ref, TensorPlace& place) {
  const HeaderTensor& tensor = tensor_of(source_, ref);
  const profiles::Where where{.file = source_.shards[static_cast<std::size_t>(ref.shard)].path};
  if (!options_.remap_tables) {
    fail_input(format("'{}' picks experts by token, not by router", printable(tensor.name)), where,
               "it names experts that would go; --hash-remap nearest puts the most similar kept expert in their place");
  }
  const std::span<const std::int64_t> extents = shape(ref);
  const bool whole = tensor.dtype == profiles::DType::i64 || tensor.dtype == profiles::DType::i32;
  if (!whole || extents.size() != 2 || extents[1] == 0)
    return unknown(tensor.name, "no table of whole numbers, a row a token");
  place.part = Part::table;
  out_.blocks[static_cast<std::size_t>(place.block)].table = ref;
}

void Recogniser::sibling(TensorRef ref, TensorPlace& place, std::string_view tail) {
  const HeaderTensor& tensor = tensor_of(source_, ref);
  const Block& block = out_.blocks[static_cast<std::size_t>(place.block)];
  if (is_untouched(tail)) return;
  if (is_static_table(tail)) return table(ref, place);
  if (is_expert_vector(tail)) {
    if (!along_experts(ref, place)) unknown(tensor.name, format("no axis of {} experts", block.experts));
    if (is_correction(tail)) out_.blocks[static_cast<std::size_t>(place.block)].correction = ref;
    return;
  }
  if (const std::string_view module = router_module(tail); !module.empty()) return router(ref, place, tail, module);
  const bool layer = block.prefix.find_last_not_of("0123456789") + 1 < block.prefix.size() &&
                     block.prefix[block.prefix.find_last_not_of("0123456789")] == '.';
  if (layer && is_layer_part(tail)) return;
  if (has_expert_axis(ref, block.experts)) unknown(tensor.name, format("an axis of {} beside the experts", block.experts));
}

void Recogniser::siblings(std::size_t shard, std::uint32_t index) {
  TensorPlace& place = out_.places[shard][index];
  if (place.part != Part::whole) return;
  const std::string_view name = source_.shards[shard].header.tensors[index].name;
  for (std::size_t dot = name.rfind('.'); dot != name.npos && dot > 0; dot = name.rfind('.', dot - 1)) {
    const auto block = by_prefix_.find(name.substr(0, dot));
    if (block == by_prefix_.end()) continue;
    const std::string_view tail = name.substr(dot + 1);
    place.block = block->second;
    if (tail.starts_with("experts.") && !is_expert_vector(tail)) {
      const bool single = source_.shards[shard].header.tensors[index].bytes() <= 8 && parse_stack_name(name);
      if (!single) unknown(name, "a name below 'experts' that is not understood");
    } else {
      sibling({static_cast<std::int32_t>(shard), index}, place, tail);
    }
    if (place.part == Part::whole) place.block = -1;
    return;
  }
  if (name.find(".experts.") != name.npos || name.starts_with("experts.")) unknown(name, "experts of no block");
}

// Each block's expert count, and that its experts are complete and alike.
void Recogniser::settle() {
  for (std::size_t i = 0; i < out_.blocks.size(); ++i) {
    Block& block = out_.blocks[i];
    block.experts = census_[i].settle(block.prefix, source_.files.directory);
    if (i > 0 && block.experts != out_.blocks.front().experts) {
      fail_input(format("'{}' has {} experts and '{}' has {}", out_.blocks.front().prefix, out_.blocks.front().experts,
                        block.prefix, block.experts),
                 {.file = source_.files.directory},
                 "engines read one count for all layers; such a checkpoint cannot be carved");
    }
  }
}

// Slices between experts must begin at whole bytes.
void Recogniser::divisible(std::size_t shard, std::uint32_t index) {
  const TensorPlace& place = out_.places[shard][index];
  if (place.part != Part::rows && place.part != Part::columns) return;
  const HeaderTensor& tensor = source_.shards[shard].header.tensors[index];
  const std::span<const std::int64_t> extents = source_.shards[shard].header.shape(tensor);
  const std::int64_t experts = out_.blocks[static_cast<std::size_t>(place.block)].experts;
  const std::int64_t slabs = experts * (place.part == Part::columns ? extents[0] : 1);
  if (tensor.bytes() % slabs == 0) return;
  fail_input(format("'{}': its {} bytes do not divide into {} experts", printable(tensor.name), tensor.bytes(), experts),
             {.file = source_.shards[shard].path}, "elements smaller than a byte cannot be cut between experts");
}

// --mtp drop takes a draft head's tensors out; --mtp keep leaves them as they are.
void Recogniser::drafts() {
  if (options_.draft == DraftMode::carve) return;
  for (std::size_t s = 0; s < source_.shards.size(); ++s) {
    const std::vector<HeaderTensor>& tensors = source_.shards[s].header.tensors;
    for (std::size_t t = 0; t < tensors.size(); ++t) {
      if (!is_draft(tensors[t].name)) continue;
      out_.places[s][t] = {.part = options_.draft == DraftMode::drop ? Part::dropped : Part::whole};
    }
  }
  if (options_.draft == DraftMode::keep) {
    out_.findings.push_back("the draft head keeps all its experts: no mainstream engine loads a head wider than the trunk");
  }
}

// Trunk layers in order, then draft heads; blocks that are not carved go.
void Recogniser::order() {
  std::vector<std::int32_t> order;
  for (std::size_t i = 0; i < out_.blocks.size(); ++i) {
    if (options_.draft == DraftMode::carve || !out_.blocks[i].draft) order.push_back(static_cast<std::int32_t>(i));
  }
  const auto key = [this](std::int32_t i) {
    const Block& block = out_.blocks[static_cast<std::size_t>(i)];
    return std::tuple(block.draft, block.layer, std::string_view(block.prefix));
  };
  std::sort(order.begin(), order.end(), [&key](std::int32_t a, std::int32_t b) { return key(a) < key(b); });
  std::vector<std::int32_t> now(out_.blocks.size(), -1);
  std::vector<Block> blocks;
  for (const std::int32_t i : order) {
    now[static_cast<std::size_t>(i)] = static_cast<std::int32_t>(blocks.size());
    blocks.push_back(std::move(out_.blocks[static_cast<std::size_t>(i)]));
  }
  out_.blocks = std::move(blocks);
  for (std::vector<TensorPlace>& places : out_.places) {
    for (TensorPlace& place : places) {
      if (place.block >= 0) place.block = now[static_cast<std::size_t>(place.block)];
    }
  }
}

Layout Recogniser::run() {
  for (const Shard& shard : source_.shards) out_.places.emplace_back(shard.header.tensors.size());
  each(&Recogniser::experts);
  each(&Recogniser::stacks);
  if (out_.blocks.empty() && unknown_count_ == 0) {
    fail_input("this checkpoint has no routed experts", {.file = source_.files.directory},
               "a carve is for mixture-of-experts models; kvfit models inspect shows what this is");
  }
  settle();
  each(&Recogniser::siblings);
  for (const Block& block : out_.blocks) {
    if (block.router.shard < 0) unknown(block.prefix, "this block has experts and no router");
  }
  if (unknown_count_ > 0) {
    std::string list = format("{} not understood:\n    {}",
                              unknown_count_ == 1 ? "one name looks like experts and is"
                                                  : format("{} names look like experts and are", unknown_count_),
                              profiles::join(unknown_, "\n    "));
    if (unknown_count_ > unknown_.size()) list += format("\n    and {} more", unknown_count_ - unknown_.size());
    fail_input(std::move(list), {.file = source_.files.directory},
               "nothing is guessed; --allow-unknown REGEX carries names unchanged");
  }
  drafts();
  each(&Recogniser::divisible);
  order();
  if (out_.blocks.empty()) fail_input("only the draft head has routed experts", {.file = source_.files.directory});
  out_.experts = out_.blocks.front().experts;
  return std::move(out_);
}

}  // namespace

std::string_view form_name(Form form) {
  switch (form) {
    case Form::per_expert:
      return "per expert";
    case Form::swapped:
      return "per projection and expert";
    case Form::stacked:
      return "stacked";
    case Form::flattened:
      return "flattened";
  }
  return "";
}

std::optional<std::size_t> find_block(const Layout& layout, std::string_view key) {
  const bool number = !key.empty() && key.size() < 8 && key.find_first_not_of("0123456789") == key.npos;
  for (std::size_t b = 0; b < layout.blocks.size(); ++b) {
    const Block& block = layout.blocks[b];
    const bool named = number ? !block.draft && block.layer == std::stoi(std::string(key))
                              : models::short_name(key) == models::short_name(block.prefix);
    if (named) return b;
  }
  return std::nullopt;
}

Layout recognise(const Source& source, const ConfigHints& hints, const LayoutOptions& options) {
  return Recogniser(source, hints, options).run();
}

}  // namespace kvfit::carve
