// The engine's command line: names, short forms, values, and what its parser would do with each.
#include <doctest/doctest.h>

#include <string>

#include "tests/runtime/deployment_support.h"

namespace {

using namespace kvfit;
using namespace kvfit::tests;

runtime::Deployment one(const std::string& text, const std::string& version = "0.24") {
  const std::vector<runtime::Deployment> all = deployments(text, "serve.sh", version);
  REQUIRE(all.size() == 1);
  return all.front();
}

}  // namespace

TEST_CASE("long names, underscores, =, short names and beginnings of names are one flag") {
  const std::string expected = "a/b --tensor-parallel-size=2";
  CHECK(line(one("vllm serve a/b --tensor-parallel-size 2")) == expected);
  CHECK(line(one("vllm serve a/b --tensor_parallel_size=2")) == expected);
  CHECK(line(one("vllm serve a/b -tp 2")) == expected);
  CHECK(line(one("vllm serve a/b --tensor-par 2")) == expected);
  CHECK(line(one("vllm serve -tp 2 a/b")) == expected);
}

TEST_CASE("the model may be a flag, which `vllm serve` no longer likes and the module takes") {
  const runtime::Deployment found = one("vllm serve --model a/b --port 8000");
  CHECK(line(found) == "a/b --port=8000");
  CHECK(remarks(found) == "1:12 --model is deprecated with `vllm serve`\n");
  const runtime::Deployment module = one("python3 -m vllm.entrypoints.openai.api_server --model a/b --port 8000");
  CHECK(line(module) == "a/b --port=8000");
  CHECK(remarks(module).empty());
}

TEST_CASE("switches take no value and have an opposite; lists take all words up to the next flag") {
  CHECK(line(one("vllm serve a/b --enforce-eager --no-enable-prefix-caching --served-model-name x y --port 1")) ==
        "a/b --enforce-eager --no-enable-prefix-caching --served-model-name=x y --port=1");
}

TEST_CASE("JSON values keep their bytes, and dotted flags become JSON") {
  CHECK(line(one(R"(vllm serve a/b --limit-mm-per-prompt '{"image":0, "video":0}')")) ==
        R"(a/b --limit-mm-per-prompt={"image":0, "video":0})");
  CHECK(line(one("vllm serve a/b --compilation-config.cudagraph_mode NONE -cc.max_cudagraph_capture_size=64")) ==
        R"(a/b --compilation-config={"cudagraph_mode":"NONE","max_cudagraph_capture_size":64})");
  CHECK(line(one("vllm serve a/b -O3")) == "a/b --optimization-level=3");
  CHECK(line(one("vllm serve a/b -O 3", "0.11.0")) == "a/b --compilation-config=3");
}

TEST_CASE("an unknown flag is named with the nearest known one") {
  const runtime::Deployment found = one("vllm serve a/b --max-model-length 8192 --port 1");
  CHECK(line(found) == "a/b --port=1");
  REQUIRE(found.remarks.size() == 1);
  CHECK(found.remarks[0].kind == runtime::Remark::Kind::unknown_flag);
  CHECK(found.remarks[0].text == "no release of the engine known to kvfit has a flag --max-model-length");
  CHECK(found.remarks[0].hint == "did you mean '--max-model-len'?");
}

TEST_CASE("flags of another release are named with what took their place") {
  const runtime::Deployment gone = one("vllm serve a/b --guided-decoding-backend xgrammar", "0.24");
  REQUIRE(gone.remarks.size() == 1);
  CHECK(gone.remarks[0].text == "--guided-decoding-backend is gone in 0.24 (until 0.12)");
  CHECK(gone.remarks[0].hint == "write --structured-outputs-config");
  CHECK(one("vllm serve a/b --guided-decoding-backend xgrammar", "0.11.0").remarks.empty());
  const runtime::Deployment early = one("vllm serve a/b --moe-backend auto", "0.11.0");
  REQUIRE(early.remarks.size() == 1);
  CHECK(early.remarks[0].text == "--moe-backend is not known to 0.11.0 (since 0.12)");
}

TEST_CASE("--config=FILE is accepted by the engine and never read") {
  const runtime::Deployment found = one("vllm serve a/b --config=serve.yaml");
  REQUIRE(found.remarks.size() == 1);
  CHECK(found.remarks[0].kind == runtime::Remark::Kind::config_not_read);
  CHECK(found.remarks[0].hint == "write --config serve.yaml");
}

TEST_CASE("a file named by --config comes before the command line, which wins") {
  const runtime::FileReader read = [](const std::string& path) -> std::optional<std::string> {
    if (path != "serve.yaml") return std::nullopt;
    return "model: a/b\nmax-model-len: 4096\nmax-num-seqs: 8\n";
  };
  const std::vector<runtime::Deployment> found =
      deployments("vllm serve --config serve.yaml --max-model-len 8192", "serve.sh", "0.24", read);
  REQUIRE(found.size() == 1);
  CHECK(line(found[0]) == "a/b --max-model-len=4096 --max-num-seqs=8 --max-model-len=8192");
  CHECK(runtime::argument(found[0], "max-model-len")->value == "8192");
  CHECK(runtime::argument(found[0], "max-num-seqs")->where.file == "serve.yaml");
  CHECK(remarks(one("vllm serve a/b --config other.yaml")) ==
        "1:16 the configuration file other.yaml is not at hand: its values are not checked\n");
  CHECK(one("vllm serve a/b --config serve.json").remarks[0].kind == runtime::Remark::Kind::config_extension);
}

TEST_CASE("words that stand twice, stray words and switches with a value are noticed") {
  CHECK(remarks(one("vllm serve a/b -tp 2 --tensor-parallel-size 4")) ==
        "1:22 --tensor-parallel-size stands twice: the last one holds\n");
  CHECK(remarks(one("vllm serve a/b c/d")) == "1:16 'c/d' belongs to no flag: the engine refuses to start\n");
  CHECK(remarks(one("vllm serve a/b --enable-chunked-prefill False")) ==
        "1:41 --enable-chunked-prefill is a switch and takes no 'False': the engine refuses to start\n");
  CHECK(line(one("vllm serve a/b --enable-chunked-prefill False", "0.7.0")) == "a/b --no-enable-chunked-prefill");
  CHECK(one("vllm serve a/b --enable-chunked-prefill False", "0.7.0").remarks.empty());
}

TEST_CASE("a flag without its value is an error at its place") {
  CHECK(complaint("vllm serve a/b --max-model-len --port 1", "serve.sh") ==
        "error: --max-model-len needs a value\n  --> serve.sh:1:16\n 1 | vllm serve a/b --max-model-len --port 1\n"
        "   |                ^");
}

TEST_CASE("the call can be written again without loss") {
  const runtime::Deployment found =
      one(R"(VLLM_X=1 vllm serve a/b -tp 2 --limit-mm-per-prompt '{"image":0}' --port 1 -tp 4)");
  const runtime::ServeCommand command = runtime::serve_command(found);
  CHECK(runtime::shell_text(command) ==
        "VLLM_X=1 vllm serve a/b \\\n  --limit-mm-per-prompt '{\"image\":0}' \\\n  --port 1 \\\n  --tensor-parallel-size 4");
  CHECK(line(one(runtime::shell_text(command))) ==
        R"(a/b --limit-mm-per-prompt={"image":0} --port=1 --tensor-parallel-size=4 | VLLM_X=1)");
}

TEST_CASE("the release is read off an image's tag, dates and latest are no release") {
  CHECK(runtime::version_of_image("vllm/vllm-openai:v0.24.0") == "0.24.0");
  CHECK(runtime::version_of_image("vllm/vllm-openai:v0.24.0-cu130@sha256:abc") == "0.24.0");
  CHECK(runtime::version_of_image("registry.example:5000/vllm/vllm-openai:v0.19.1rc2") == "0.19.1rc2");
  CHECK(runtime::version_of_image("rocm/vllm:rocm7.0.0_vllm_0.11.2_20251210") == "0.11.2");
  CHECK_FALSE(runtime::version_of_image("vllm/vllm-openai:latest").has_value());
  CHECK_FALSE(runtime::version_of_image("vllm/vllm-openai").has_value());
  CHECK_FALSE(runtime::version_of_image("registry.example:5000/vllm").has_value());
  CHECK_FALSE(runtime::version_of_image("nvcr.io/nvidia/vllm:25.09-py3").has_value());
}
