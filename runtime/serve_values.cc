#include "runtime/serve_values.h"

#include <algorithm>
#include <cctype>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "profiles/document.h"
#include "profiles/error.h"
#include "profiles/text.h"

namespace kvfit::runtime {
namespace {

using profiles::Node;

constexpr std::int64_t kMany = 1'000'000;

// "image=0,video=0", as releases up to 0.9 took it.
bool all_zero_pairs(const std::string& text) {
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view pair = rest.substr(0, std::min(rest.find(','), rest.size()));
    const std::size_t equals = pair.find('=');
    if (equals == std::string_view::npos || pair.substr(equals + 1) != "0") return false;
    rest.remove_prefix(std::min(pair.size() + 1, rest.size()));
  }
  return !text.empty();
}

}  // namespace

bool no_items_allowed(const std::string& text, const std::string& name) {
  if (text.find('{') == std::string::npos) return all_zero_pairs(text);
  const Node root = profiles::parse_json(text, name);
  for (const auto& [item, limit] : root.members()) {
    const Node& count = limit.is_map() ? limit.at("count") : limit;
    if (count.integer(0, kMany) > 0) return false;
  }
  return !root.members().empty();
}

SpeculativeConfig read_speculative(const std::string& text, const std::string& name, bool strict) {
  const Node root = profiles::parse_json(text, name);
  profiles::Fields fields(root);
  SpeculativeConfig out;
  out.value.method = fields.string("method", "");
  out.value.tokens = static_cast<int>(fields.at("num_speculative_tokens").integer(1, 64));
  if (const Node* model = fields.find("model")) out.draft_model = model->string();
  for (const std::string_view key :
       {"draft_tensor_parallel_size", "max_model_len", "quantization", "revision", "code_revision", "prompt_lookup_max",
        "prompt_lookup_min", "disable_by_batch_size", "disable_padded_drafter_batch", "enforce_eager", "moe_backend",
        "attention_backend", "use_local_argmax_reduction", "parallel_drafting", "rejection_sample_method"}) {
    fields.ignore(key);
  }
  if (strict) fields.finish();
  if (out.value.method == "ngram" || out.value.method == "[ngram]") out.draft_model.reset();
  if (out.value.method.empty()) out.value.method = out.draft_model ? "draft_model" : "mtp";
  return out;
}

CompilationConfig read_compilation(const std::string& text, const std::string& name) {
  CompilationConfig out;
  if (text.find('{') == std::string::npos) {
    out.eager = text == "0";
    return out;
  }
  const Node root = profiles::parse_json(text, name);
  if (const Node* sizes = root.find("cudagraph_capture_sizes")) {
    for (const Node& size : sizes->list()) out.capture_sizes.push_back(size.integer(1, kMany));
  }
  if (const Node* size = root.find("max_cudagraph_capture_size")) out.max_capture_size = size->integer(0, kMany);
  if (const Node* mode = root.find("cudagraph_mode")) {
    out.cudagraph_mode = mode->scalar_text();
    for (char& c : out.cudagraph_mode) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    if (out.cudagraph_mode == "0") out.cudagraph_mode = "NONE";
  }
  for (const std::string_view key : {"mode", "level"}) {
    const Node* level = root.find(key);
    if (level != nullptr && level->is_integer() && level->integer() == 0) out.eager = true;
  }
  return out;
}

std::int64_t redundant_experts(const std::string& text, const std::string& name) {
  const Node root = profiles::parse_json(text, name);
  const Node* count = root.find("num_redundant_experts");
  return count == nullptr ? 0 : count->integer(0, 65536);
}

}  // namespace kvfit::runtime
