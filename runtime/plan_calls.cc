// A saved plan (kvfit plan --format json) as a deployment: what it planned is asked again.
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "profiles/text.h"
#include "runtime/deployment_file.h"

namespace kvfit::runtime {
namespace {

using profiles::Node;

void push(std::vector<Word>& words, std::string_view flag, const Node* value) {
  if (value == nullptr) return;
  words.push_back({.text = std::string(flag), .where = value->where()});
  words.push_back({.text = value->scalar_text(), .where = value->where()});
}

// A plan that does not run holds no serve line: its settings say the same.
std::vector<Word> words_of_settings(const Node& result) {
  std::vector<Word> out;
  const Node& serving = result.at("serving");
  constexpr std::pair<std::string_view, std::string_view> kFlags[] = {
      {"max_model_len", "--max-model-len"},
      {"max_num_seqs", "--max-num-seqs"},
      {"max_num_batched_tokens", "--max-num-batched-tokens"},
      {"gpu_memory_utilization", "--gpu-memory-utilization"},
      {"tensor_parallel_size", "--tensor-parallel-size"},
      {"pipeline_parallel_size", "--pipeline-parallel-size"},
      {"data_parallel_size", "--data-parallel-size"},
      {"decode_context_parallel_size", "--decode-context-parallel-size"}};
  for (const auto& [key, flag] : kFlags) push(out, flag, serving.find(key));
  const Node* type = serving.find("kv_cache_dtype");
  const bool plain = type == nullptr || type->string() == "bf16" || type->string() == "fp16" || type->string() == "f32";
  if (!plain) push(out, "--kv-cache-dtype", type);
  const Node* eager = serving.find("enforce_eager");
  if (eager != nullptr && eager->boolean()) out.push_back({.text = "--enforce-eager", .where = eager->where()});
  const Node* vision = serving.find("vision");
  if (vision != nullptr && !vision->boolean()) {
    out.push_back({.text = "--limit-mm-per-prompt", .where = vision->where()});
    out.push_back({.text = R"({"image":0,"video":0})", .where = vision->where()});
  }
  if (const Node* draft = serving.find("speculative_config")) {
    out.push_back({.text = "--speculative-config", .where = draft->where()});
    out.push_back({.text = profiles::format(R"({{"method":"{}","num_speculative_tokens":{}}})", draft->at("method").string(),
                                            draft->at("num_speculative_tokens").integer(1, 64)),
                   .where = draft->where()});
  }
  return out;
}

std::vector<Word> words_of_line(const Node& serve) {
  std::vector<Word> out;
  for (const Node& word : serve.list()) out.push_back({.text = word.scalar_text(), .where = word.where()});
  // "vllm", "serve", MODEL: the model is told apart below.
  out.erase(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(3, out.size())));
  return out;
}

}  // namespace

void refuse_other_plans(const Node& root) {
  const Node* schema = root.is_map() ? root.find("schema") : nullptr;
  if (schema == nullptr || !schema->is_string() || schema->string() != "kvfit.plan") {
    root.fail("this is no saved plan", "kvfit plan --format json -o plan.json makes one");
  }
  const Node& version = root.at("format_version");
  if (!version.string().starts_with("1.")) {
    version.fail(profiles::format("this plan has format {}; this kvfit reads 1.x", version.string()));
  }
}

std::vector<ServeCall> plan_calls(const Node& root) {
  refuse_other_plans(root);
  const Node& result = root.at("result");
  const Node& model = result.at("model");
  ServeCall out{.kind = "plan", .name = {}, .where = result.where()};
  const Node* serve = result.find("serve");
  const Node& id = model.has("repository") ? model.at("repository") : model.at("id");
  out.words = {{.text = id.string(), .where = id.where()}};
  std::vector<Word> rest = serve != nullptr ? words_of_line(*serve) : words_of_settings(result);
  out.words.insert(out.words.end(), rest.begin(), rest.end());
  const Node& gpu = result.at("gpu");
  out.gpus.product = Stated{gpu.at("id").string(), gpu.at("id").where()};
  out.gpus.count = gpu.at("count").integer(1, 1'000'000);
  out.gpus.where = gpu.at("count").where();
  const Node* system = gpu.find("system");
  out.wsl2 = system != nullptr && system->string() == "wsl2";
  const Node& engine = result.at("engine").at("version");
  out.engine_version = Stated{engine.string(), engine.where()};
  const Node* planned = model.find("planned_experts");
  const Node* all = model.find("experts");
  if (planned != nullptr && all != nullptr && planned->integer() < all->integer()) out.experts = planned->integer(1, 65536);
  return {out};
}

}  // namespace kvfit::runtime
