// People write the same argument in many ways ("auto (bf16)", "MTP k=3", "~0.9.x (V1, June 2025)"). Each function reads one
// kind of text into the engine's own spelling; what it cannot read stays unstated.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "profiles/spelling.h"
#include "tests/accuracy/observation.h"

namespace kvfit::accuracy {

using profiles::lower;
/// Maximal runs of letters and digits plus `keep`, lower case: words("Qwen3 AWQ, 5.68 GiB", ".") -> qwen3 awq 5.68 gib.
std::vector<std::string> words(std::string_view text, std::string_view keep = "");
bool contains(std::string_view text, std::string_view part);

/// "fp16" and "auto (bf16)" are "bfloat16"; "fp8_e4m3 + fp16 ssm" gives both caches. Unknown marks ("?") are absent.
struct CacheTypes {
  Text kv, state;
};
CacheTypes read_cache_types(std::string_view text);

/// "MTP k=3", "MTP head", "DFlash2 k=7", "5 tokens", "deepseek_mtp"; nullopt for "none", "off", "0".
std::optional<Speculation> read_speculation(std::string_view text);

/// What an engine version text says.
struct VersionText {
  Text release;  ///< "0.26.1rc1.dev608+g99a1", or "0.24" where only a range or a date is given; absent = unknown
  enum class Basis { none, exact, range, date } basis = Basis::none;
  bool patched = false;  ///< a fork, or a release with changes of its own ("v0.20 + Genesis", "patched (sm120 FP4 KV)")
};
/// `text` may carry the engine's name ("vllm v0.24.0"). A fork's own numbering ("vllm-radiance 0.9.3", "0.1.dev1+g36f")
/// says nothing about vLLM's.
VersionText read_version(std::string_view text);

/// "vllm", "sglang", "llama.cpp" ... the first word, without a version.
std::string read_engine_name(std::string_view text);

}  // namespace kvfit::accuracy
