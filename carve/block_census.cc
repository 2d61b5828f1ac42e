#include "carve/block_census.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "models/header_scanner.h"
#include "profiles/error.h"
#include "profiles/text.h"

namespace kvfit::carve {
namespace {

using models::printable;
using profiles::fail_input;
using profiles::format;

// No engine runs more experts a layer; bounds what a hostile name can make us keep.
constexpr std::int32_t kMostExperts = 65'536;

bool alike(std::span<const std::int64_t> a, std::span<const std::int64_t> b, bool last_may_differ) {
  if (a.size() != b.size()) return false;
  const std::size_t count = a.size() - (last_may_differ && !a.empty() ? 1 : 0);
  return std::equal(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(count), b.begin());
}

}  // namespace

void BlockCensus::add(const ExpertName& name, const models::HeaderTensor& tensor, std::span<const std::int64_t> shape) {
  if (name.expert >= kMostExperts) {
    fail_input(format("'{}': more than {} experts", printable(tensor.name), kMostExperts));
  }
  const std::string kind_name = format("{}.{}", name.projection, name.rest);
  const auto [it, fresh] = kinds_.try_emplace(kind_name);
  Kind& kind = it->second;
  if (fresh) {
    kind.dtype = tensor.dtype;
    kind.shape.assign(shape.begin(), shape.end());
  } else if (kind.differs.empty() &&
             (kind.dtype != tensor.dtype || !alike(kind.shape, shape, name.rest.ends_with("trellis")))) {
    kind.differs = printable(tensor.name);
  }
  const std::size_t expert = static_cast<std::size_t>(name.expert);
  if (kind.seen.size() <= expert) kind.seen.resize(expert + 1);
  kind.seen[expert] = true;
  largest_ = std::max(largest_, std::int64_t{name.expert});
}

void BlockCensus::add_stack(std::string_view name, std::int64_t experts) {
  if (stack_ < 0) {
    stack_ = experts;
    stack_name_ = printable(name);
  } else if (stack_ != experts && other_stack_.empty()) {
    other_stack_ = format("'{}' holds {} experts and '{}' holds {}", stack_name_, stack_, printable(name), experts);
  }
}

std::int64_t BlockCensus::settle(const std::string& prefix, const std::string& directory) const {
  const profiles::Where where{.file = directory};
  if (!other_stack_.empty()) fail_input(other_stack_, where);
  if (kinds_.empty()) return stack_;
  const std::int64_t experts = largest_ + 1;
  if (stack_ >= 0 && stack_ != experts) {
    fail_input(format("'{}' has experts 0 to {} and stacks of {}", printable(prefix), largest_, stack_), where);
  }
  for (const auto& [name, kind] : kinds_) {
    if (!kind.differs.empty()) fail_input(format("'{}' has another dtype or shape than its siblings", kind.differs), where);
    const auto missing = std::find(kind.seen.begin(), kind.seen.end(), false);
    if (missing != kind.seen.end() || static_cast<std::int64_t>(kind.seen.size()) < experts) {
      fail_input(format("'{}' is incomplete: expert {} of 0 to {} has no '{}'", printable(prefix),
                        missing - kind.seen.begin(), largest_, printable(name)),
                 where, "the download is not complete, or the checkpoint was carved badly before");
    }
  }
  return experts;
}

}  // namespace kvfit::carve
