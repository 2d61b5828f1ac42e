// Files of each kind: what is found in them, and where.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "tests/runtime/deployment_support.h"

namespace {

using namespace kvfit;
using namespace kvfit::tests;

std::string lines(const std::string& text, const std::string& file, const runtime::FileReader& read = {}) {
  std::string out;
  for (const runtime::Deployment& one : deployments(text, file, "0.24", read)) {
    out += one.kind + (one.name.empty() ? "" : " " + one.name) + ": " + line(one) + "\n";
  }
  return out;
}

}  // namespace

TEST_CASE("a configuration file of the engine: false is dropped up to 0.25, null becomes a word, short keys do not exist") {
  const std::string text =
      "model: a/b\nmax-model-len: 8192\nenable-prefix-caching: false\nseed: null\ntp: 2\nspeculative-config:\n"
      "  method: mtp\n  num_speculative_tokens: 2\ncudagraph-capture-sizes: [1, 2, 4]\n";
  const std::vector<runtime::Deployment> found = deployments(text, "serve.yaml", "0.24");
  REQUIRE(found.size() == 1);
  CHECK(line(found[0]) == R"(a/b --max-model-len=8192 --speculative-config={"method":"mtp","num_speculative_tokens":2} )"
                          "--cudagraph-capture-sizes=1 2 4");
  CHECK(remarks(found[0]) ==
        "3:24 `enable-prefix-caching: false` has no effect: the engine's reader leaves it out\n"
        "4:7 seed without a value becomes the text \"None\"\n"
        "5:5 short names do not exist in a configuration file: 'tp'\n");
  CHECK(found[0].remarks[0].hint == "write `no-enable-prefix-caching: true`");
  CHECK(line(deployments("model: a/b\nenable-prefix-caching: false\n", "serve.yaml", "0.26")[0]) ==
        "a/b --no-enable-prefix-caching");
}

TEST_CASE("compose: lists and texts as commands, defaults of variables, GPUs, environment") {
  const std::string text = R"(x-gpu: &gpu
  deploy: {resources: {reservations: {devices: [{driver: nvidia, count: 2, capabilities: [gpu]}]}}}
services:
  db: {image: postgres:16}
  llm:
    <<: *gpu
    image: ${IMAGE:-vllm/vllm-openai:v0.24.0}
    environment: {VLLM_USE_V2_MODEL_RUNNER: "1", EMPTY: }
    command:
      - --model
      - a/b
      - --max-model-len
      - "${LEN:-32768}"
      - -tp=2
)";
  CHECK(lines(text, "compose.yaml") ==
        "compose service llm: a/b --max-model-len=32768 --tensor-parallel-size=2 | VLLM_USE_V2_MODEL_RUNNER=1 | "
        "vllm/vllm-openai:v0.24.0 | 2 GPUs\n");
  const runtime::Deployment found = deployments(text, "compose.yaml")[0];
  CHECK(runtime::argument(found, "max-model-len")->where.line == 12);
  CHECK(found.engine_version->text == "0.24.0");
  CHECK(
      lines(
          "services:\n  a:\n    image: vllm/vllm-openai:v0.24.0\n    command: >-\n      a/b --port 1\n      --dtype half\n",
          "compose.yaml") == "compose service a: a/b --port=1 --dtype=half | vllm/vllm-openai:v0.24.0\n");
}

TEST_CASE("compose: a script as entrypoint gets the command as its arguments") {
  const std::string text = R"(services:
  a:
    image: vllm/vllm-openai:v0.24.0
    entrypoint:
      - bash
      - -c
      - |
        MORE=()
        if [ "$${SPEC:-on}" != off ]; then
          MORE=(--speculative-config '{"method":"mtp","num_speculative_tokens":3}')
        fi
        exec vllm serve $${EAGER:+--enforce-eager} "$$@" "$${MORE[@]}"
      - --
    command: [--model, a/b, --max-num-seqs, "2"]
)";
  CHECK(lines(text, "compose.yaml") ==
        "compose service a: a/b --max-num-seqs=2 --speculative-config={\"method\":\"mtp\",\"num_speculative_tokens\":3} | "
        "vllm/vllm-openai:v0.24.0\n");
  CHECK(runtime::argument(deployments(text, "compose.yaml")[0], "max-num-seqs")->where.line == 14);
}

TEST_CASE("compose: .env sets variables; what nothing sets is said") {
  const runtime::FileReader read = [](const std::string& path) -> std::optional<std::string> {
    return path == ".env" ? std::optional<std::string>("LEN=4096\n") : std::nullopt;
  };
  const std::string text =
      "services:\n  a:\n    image: vllm/vllm-openai:v0.24.0\n    command: [a/b, --max-model-len, \"${LEN}\"]\n";
  CHECK(lines(text, "compose.yaml", read) == "compose service a: a/b --max-model-len=4096 | vllm/vllm-openai:v0.24.0\n");
  CHECK(remarks(deployments(text, "compose.yaml")[0]) == "4:37 nothing at hand sets the variable in '${LEN}'\n");
}

TEST_CASE("Kubernetes: pods wherever they are, several documents, GPU count and product") {
  const std::string text = R"yaml(apiVersion: v1
kind: Service
metadata: {name: llm}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: llm}
spec:
  template:
    spec:
      nodeSelector: {nvidia.com/gpu.product: NVIDIA-H100-80GB-HBM3}
      containers:
        - name: vllm
          image: vllm/vllm-openai:v0.24.0
          env: [{name: LEN, value: "8192"}, {name: TOKEN, valueFrom: {secretKeyRef: {name: x, key: y}}}]
          args: ["a/b", "--max-model-len", "$(LEN)", "--tensor-parallel-size=2"]
          resources: {limits: {nvidia.com/gpu: "2"}}
)yaml";
  CHECK(lines(text, "k8s.yaml") ==
        "kubernetes Deployment/llm: a/b --max-model-len=8192 --tensor-parallel-size=2 | LEN=8192 | "
        "vllm/vllm-openai:v0.24.0 | 2 GPUs | NVIDIA-H100-80GB-HBM3\n");
}

TEST_CASE("Kubernetes: a shell in a block, and a configuration file in a ConfigMap") {
  const std::string shell = R"(apiVersion: apps/v1
kind: StatefulSet
metadata: {name: s}
spec:
  template:
    spec:
      containers:
        - image: vllm/vllm-openai:v0.24.0
          command: [/bin/sh, -c]
          args:
            - |
              set -e
              exec vllm serve a/b \
                --max-num-seqs 16
)";
  CHECK(lines(shell, "k8s.yaml") == "kubernetes StatefulSet/s: a/b --max-num-seqs=16 | vllm/vllm-openai:v0.24.0\n");
  CHECK(runtime::argument(deployments(shell, "k8s.yaml")[0], "max-num-seqs")->where.line == 14);
  const std::string mapped = R"(apiVersion: v1
kind: ConfigMap
metadata: {name: c}
data:
  serve.yaml: |
    max-model-len: 4096
    max-num-seqs: 8
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: d}
spec: {template: {spec: {containers: [{image: "vllm/vllm-openai:v0.24.0", args: [a/b, --config, /etc/vllm/serve.yaml]}]}}}
)";
  const runtime::Deployment found = deployments(mapped, "k8s.yaml")[0];
  CHECK(line(found) == "a/b --max-model-len=4096 --max-num-seqs=8 | vllm/vllm-openai:v0.24.0");
  CHECK(runtime::argument(found, "max-num-seqs")->where.line == 7);
  CHECK(runtime::argument(found, "max-num-seqs")->where.column == 19);
}

TEST_CASE("LeaderWorkerSet: GPUs of all nodes; KServe's two descriptions") {
  const std::string lws = R"(apiVersion: leaderworkerset.x-k8s.io/v1
kind: LeaderWorkerSet
metadata: {name: big}
spec:
  leaderWorkerTemplate:
    size: 2
    leaderTemplate: {spec: {containers: [{image: "vllm/vllm-openai:v0.24.0", command: [vllm, serve, a/b, -tp, "8", -pp, "2"],
      resources: {limits: {nvidia.com/gpu: 8}}}]}}
    workerTemplate: {spec: {containers: [{image: "vllm/vllm-openai:v0.24.0", command: [bash, -c, "ray start --block"]}]}}
)";
  CHECK(
      lines(lws, "lws.yaml") ==
      "kubernetes LeaderWorkerSet/big: a/b --tensor-parallel-size=8 --pipeline-parallel-size=2 | vllm/vllm-openai:v0.24.0 | "
      "16 GPUs\n");
  const std::string inference = R"(apiVersion: serving.kserve.io/v1beta1
kind: InferenceService
metadata: {name: i}
spec:
  predictor:
    model:
      modelFormat: {name: huggingface}
      args: [--model_name=x, --model_id=a/b, --max-model-len=8192]
      resources: {limits: {nvidia.com/gpu: "1"}}
)";
  CHECK(lines(inference, "kserve.yaml") == "kubernetes InferenceService/i: a/b --max-model-len=8192 | 1 GPUs\n");
  const std::string described = R"(apiVersion: serving.kserve.io/v1alpha1
kind: LLMInferenceService
metadata: {name: l}
spec:
  model: {uri: "hf://a/b", name: x}
  parallelism: {tensor: 2}
  template: {containers: [{name: main, args: [--max-num-seqs, "8"], resources: {limits: {nvidia.com/gpu: "2"}}}]}
)";
  CHECK(lines(described, "kserve.yaml") ==
        "kubernetes LLMInferenceService/l: a/b --tensor-parallel-size=2 --max-num-seqs=8 | 2 GPUs\n");
}

TEST_CASE("Ray Serve: engine_kwargs are Python values, in a file and in a RayService") {
  const std::string app = R"(applications:
  - name: chat
    import_path: ray.serve.llm:build_openai_app
    args:
      llm_configs:
        - model_loading_config: {model_id: x, model_source: a/b}
          accelerator_type: H100
          engine_kwargs: {max_model_len: 8192, enable_prefix_caching: false, quantization: null}
)";
  const std::string expected = "a/b --max-model-len=8192 --no-enable-prefix-caching | H100\n";
  CHECK(lines(app, "ray.yaml") == "ray serve application chat: " + expected);
  std::string service = "apiVersion: ray.io/v1\nkind: RayService\nmetadata: {name: r}\nspec:\n  serveConfigV2: |\n";
  for (std::size_t at = 0; at < app.size(); at = app.find('\n', at) + 1) {
    service += "    " + app.substr(at, app.find('\n', at) - at + 1);
  }
  CHECK(lines(service, "ray.yaml") == "ray serve RayService/r, application chat: " + expected);
  CHECK(runtime::argument(deployments(service, "ray.yaml")[0], "max-model-len")->where.line == 13);
}

TEST_CASE("systemd units and quadlets, with variables and quotes of their own") {
  const std::string unit =
      "[Unit]\nDescription=x\n[Service]\nEnvironment=\"LEN=8192\" VLLM_USE_V2_MODEL_RUNNER=0\n"
      "ExecStart=/opt/venv/bin/vllm serve a/b \\\n  --max-model-len ${LEN} \\\n"
      "  --limit-mm-per-prompt '{\"image\":0}'\nRestart=on-failure\n";
  CHECK(lines(unit, "vllm.service") ==
        "systemd: a/b --max-model-len=8192 --limit-mm-per-prompt={\"image\":0} | LEN=8192 | VLLM_USE_V2_MODEL_RUNNER=0\n");
  CHECK(runtime::argument(deployments(unit, "vllm.service")[0], "max-model-len")->where.line == 6);
  const std::string quadlet =
      "[Container]\nImage=docker.io/vllm/vllm-openai:v0.24.0\nExec=--model a/b --max-num-seqs 4\n"
      "AddDevice=nvidia.com/gpu=0\nAddDevice=nvidia.com/gpu=1\n";
  CHECK(lines(quadlet, "vllm.container") == "quadlet: a/b --max-num-seqs=4 | docker.io/vllm/vllm-openai:v0.24.0 | 2 GPUs\n");
}

TEST_CASE("shell scripts: continuations, quotes, variables, arrays, docker run, here-documents") {
  const std::string script = R"(#!/bin/bash
MODEL=a/b   # the model
LEN=${LEN:-8192}
ARGS=(--max-num-seqs 16 --kv-cache-dtype "fp8")
export VLLM_USE_V2_MODEL_RUNNER=1
cat <<EOF > notes.txt
it's vllm serve x/y, says the note
EOF
CUDA_VISIBLE_DEVICES=0 nohup vllm serve "$MODEL" --max-model-len $LEN "${ARGS[@]}" \
  --port 8000 > log.txt 2>&1 &
)";
  CHECK(lines(script, "run.sh") ==
        "shell: a/b --max-model-len=8192 --max-num-seqs=16 --kv-cache-dtype=fp8 --port=8000 | VLLM_USE_V2_MODEL_RUNNER=1 | "
        "CUDA_VISIBLE_DEVICES=0\n");
  CHECK(
      lines(
          "docker run --rm -it --gpus '\"device=0,1\"' -e A=b -v x:/y --name n vllm/vllm-openai:v0.24.0 --model a/b -tp 2\n",
          "run.sh") == "shell: a/b --tensor-parallel-size=2 | A=b | vllm/vllm-openai:v0.24.0 | 2 GPUs\n");
  CHECK(remarks(deployments("vllm serve a/b --max-model-len $LEN\n", "run.sh")[0]) ==
        "1:32 nothing at hand sets the variable in '$LEN'\n");
}

TEST_CASE("a saved plan is asked again") {
  const std::string plan = R"({"schema":"kvfit.plan","format_version":"1.0","result":{"verdict":"fits",
 "gpu":{"id":"rtx5090-24g","count":1,"system":"wsl2"},"engine":{"name":"vllm","version":"0.24"},
 "model":{"id":"m","experts":256,"planned_experts":192},
 "serve":["vllm","serve","./m-192e","--max-model-len","8192"]}})";
  const runtime::Deployment found = deployments(plan, "plan.json")[0];
  CHECK(line(found) == "m --max-model-len=8192 | 1 GPUs | rtx5090-24g");
  CHECK(found.experts == 192);
  CHECK(found.wsl2);
  CHECK(found.engine_version->text == "0.24");
  CHECK(complaint(R"({"schema":"kvfit.plan","format_version":"2.0","result":{}})", "plan.json")
            .starts_with("error: this plan has format 2.0; this kvfit reads 1.x\n"));
}

TEST_CASE("files that start nothing of the engine hold no deployment") {
  CHECK(lines("services:\n  a: {image: sglang/sglang, command: [--model-path, a/b]}\n", "compose.yaml").empty());
  CHECK(lines("a: 1\nb: 2\n", "x.yaml").empty());
  CHECK(lines("pip install vllm\n", "x.sh").empty());
  CHECK_FALSE(runtime::may_hold_deployment("services: {}"));
}

TEST_CASE("what cannot be read says where") {
  CHECK(complaint("vllm serve 'a/b\n", "run.sh") ==
        "error: not a shell script: a quote is not closed\n  --> run.sh:1:12\n 1 | vllm serve 'a/b\n   |            ^");
  CHECK(complaint("[Service]\nExecStart=vllm serve \"a/b\n", "a.service")
            .starts_with("error: a quote is not closed in this unit\n"));
  CHECK(complaint("services:\n  a: [\n", "compose.yaml").starts_with("error: not YAML: "));
  CHECK(complaint("services:\n  a: {image: \"vllm/vllm-openai\", command: [\"${X\"]}\n", "compose.yaml")
            .starts_with("error: ${ is not closed\n  --> compose.yaml:2:"));
  CHECK(complaint(std::string(1'100'000, 'x'), "a.sh") ==
        "error: 1100000 bytes are too many for a deployment\n  --> a.sh\n  help: kvfit reads files of up to 1 MiB");
}

TEST_CASE("variables that grow without bound are stopped") {
  std::string script = "A=xxxxxxxxxxxxxxxx\n";
  for (int i = 0; i < 40; ++i) script += "A=$A$A\n";
  CHECK(complaint(script + "vllm serve $A\n", "a.sh").starts_with("error: variables make this script too long to read\n"));
}

TEST_CASE("the published serve line and the compose tiers can be written again without loss") {
  for (const char* name : {"shell/5090-laptop-28b-rung.sh", "shell/5090-laptop-28b-rung-mtp.sh",
                           "compose/qwen3.6-27b-nvfp4-single.yml", "compose/qwen3.6-27b-nvfp4-dual.yml"}) {
    CAPTURE(name);
    const std::string path = std::string("tests/deployments/") + name;
    const std::vector<runtime::Deployment> found = deployments(profiles::read_text_file(path), path);
    REQUIRE(found.size() == 1);
    const std::vector<runtime::Deployment> again =
        deployments(runtime::shell_text(runtime::serve_command(found[0])), "again.sh");
    REQUIRE(again.size() == 1);
    REQUIRE(again[0].arguments.size() == found[0].arguments.size());
    for (std::size_t i = 0; i < found[0].arguments.size(); ++i) {
      CHECK(again[0].arguments[i].name == found[0].arguments[i].name);
      CHECK(again[0].arguments[i].value == found[0].arguments[i].value);
      CHECK(again[0].arguments[i].off == found[0].arguments[i].off);
    }
    CHECK(again[0].model->text == found[0].model->text);
  }
}
