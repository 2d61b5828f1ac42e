// Several machines: LeaderWorkerSet with vLLM's own multi-node start, Ray clusters by script, Ray Serve LLM.
// Sources: kubernetes-sigs/lws (leaderworkerset.x-k8s.io/v1, the LWS_* variables), vllm-project/vllm
// docs/serving/parallelism_scaling.md and examples/online_serving/multi-node-serving.sh, docs.ray.io serve/llm.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "profiles/error.h"
#include "profiles/json.h"
#include "profiles/text.h"
#include "profiles/yaml_text.h"
#include "runtime/emit.h"

namespace kvfit::runtime {
namespace {

using profiles::fail_input;
using profiles::format;
using profiles::Json;

void add(std::vector<std::string>& words, std::vector<std::string> more) {
  for (std::string& word : more) words.push_back(std::move(word));
}

// One engine over all nodes: every node runs the same command, the leader alone answers requests.
PodParts spanning(const ServingUnit& unit, bool leader) {
  PodParts out{.container = leader ? "leader" : "worker",
               .program = {"vllm", "serve"},
               .arguments = container_arguments(unit),
               .serves = leader};
  if (unit.nodes > 1) {
    add(out.arguments, {format("--nnodes={}", unit.nodes), leader ? "--node-rank=0" : "--node-rank=$(LWS_WORKER_INDEX)",
                        "--master-addr=$(LWS_LEADER_ADDRESS)"});
  }
  if (!leader) out.arguments.emplace_back("--headless");
  return out;
}

// Data parallel replicas spread over the nodes: each node starts its own share and reports to the leader.
PodParts replicated(const ServingUnit& unit, bool leader) {
  const std::int64_t local = unit.data_parallel / unit.nodes;
  PodParts out{.container = leader ? "leader" : "worker",
               .program = {"vllm", "serve"},
               .arguments = container_arguments(unit),
               .serves = leader};
  add(out.arguments, {format("--data-parallel-size-local={}", local), "--data-parallel-address=$(LWS_LEADER_ADDRESS)",
                      format("--data-parallel-rpc-port={}", unit.rpc_port)});
  if (leader) return out;
  out.arguments.emplace_back("--headless");
  if (local == 1) {
    out.arguments.emplace_back("--data-parallel-start-rank=$(LWS_WORKER_INDEX)");
    return out;
  }
  // Kubernetes does no arithmetic, a shell does.
  const std::string script = format("exec vllm serve \"$@\" --data-parallel-start-rank=$((LWS_WORKER_INDEX * {}))", local);
  out.arguments.insert(out.arguments.begin(), {script, "vllm"});
  out.program = {"/bin/sh", "-c"};
  return out;
}

PodParts parts(const ServingUnit& unit, bool leader) {
  const bool several = unit.data_parallel > 1 && unit.nodes > 1;
  if (several && unit.data_parallel % unit.nodes != 0) {
    fail_input(format("data parallel size {} cannot be spread evenly over {} nodes", unit.data_parallel, unit.nodes), {},
               "change --dp or --nodes");
  }
  return several ? replicated(unit, leader) : spanning(unit, leader);
}

std::string ranks_comment(const ServingUnit& unit) {
  std::string out;
  for (const std::string& line : unit.ranks) out += "# " + line + "\n";
  return out;
}

std::string ray_head(const ServingUnit& unit) {
  const bool stated = std::ranges::any_of(
      unit.command.flags, [](const ServeFlag& flag) { return flag.name == "--distributed-executor-backend"; });
  std::string serve = serve_text(
      unit, stated ? std::vector<ServeFlag>{} : std::vector<ServeFlag>{{"--distributed-executor-backend", "ray"}});
  if (unit.command.environment.empty()) serve.insert(0, "exec ");
  std::string out = "head)\n";
  out += format("  ray start --head --node-ip-address \"$NODE_IP\" --port {} --num-gpus {}\n", unit.ray_port,
                unit.gpus_per_node());
  out += format(
      "  waited=0\n"
      "  until python3 -c 'import ray, sys; ray.init(address=\"auto\", log_to_driver=False); "
      "sys.exit(sum(n[\"Alive\"] for n in ray.nodes()) < {})'; do\n",
      unit.nodes);
  out += format(
      "    waited=$((waited + 5))\n"
      "    [ \"$waited\" -lt 600 ] || {{ echo 'not all {} nodes joined within 600 s' >&2; exit 1; }}\n"
      "    sleep 5\n"
      "  done\n",
      unit.nodes);
  return out + "  " + replaced(serve, "\n", "\n  ") + "\n  ;;\n";
}

}  // namespace

std::string leaderworkerset_file(const ServingUnit& unit) {
  const Json leader = {{"metadata", {{"labels", {{"role", "leader"}, {"app.kubernetes.io/name", unit.name}}}}},
                       {"spec", pod_spec(unit, parts(unit, true))}};
  const Json worker = {{"metadata", {{"labels", {{"app.kubernetes.io/name", unit.name}}}}},
                       {"spec", pod_spec(unit, parts(unit, false))}};
  const Json group = {{"size", unit.nodes},
                      {"restartPolicy", "RecreateGroupOnPodRestart"},
                      {"leaderTemplate", leader},
                      {"workerTemplate", worker}};
  const Json set = {{"apiVersion", "leaderworkerset.x-k8s.io/v1"},
                    {"kind", "LeaderWorkerSet"},
                    {"metadata", {{"name", unit.name}}},
                    {"spec", {{"replicas", 1}, {"leaderWorkerTemplate", group}}}};
  const Json selector = {{"leaderworkerset.sigs.k8s.io/name", unit.name}, {"role", "leader"}};
  const Json service = {
      {"apiVersion", "v1"},
      {"kind", "Service"},
      {"metadata", {{"name", unit.name + "-leader"}}},
      {"spec",
       {{"selector", selector}, {"ports", Json::array({{{"name", "http"}, {"port", unit.port}, {"targetPort", "http"}}})}}}};
  ServingUnit commented = unit;
  commented.header.insert(commented.header.end(), unit.ranks.begin(), unit.ranks.end());
  return yaml_documents(commented, {set, service, model_claim(unit)});
}

std::string ray_file(const ServingUnit& unit) {
  std::string out = "#!/bin/sh\n" + comments(unit) + ranks_comment(unit);
  out +=
      "#\n"
      "# On the head node:       HEAD_IP=10.0.0.1 NODE_IP=10.0.0.1 sh FILE head\n"
      "# On every other node:    HEAD_IP=10.0.0.1 NODE_IP=10.0.0.2 sh FILE worker\n"
      "# Use a private network: what the nodes send each other is neither encrypted nor checked.\n";
  out += format("# once on each: pip install vllm=={} 'ray[cgraph]'\n", unit.engine_version);
  out +=
      "set -eu\n"
      ": \"${HEAD_IP:?address of the head node}\" \"${NODE_IP:?address of this node}\"\n"
      "export VLLM_HOST_IP=\"$NODE_IP\"\n"
      "case \"${1:-}\" in\n";
  out += ray_head(unit);
  out += format(
      "worker)\n"
      "  exec ray start --address \"$HEAD_IP:{}\" --node-ip-address \"$NODE_IP\" --num-gpus {} --block\n"
      "  ;;\n"
      "*)\n"
      "  echo 'say head or worker' >&2\n"
      "  exit 2\n"
      "  ;;\n"
      "esac\n",
      unit.ray_port, unit.gpus_per_node());
  return out;
}

std::string ray_serve_file(const ServingUnit& unit) {
  Json config = {{"model_loading_config", {{"model_id", unit.name}, {"model_source", unit.command.model}}},
                 {"engine_kwargs", flag_map(unit, true)}};
  if (!unit.command.environment.empty()) {
    for (const std::string& text : unit.command.environment) {
      config["runtime_env"]["env_vars"][text.substr(0, text.find('='))] = text.substr(text.find('=') + 1);
    }
  }
  config["deployment_config"]["autoscaling_config"] = {{"min_replicas", 1}, {"max_replicas", 1}};
  const Json application = {{"name", unit.name},
                            {"route_prefix", "/"},
                            {"import_path", "ray.serve.llm:build_openai_app"},
                            {"args", {{"llm_configs", Json::array({config})}}}};
  Json out = Json::object();
  if (unit.port != unit.default_port) out["http_options"]["port"] = unit.port;
  out["applications"] = Json::array({application});
  std::string text = comments(unit);
  text += format("# once: pip install 'ray[llm]' vllm=={}; start: serve deploy FILE\n", unit.engine_version);
  return text + profiles::yaml_text(out);
}

}  // namespace kvfit::runtime
