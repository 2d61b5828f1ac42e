#include "carve/config_binding.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "profiles/error.h"
#include "profiles/text.h"

namespace kvfit::carve {
namespace {

using profiles::fail_input;
using profiles::format;
using std::string_view;

// Keys of published configs; several with one meaning may stand side by side (attribute maps of transformers v5).
constexpr std::array<string_view, 5> kCounts = {"num_experts", "num_local_experts", "n_routed_experts", "moe_num_experts",
                                                "num_routed_experts"};
constexpr std::array<string_view, 8> kTopK = {
    "num_experts_per_tok", "num_experts_per_token", "experts_per_token",   "moe_k", "moe_topk",
    "moe_top_k",           "top_k_experts",         "num_selected_experts"};
constexpr std::array<string_view, 2> kDraftLayers = {"mtp_num_hidden_layers", "num_nextn_predict_layers"};
constexpr std::array<string_view, 3> kTextParts = {"text_config", "language_config", "llm_config"};

template <std::size_t N>
bool any_of(const std::array<string_view, N>& words, string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

std::optional<std::int64_t> integer(const JsonSpan& value) {
  if (value.kind != JsonSpan::Kind::scalar) return std::nullopt;
  std::int64_t out = 0;
  const char* const end = value.text.data() + value.text.size();
  const auto [at, error] = std::from_chars(value.text.data(), end, out);
  if (error != std::errc() || at != end || out < 0) return std::nullopt;
  return out;
}

const JsonSpan& text_part(const JsonSpan& config) {
  for (const string_view key : kTextParts) {
    const JsonSpan* const part = config.find(key);
    if (part && part->kind == JsonSpan::Kind::object) return *part;
  }
  return config;
}

std::int64_t number(const JsonSpan& config, string_view key, std::int64_t fallback) {
  for (const JsonSpan* scope : {&text_part(config), &config}) {
    const JsonSpan* const value = scope->find(key);
    if (value && integer(*value)) return *integer(*value);
  }
  return fallback;
}

// Calls visit(member, pointer) for each member of each object below `span`.
template <class Visit>
void walk(const JsonSpan& span, const std::string& pointer, const Visit& visit) {
  for (const JsonMember& member : span.members) {
    const std::string below = pointer + "/" + member.key;
    visit(member, below);
    walk(member.value, below, visit);
  }
  for (std::size_t i = 0; i < span.items.size(); ++i) walk(span.items[i], format("{}/{}", pointer, i), visit);
}

bool counts_nothing(std::int64_t stated) { return stated <= 1; }  // a dense sub-model's

}  // namespace

Routing read_routing(const JsonSpan& config, const std::string& file) {
  Routing out;
  walk(config, "", [&](const JsonMember& member, const std::string& pointer) {
    if (any_of(kCounts, member.key) && member.value.kind == JsonSpan::Kind::array) {
      fail_input(format("'{}' is a list: experts differ between parts of the model", pointer), {.file = file},
                 "a carve keeps one count for all layers");
    }
    if (any_of(kTopK, member.key)) {
      if (member.value.kind == JsonSpan::Kind::array) fail_input(format("'{}' is a list", pointer), {.file = file});
      out.top_k = std::max(out.top_k, integer(member.value).value_or(0));
    }
    if (member.key == "block_configs" && member.value.kind == JsonSpan::Kind::array) {
      fail_input("'block_configs' states experts layer by layer", {.file = file}, "a carve keeps one count for all layers");
    }
  });
  for (const string_view key : kCounts) {
    const std::int64_t stated = number(config, key, 0);
    if (!counts_nothing(stated) && out.experts == 0) out.experts = stated;
  }
  if (const JsonSpan* const dbrx = config.find("ffn_config"); dbrx && out.experts == 0) {
    const JsonSpan* const count = dbrx->find("moe_num_experts");
    if (count) out.experts = integer(*count).value_or(0);
  }
  out.groups = std::max<std::int64_t>(1, number(config, "n_group", 1));
  out.top_groups = std::max<std::int64_t>(1, number(config, "topk_group", 1));
  out.trunk_layers = number(config, "num_hidden_layers", 0);
  for (const JsonSpan* scope : {&config, &text_part(config)}) {
    const JsonSpan* const normalised = scope->find("norm_topk_prob");
    if (normalised) out.normalised = normalised->text != "false";
  }
  const JsonSpan* const type = config.find("model_type");
  if (type) out.model_type = type->text;
  return out;
}

void edit_counts(const JsonSpan& config, const std::string& file, std::int64_t from, std::int64_t to, bool drop_draft,
                 std::vector<JsonEdit>& edits, std::vector<ValueEdit>& report) {
  bool found = false;
  const auto change = [&](const JsonSpan& value, const std::string& pointer, std::int64_t stated, std::int64_t now) {
    if (stated == now) return;
    edits.push_back({value.begin, value.end, std::to_string(now)});
    report.push_back({file.substr(file.rfind('/') + 1), pointer, stated, now});
  };
  walk(config, "", [&](const JsonMember& member, const std::string& pointer) {
    const std::optional<std::int64_t> stated = integer(member.value);
    if (any_of(kCounts, member.key) && stated && !counts_nothing(*stated)) {
      if (*stated != from) {
        fail_input(format("'{}' is {}, but the checkpoint has {} experts a layer", pointer, *stated, from), {.file = file});
      }
      found = true;
      change(member.value, pointer, from, to);
    } else if (member.key == "moe_capacity" && member.value.kind == JsonSpan::Kind::array) {
      for (std::size_t i = 0; i < member.value.items.size(); ++i) {
        const std::optional<std::int64_t> each = integer(member.value.items[i]);
        if (each == from) change(member.value.items[i], format("{}/{}", pointer, i), from, to);
      }
    } else if (drop_draft && any_of(kDraftLayers, member.key) && stated) {
      change(member.value, pointer, *stated, 0);
    }
  });
  if (!found) {
    fail_input(format("no key of the config states the {} experts a layer that the checkpoint has", from), {.file = file},
               format("known keys: {}", profiles::join(kCounts, ", ")));
  }
}

void check_keep(const Routing& routing, std::int64_t experts, std::int64_t keep, bool force) {
  const std::int64_t groups = routing.groups;
  if (keep > experts || keep < 1)
    fail_input(format("cannot keep {} of {} experts", keep, experts), {},
               format("from {} to {}", routing.top_k + 1, experts));
  if (keep <= routing.top_k) {
    fail_input(format("{} experts are too few: the router picks {} a token", keep, routing.top_k), {},
               format("keep at least {}", routing.top_k + 1));
  }
  if (keep % groups != 0 || experts % groups != 0) {
    fail_input(format("{} experts do not divide into the router's {} groups", keep, groups), {},
               format("keep a multiple of {}", groups));
  }
  const std::int64_t each = keep / groups;
  if (groups > 1 && each < 2) {
    fail_input(format("{} experts leave {} a group; a group is scored by its best two", keep, each), {},
               format("keep at least {}", 2 * groups));
  }
  if (groups > 1 && routing.top_k > routing.top_groups * each) {
    fail_input(format("{} experts leave {} in the {} groups a token may use, and the router picks {}", keep,
                      routing.top_groups * each, routing.top_groups, routing.top_k));
  }
  if (keep % 4 != 0 && keep != experts && !force) {
    fail_input(format("{} experts: the count must be a multiple of 4", keep), {},
               "fused kernels need it; --force-count keeps the count all the same");
  }
}

}  // namespace kvfit::carve
