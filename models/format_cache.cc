#include "models/format_cache.h"

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

namespace kvfit::models {
namespace {

constexpr std::size_t kUnknown = static_cast<std::size_t>(-1);

bool has_digit(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

FormatCache::FormatCache(const Quantization& quantization, profiles::DType plain)
    : quantization_(quantization), plain_(plain) {
  for (const FormatRule& rule : quantization.rules) {
    if (!rule.layers.empty()) layer_bound_.push_back(&rule);
    if (rule.match == FormatRule::Match::regex && has_digit(rule.pattern)) digits_matter_ = true;
  }
}

std::size_t FormatCache::set_of(int layer) {
  const std::size_t at = static_cast<std::size_t>(layer + 1);
  if (at >= set_of_layer_.size()) set_of_layer_.resize(at + 1, kUnknown);
  if (set_of_layer_[at] == kUnknown) {
    std::vector<bool> named;
    named.reserve(layer_bound_.size());
    for (const FormatRule* rule : layer_bound_) {
      named.push_back(std::binary_search(rule->layers.begin(), rule->layers.end(), layer));
    }
    set_of_layer_[at] = digits_matter_ ? at : sets_.emplace(std::move(named), sets_.size()).first->second;
  }
  return set_of_layer_[at];
}

const WeightFormat& FormatCache::of(const void* kind, int layer, std::string_view module) {
  const std::pair<const void*, std::size_t> key(kind, set_of(layer));
  const auto found = known_.find(key);
  if (found != known_.end()) return found->second;
  return known_.emplace(key, format_of(quantization_, module, plain_)).first->second;
}

}  // namespace kvfit::models
