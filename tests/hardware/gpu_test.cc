#include "hardware/gpu.h"

#include <doctest/doctest.h>

#include <string>
#include <string_view>

namespace kvfit::hardware {
namespace {

// A whole profile; tests change one line of it.
constexpr std::string_view kProfile = R"(id: test-gpu
name: Test GPU
names: [NVIDIA Test GPU]
aliases: [tg]
as_of: 2026-11-30
capability: "12.0"
nvml_total: {mib: 24463, source: "nvidia-smi"}
cuda_total_linux: {mib: [23000, 23990, 24112], how: derived, source: "fit"}
context: {mib: 246, source: "boot"}
idle: {mib: [0, 2, 15], sourced: false}
shared_memory_optin: {bytes: 101376, source: "header"}
bandwidth: {gb_s: 896, sourced: false}
)";

std::string with(std::string_view line_start, std::string_view replacement) {
  std::string out(kProfile);
  const std::size_t at = out.find(line_start);
  out.replace(at, out.find('\n', at) - at, replacement);
  return out;
}

Gpu read(const std::string& text) { return read_gpu(profiles::parse_yaml(text, "g.yaml")); }

std::string error_of(const std::string& text) {
  try {
    read(text);
  } catch (const profiles::Error& error) {
    return error.text();
  }
  return "no error";
}

TEST_CASE("a profile keeps values, units and where they came from") {
  const Gpu gpu = read(std::string(kProfile));
  CHECK(gpu.id == "test-gpu");
  CHECK(gpu.driver_names == std::vector<std::string>{"NVIDIA Test GPU"});
  CHECK(gpu.capability.number() == 120);
  CHECK(gpu.nvml_total->value == profiles::mib(24463));
  CHECK(gpu.cuda_total_linux.value.low == profiles::mib(23000));
  CHECK(gpu.cuda_total_linux.value.likely == profiles::mib(23990));
  CHECK(gpu.cuda_total_linux.value.high == profiles::mib(24112));
  CHECK(gpu.cuda_total_linux.derived);
  CHECK(gpu.cuda_total_linux.source == "fit");
  CHECK(gpu.context.value.low == gpu.context.value.high);
  CHECK_FALSE(gpu.idle.sourced);
  CHECK(gpu.bandwidth.value == 896e9);
  CHECK_FALSE(gpu.cuda_total_wsl2.has_value());
  CHECK(gpu.sm_count.value == 0);
}

TEST_CASE("an unknown key names the nearest known one") {
  CHECK(error_of(with("bandwidth", "bandwith: {gb_s: 896, sourced: false}")) ==
        "error: unknown key 'bandwith'\n"
        "  --> g.yaml:12:11  (bandwith)\n"
        " 12 | bandwith: {gb_s: 896, sourced: false}\n"
        "    |           ^\n"
        "  help: did you mean 'bandwidth'?");
  CHECK(error_of(with("context", "context: {mb: 246, source: \"boot\"}")) ==
        "error: a fact without a value\n"
        "  --> g.yaml:9:10  (context)\n"
        " 9 | context: {mb: 246, source: \"boot\"}\n"
        "   |          ^\n"
        "  help: give `bytes: ...` or `mib: ...` or `gib: ...`");
}

TEST_CASE("a value without a source is refused, and so is one that says both") {
  CHECK(error_of(with("context", "context: {mib: 246}")) ==
        "error: a value without a source\n"
        "  --> g.yaml:9:10  (context)\n"
        " 9 | context: {mib: 246}\n"
        "   |          ^\n"
        "  help: give `source: \"where it was read\"`, or say `sourced: false`");
  CHECK(error_of(with("context", "context: {mib: 246, sourced: true}")) ==
        "error: a value without a source\n"
        "  --> g.yaml:9:10  (context)\n"
        " 9 | context: {mib: 246, sourced: true}\n"
        "   |          ^\n"
        "  help: give `source: \"where it was read\"`, or say `sourced: false`");
  CHECK(error_of(with("context", "context: {mib: 246, source: \"a\", sourced: false}")) ==
        "error: `source` and `sourced` exclude each other\n"
        "  --> g.yaml:9:43  (context.sourced)\n"
        " 9 | context: {mib: 246, source: \"a\", sourced: false}\n"
        "   |                                           ^\n"
        "  help: give `source: \"where it was read\"`, or say `sourced: false`");
  CHECK(error_of(with("context", "context: {mib: 246, how: guessed, source: \"a\"}")) ==
        "error: unknown value 'guessed'\n"
        "  --> g.yaml:9:26  (context.how)\n"
        " 9 | context: {mib: 246, how: guessed, source: \"a\"}\n"
        "   |                          ^\n"
        "  help: leave `how` out for a reading, or say `how: derived`");
}

TEST_CASE("absurd values are refused in the unit they were written in") {
  // 25,151,143,936 bytes written as MiB would be 24 PiB; 4 TiB = 4,194,304 MiB is the limit.
  CHECK(error_of(with("nvml_total", "nvml_total: {mib: 25651314688, source: \"a\"}")) ==
        "error: 25651314688 is out of range: 256 to 4194304 mib is allowed\n"
        "  --> g.yaml:7:19  (nvml_total.mib)\n"
        " 7 | nvml_total: {mib: 25651314688, source: \"a\"}\n"
        "   |                   ^");
  CHECK(error_of(with("context", "context: {mib: -1, source: \"a\"}")) ==
        "error: -1 is out of range: 0 to 131072 mib is allowed\n"
        "  --> g.yaml:9:16  (context.mib)\n"
        " 9 | context: {mib: -1, source: \"a\"}\n"
        "   |                ^");
  CHECK(error_of(with("cuda_total_linux", "cuda_total_linux: {mib: [24112, 23990, 23000], source: \"a\"}")) ==
        "error: expected [low, likely, high] in rising order\n"
        "  --> g.yaml:8:25  (cuda_total_linux.mib)\n"
        " 8 | cuda_total_linux: {mib: [24112, 23990, 23000], source: \"a\"}\n"
        "   |                         ^");
  CHECK(error_of(with("capability", "capability: 12")) ==
        "error: '12' is not a compute capability\n"
        "  --> g.yaml:6:13  (capability)\n"
        " 6 | capability: 12\n"
        "   |             ^\n"
        "  help: write it as \"12.0\"");
  CHECK(error_of(with("id", "id: Test GPU")) ==
        "error: 'Test GPU' is not an id\n"
        "  --> g.yaml:1:5  (id)\n"
        " 1 | id: Test GPU\n"
        "   |     ^\n"
        "  help: an id has lower-case letters, digits and hyphens: rtx5090-24g");
}

TEST_CASE("values that contradict each other are refused") {
  CHECK(error_of(with("cuda_total_linux", "cuda_total_linux: {mib: 24464, source: \"a\"}")) ==
        "error: CUDA's total 24464 MiB exceeds NVML's 24463 MiB\n"
        "  --> g.yaml:8:19  (cuda_total_linux)\n"
        " 8 | cuda_total_linux: {mib: 24464, source: \"a\"}\n"
        "   |                   ^\n"
        "  help: CUDA reports NVML's total less the driver's reserve");
  CHECK(error_of(with("cuda_total_linux", "cuda_total_linux: {mib: 23990, sourced: false}")) ==
        "error: an unsourced total needs a range\n"
        "  --> g.yaml:8:19  (cuda_total_linux)\n"
        " 8 | cuda_total_linux: {mib: 23990, sourced: false}\n"
        "   |                   ^\n"
        "  help: write mib: [low, likely, high]");
  CHECK(error_of(with("bandwidth", "wsl2_hidden: {mib: 1341, source: \"a\"}")) ==
        "error: `cuda_total_wsl2` and `wsl2_hidden` belong together\n"
        "  --> g.yaml:12:14  (wsl2_hidden)\n"
        " 12 | wsl2_hidden: {mib: 1341, source: \"a\"}\n"
        "    |              ^\n"
        "  help: give both or neither");
}

TEST_CASE("unified memory has no context of its own, discrete memory no safe utilisation") {
  CHECK(error_of(with("aliases", "unified: true")) ==
        "error: unified memory has no context of its own\n"
        "  --> g.yaml:9:10  (context)\n"
        " 9 | context: {mib: 246, source: \"boot\"}\n"
        "   |          ^\n"
        "  help: count it in `idle`: total less free at start");
  CHECK(error_of(with("aliases", "utilisation: {ratio: 0.8, source: \"a\"}")) ==
        "error: `utilisation` is for unified memory\n"
        "  --> g.yaml:4:14  (utilisation)\n"
        " 4 | utilisation: {ratio: 0.8, source: \"a\"}\n"
        "   |              ^\n"
        "  help: set `unified: true` or drop it");
}

}  // namespace
}  // namespace kvfit::hardware
