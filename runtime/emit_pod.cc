// The pod that every Kubernetes file holds, and Deployment, Service and KServe's InferenceService around it.
// Sources: Kubernetes API (PodSpec, Probe, emptyDir), vllm-project/vllm docs/deployment/k8s.md, kserve/kserve
// InferenceService v1beta1.
#include <string>
#include <utility>
#include <vector>

#include "profiles/json.h"
#include "profiles/text.h"
#include "runtime/emit.h"

namespace kvfit::runtime {
namespace {

using profiles::format;
using profiles::Json;

constexpr std::int64_t kProbePeriod = 10;  // seconds

Json probe(const ServingUnit& unit, std::int64_t period, std::int64_t failures) {
  return {{"httpGet", {{"path", unit.health}, {"port", unit.port}}},
          {"periodSeconds", period},
          {"timeoutSeconds", 5},
          {"failureThreshold", failures}};
}

Json environment(const ServingUnit& unit) {
  Json out = Json::array();
  for (const std::string& text : unit.command.environment) {
    const std::size_t equals = text.find('=');
    out.push_back({{"name", text.substr(0, equals)}, {"value", text.substr(equals + 1)}});
  }
  out.push_back({{"name", "HF_HOME"}, {"value", "/models/huggingface"}});
  out.push_back({{"name", "VLLM_CACHE_ROOT"}, {"value", "/models/vllm"}});
  if (!unit.model_is_directory) {
    const Json secret = {{"name", "hf-token"}, {"key", "token"}, {"optional", true}};
    out.push_back({{"name", "HF_TOKEN"}, {"valueFrom", {{"secretKeyRef", secret}}}});
  }
  return out;
}

Json resources(const ServingUnit& unit) {
  const std::string gpus = std::to_string(unit.gpus_per_node());
  const std::string host = quantity(unit.host_memory);
  return {{"requests", {{"nvidia.com/gpu", gpus}, {"memory", host}}},
          {"limits", {{"nvidia.com/gpu", gpus}, {"memory", host}}}};
}

Json labels(const ServingUnit& unit) { return {{"app.kubernetes.io/name", unit.name}}; }

}  // namespace

Json pod_spec(const ServingUnit& unit, const PodParts& parts) {
  Json container = {
      {"name", parts.container}, {"image", pinned_image(unit)}, {"command", parts.program}, {"args", parts.arguments}};
  if (unit.model_is_directory) container["workingDir"] = "/models";
  container["env"] = environment(unit);
  if (parts.serves) {
    container["ports"] = Json::array({{{"name", "http"}, {"containerPort", unit.port}}});
    container["startupProbe"] = probe(unit, kProbePeriod, unit.start.wait_seconds / kProbePeriod);
    container["readinessProbe"] = probe(unit, kProbePeriod, 3);
    container["livenessProbe"] = probe(unit, 30, 5);
  }
  container["resources"] = resources(unit);
  container["volumeMounts"] =
      Json::array({{{"name", "shm"}, {"mountPath", "/dev/shm"}}, {{"name", "models"}, {"mountPath", "/models"}}});
  Json out = Json::object();
  if (!unit.gpu_product.empty()) out["nodeSelector"] = {{"nvidia.com/gpu.product", unit.gpu_product}};
  out["enableServiceLinks"] = false;
  out["containers"] = Json::array({container});
  const Json shm = {{"name", "shm"}, {"emptyDir", {{"medium", "Memory"}, {"sizeLimit", quantity(unit.shared_memory)}}}};
  const Json models = {{"name", "models"}, {"persistentVolumeClaim", {{"claimName", unit.name + "-models"}}}};
  out["volumes"] = Json::array({shm, models});
  return out;
}

Json model_claim(const ServingUnit& unit) {
  // The checkpoint once more for what a download leaves beside it, and compiled kernels.
  const std::int64_t gib = profiles::cdiv(unit.checkpoint.count + unit.checkpoint.count / 4, profiles::kGiB) + 8;
  return {{"apiVersion", "v1"},
          {"kind", "PersistentVolumeClaim"},
          {"metadata", {{"name", unit.name + "-models"}}},
          {"spec",
           {{"accessModes", {unit.nodes > 1 ? "ReadWriteMany" : "ReadWriteOnce"}},
            {"resources", {{"requests", {{"storage", format("{}Gi", gib)}}}}}}}};
}

std::string kubernetes_file(const ServingUnit& unit) {
  const PodParts parts{
      .container = "vllm", .program = {"vllm", "serve"}, .arguments = container_arguments(unit), .serves = true};
  const Json deployment = {{"apiVersion", "apps/v1"},
                           {"kind", "Deployment"},
                           {"metadata", {{"name", unit.name}, {"labels", labels(unit)}}},
                           {"spec",
                            {{"replicas", 1},
                             {"strategy", {{"type", "Recreate"}}},
                             {"progressDeadlineSeconds", unit.start.wait_seconds + 600},
                             {"selector", {{"matchLabels", labels(unit)}}},
                             {"template", {{"metadata", {{"labels", labels(unit)}}}, {"spec", pod_spec(unit, parts)}}}}}};
  const Json service = {{"apiVersion", "v1"},
                        {"kind", "Service"},
                        {"metadata", {{"name", unit.name}, {"labels", labels(unit)}}},
                        {"spec",
                         {{"selector", labels(unit)},
                          {"ports", Json::array({{{"name", "http"}, {"port", unit.port}, {"targetPort", "http"}}})}}}};
  return yaml_documents(unit, {deployment, service, model_claim(unit)});
}

std::string kserve_file(const ServingUnit& unit) {
  const PodParts parts{
      .container = "kserve-container", .program = {"vllm", "serve"}, .arguments = container_arguments(unit), .serves = true};
  Json predictor = {{"minReplicas", 1}, {"maxReplicas", 1}, {"deploymentStrategy", {{"type", "Recreate"}}}};
  const Json pod = pod_spec(unit, parts);
  for (const auto& [key, value] : pod.items()) predictor[key] = value;
  const Json service = {
      {"apiVersion", "serving.kserve.io/v1beta1"},
      {"kind", "InferenceService"},
      {"metadata", {{"name", unit.name}, {"annotations", {{"serving.kserve.io/deploymentMode", "RawDeployment"}}}}},
      {"spec", {{"predictor", predictor}}}};
  return yaml_documents(unit, {service, model_claim(unit)});
}

}  // namespace kvfit::runtime
