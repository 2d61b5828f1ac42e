// Kubernetes: any manifest that holds pods (Deployment, StatefulSet, Job, LeaderWorkerSet, KServe ...), KServe's own model
// descriptions, and RayService. Sources: Kubernetes API (Container, PodSpec), kubernetes-sigs/lws, kserve/kserve
// (LLMInferenceService v1alpha1, InferenceService v1beta1), ray.io/v1 RayService.
#include <charconv>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "profiles/text.h"
#include "runtime/deployment_file.h"
#include "runtime/embedded_text.h"
#include "runtime/interpolation.h"
#include "runtime/serve_words.h"

namespace kvfit::runtime {
namespace {

using profiles::format;
using profiles::Node;

const Node* find_in(const Node* node, std::initializer_list<std::string_view> keys) {
  for (const std::string_view key : keys) {
    if (node == nullptr || !node->is_map()) return nullptr;
    node = node->find(key);
  }
  return node;
}

std::optional<std::int64_t> count_in(const Node* node) {
  if (node == nullptr) return std::nullopt;
  if (node->is_integer()) return node->integer(0, 1'000'000);
  if (!node->is_string()) return std::nullopt;
  std::int64_t out = 0;
  const std::string& text = node->string();
  const std::from_chars_result read = std::from_chars(text.data(), text.data() + text.size(), out);
  return read.ec == std::errc{} && read.ptr == text.data() + text.size() && out >= 0 ? std::optional(out) : std::nullopt;
}

// Labels that name the product: the device plugin's own, and those of hosted clusters.
std::optional<Stated> product_in(const Node* selector) {
  if (selector == nullptr || !selector->is_map()) return std::nullopt;
  for (const std::string_view key : {"nvidia.com/gpu.product", "cloud.google.com/gke-accelerator", "gpu.nvidia.com/model",
                                     "gpu.nvidia.com/class", "karpenter.k8s.aws/instance-gpu-name"}) {
    const Node* value = selector->find(key);
    if (value != nullptr && value->is_string()) return Stated{value->string(), value->where()};
  }
  return std::nullopt;
}

// Node affinity: the first required term that names one product.
std::optional<Stated> product_of_affinity(const Node* pod) {
  const Node* terms =
      find_in(pod, {"affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms"});
  if (terms == nullptr || !terms->is_list()) return std::nullopt;
  for (const Node& term : terms->list()) {
    const Node* expressions = find_in(&term, {"matchExpressions"});
    if (expressions == nullptr || !expressions->is_list()) continue;
    for (const Node& expression : expressions->list()) {
      const Node* key = find_in(&expression, {"key"});
      const Node* values = find_in(&expression, {"values"});
      const bool product =
          key != nullptr && key->is_string() &&
          (key->string() == "nvidia.com/gpu.product" || key->string() == "cloud.google.com/gke-accelerator");
      if (!product || values == nullptr || !values->is_list() || values->list().size() != 1) continue;
      const Node& value = values->list().front();
      if (value.is_string()) return Stated{value.string(), value.where()};
    }
  }
  return std::nullopt;
}

class Manifest {
 public:
  Manifest(const Node& root, const TextPlaces& places, const std::map<std::string, std::string, std::less<>>& files)
      : root_(root), places_(places), files_(files) {}

  std::vector<ServeCall> calls() {
    const Node* kind = find_in(&root_, {"kind"});
    const Node* name = find_in(&root_, {"metadata", "name"});
    name_ = format("{}/{}", kind != nullptr && kind->is_string() ? kind->string() : "?",
                   name != nullptr && name->is_string() ? name->string() : "?");
    if (kind != nullptr && kind->is_string() && kind->string() == "RayService") ray();
    if (const Node* size = find_in(&root_, {"spec", "leaderWorkerTemplate", "size"})) {
      nodes_ = count_in(size).value_or(1);
      grouped_ = true;
    }
    if (const Node* model = find_in(&root_, {"spec", "predictor", "model"})) served_model(*model);
    if (const Node* model = find_in(&root_, {"spec", "model"})) described_model(*model);
    if (out_.empty()) walk(root_, 0);
    return std::move(out_);
  }

 private:
  void walk(const Node& node, int depth) {
    if (depth > 24) return;
    if (node.is_list()) {
      for (const Node& item : node.list()) walk(item, depth + 1);
      return;
    }
    if (!node.is_map()) return;
    const Node* containers = node.find("containers");
    if (containers != nullptr && containers->is_list()) {
      for (const Node& container : containers->list()) {
        if (container.is_map()) this->container(container, node);
      }
    }
    for (const auto& [key, value] : node.members()) {
      if (key != "containers" && key != "initContainers") walk(value, depth + 1);
    }
  }

  std::vector<EnvironmentVariable> environment(const Node& container) const {
    std::vector<EnvironmentVariable> out;
    const Node* list = container.find("env");
    if (list == nullptr || !list->is_list()) return out;
    for (const Node& one : list->list()) {
      const Node* name = find_in(&one, {"name"});
      const Node* value = find_in(&one, {"value"});
      if (name == nullptr || value == nullptr || value->is_map() || value->is_list()) continue;
      out.push_back({name->scalar_text(), value->scalar_text(), value->where()});
    }
    return out;
  }

  // What a ConfigMap of the same file holds, without the blanks that give it its place.
  std::optional<std::string> mapped(std::string_view key) const {
    const auto found = files_.find(key);
    if (found == files_.end()) return std::nullopt;
    const std::string& text = found->second;
    const std::size_t first = text.find_first_not_of(" \t\n");
    return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(" \t\n") + 1 - first);
  }

  // A variable that the cluster sets when the pod starts stays as it is written: it is known there.
  std::optional<std::string> set_elsewhere(const Node& container, std::string_view name) const {
    const std::string as_written = format("$({})", name);
    if (name == "LWS_GROUP_SIZE" && grouped_) return std::to_string(nodes_);
    if ((name == "LWS_LEADER_ADDRESS" || name == "LWS_WORKER_INDEX") && grouped_) return as_written;
    const Node* list = container.find("env");
    if (list != nullptr && list->is_list()) {
      for (const Node& one : list->list()) {
        const Node* own = find_in(&one, {"name"});
        if (own == nullptr || own->scalar_text() != name || find_in(&one, {"valueFrom"}) == nullptr) continue;
        const Node* key = find_in(&one, {"valueFrom", "configMapKeyRef", "key"});
        return key == nullptr ? as_written : mapped(key->scalar_text()).value_or(as_written);
      }
    }
    return container.has("envFrom") ? std::optional(mapped(name).value_or(as_written)) : std::nullopt;
  }

  std::vector<Word> words(const Node& container, std::string_view key,
                          const std::vector<EnvironmentVariable>& environment) const {
    const Lookup lookup = [&](std::string_view name) -> std::optional<std::string> {
      for (const EnvironmentVariable& one : environment) {
        if (one.name == name) return one.value;
      }
      return set_elsewhere(container, name);
    };
    std::vector<Word> out;
    const Node* list = container.find(key);
    if (list == nullptr || !list->is_list()) return out;
    for (const Node& item : list->list()) {
      if (!item.is_map() && !item.is_list()) out.push_back(expand_references(item.scalar_text(), item.where(), lookup));
    }
    return out;
  }

  GpuRequest requested(const Node& container, const Node* pod) const {
    GpuRequest out;
    for (const std::string_view how : {"requests", "limits"}) {
      const Node* number = find_in(&container, {"resources", how, "nvidia.com/gpu"});
      if (const std::optional<std::int64_t> count = count_in(number)) {
        out.count = *count * nodes_;
        out.where = number->where();
      }
    }
    out.product = product_in(find_in(pod, {"nodeSelector"}));
    if (!out.product) out.product = product_of_affinity(pod);
    return out;
  }

  void add(ServeCall call, const Node& container, const Node* pod) {
    call.kind = "kubernetes";
    call.name = out_.empty() ? name_ : format("{}, call {}", name_, out_.size() + 1);
    call.nodes = nodes_;
    call.files = files_;
    if (!call.gpus.count) call.gpus = requested(container, pod);
    out_.push_back(std::move(call));
  }

  void container(const Node& node, const Node& pod) {
    const Node* image = node.find("image");
    const std::vector<EnvironmentVariable> variables = environment(node);
    const Stated stated =
        image != nullptr && image->is_string() ? Stated{image->string(), image->where()} : Stated{"", node.where()};
    for (ServeCall& call : serve_of_container(stated, words(node, "command", variables), words(node, "args", variables),
                                              places_, shell_variables(variables))) {
      call.environment.insert(call.environment.begin(), variables.begin(), variables.end());
      if (stated.text.empty()) call.image.reset();
      add(std::move(call), node, &pod);
    }
  }

  // "hf://ORG/NAME" and "hf://ORG/NAME:revision" -> ORG/NAME; other stores keep their last folder.
  static std::string model_of_uri(std::string uri) {
    if (uri.starts_with("hf://")) {
      uri.erase(0, 5);
      return uri.substr(0, uri.find(':'));
    }
    return uri;
  }

  // InferenceService with `model:`: the Hugging Face runtime, whose arguments are vLLM's own.
  void served_model(const Node& model) {
    const Node* format_name = find_in(&model, {"modelFormat", "name"});
    const bool known =
        format_name != nullptr && format_name->is_string() &&
        (format_name->string() == "huggingface" || format_name->string() == "vLLM" || format_name->string() == "vllm");
    if (!known) return;
    const std::vector<EnvironmentVariable> variables = environment(model);
    ServeCall call;
    call.where = model.where();
    call.environment = variables;
    std::vector<Word> rest;
    const std::vector<Word> given = words(model, "args", variables);
    for (std::size_t i = 0; i < given.size(); ++i) {
      const std::string flag = given[i].text.substr(0, given[i].text.find('='));
      const bool own = flag == "--model_id" || flag == "--model_name" || flag == "--model_dir" || flag == "--backend";
      if (!own) {
        rest.push_back(given[i]);
        continue;
      }
      Word value = given[i];
      if (flag.size() < value.text.size()) {
        value.text.erase(0, flag.size() + 1);
      } else if (i + 1 < given.size()) {
        value = given[++i];
      }
      if (flag == "--model_id") call.words = {value};
    }
    const Node* uri = model.find("storageUri");
    if (call.words.empty() && uri != nullptr && uri->is_string()) {
      call.words = {{.text = model_of_uri(uri->string()), .where = uri->where()}};
    }
    if (call.words.empty()) return;
    call.words.insert(call.words.end(), rest.begin(), rest.end());
    add(std::move(call), model, find_in(&root_, {"spec", "predictor"}));
  }

  // LLMInferenceService: the model and how it is spread stand beside the pod.
  void described_model(const Node& model) {
    const Node* uri = model.is_map() ? model.find("uri") : nullptr;
    if (uri == nullptr || !uri->is_string()) return;
    ServeCall call;
    call.where = uri->where();
    call.words = {{.text = model_of_uri(uri->string()), .where = uri->where()}};
    const std::pair<std::string_view, std::string_view> sizes[] = {
        {"tensor", "--tensor-parallel-size"}, {"pipeline", "--pipeline-parallel-size"}, {"data", "--data-parallel-size"}};
    for (const auto& [key, flag] : sizes) {
      const Node* size = find_in(&root_, {"spec", "parallelism", key});
      if (size == nullptr || size->is_map() || size->is_list()) continue;
      call.words.push_back({.text = std::string(flag), .where = size->where()});
      call.words.push_back({.text = size->scalar_text(), .where = size->where()});
    }
    const Node* expert = find_in(&root_, {"spec", "parallelism", "expert"});
    if (expert != nullptr && expert->is_boolean() && expert->boolean()) {
      call.words.push_back({.text = "--enable-expert-parallel", .where = expert->where()});
    }
    const Node* pod = find_in(&root_, {"spec", "template"});
    const Node* containers = find_in(pod, {"containers"});
    if (containers == nullptr || !containers->is_list() || containers->list().empty())
      return add(std::move(call), model, pod);
    const Node& main = containers->list().front();
    call.environment = environment(main);
    std::vector<Word> more = words(main, "args", call.environment);
    for (const EnvironmentVariable& one : call.environment) {
      if (one.name != "VLLM_ADDITIONAL_ARGS") continue;
      ShellVariables none;
      for (ShellCommand& command : read_shell_inside(one.value, places_, one.where, none)) {
        for (Word& word : command.words) more.push_back(std::move(word));
      }
    }
    call.words.insert(call.words.end(), more.begin(), more.end());
    if (const Node* image = find_in(&main, {"image"}); image != nullptr && image->is_string()) {
      call.image = Stated{image->string(), image->where()};
    }
    add(std::move(call), main, pod);
  }

  void ray() {
    const Node* text = find_in(&root_, {"spec", "serveConfigV2"});
    if (text == nullptr || !text->is_string()) return;
    for (ServeCall& call : ray_serve_calls(parse_embedded_yaml(*text, places_), name_)) out_.push_back(std::move(call));
  }

  const Node& root_;
  const TextPlaces& places_;
  const std::map<std::string, std::string, std::less<>>& files_;
  std::string name_;
  std::int64_t nodes_ = 1;
  bool grouped_ = false;  ///< a LeaderWorkerSet, whose controller sets LWS_*
  std::vector<ServeCall> out_;
};

}  // namespace

std::vector<ServeCall> kubernetes_calls(const std::vector<Node>& documents, const TextPlaces& places) {
  std::map<std::string, std::string, std::less<>> files;
  for (const Node& document : documents) {
    const Node* kind = find_in(&document, {"kind"});
    const Node* data = find_in(&document, {"data"});
    if (kind == nullptr || !kind->is_string() || kind->string() != "ConfigMap" || data == nullptr || !data->is_map())
      continue;
    for (const auto& [name, text] : data->members()) {
      if (text.is_string()) files[name] = embedded_text(text, places);
    }
  }
  std::vector<ServeCall> out;
  for (const Node& document : documents) {
    if (!document.is_map()) continue;
    const Node* items = document.find("items");
    if (items != nullptr && items->is_list()) {
      for (ServeCall& call : kubernetes_calls(items->list(), places)) out.push_back(std::move(call));
      continue;
    }
    for (ServeCall& call : Manifest(document, places, files).calls()) out.push_back(std::move(call));
  }
  return out;
}

}  // namespace kvfit::runtime
