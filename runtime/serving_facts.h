// What serving files say beside an engine's flags, from profiles/serving/*.yaml: image, port, how much shared memory, how
// long a start may take; and other engines' words for what a plan decides.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "planner/rules.h"
#include "profiles/document.h"
#include "profiles/units.h"

namespace kvfit::runtime {

/// profiles/serving/vllm.yaml
struct ServingFacts {
  std::string image, tag;          ///< "vllm/vllm-openai", "v{}": {} is the release
  int port = 0;                    ///< the engine's own default
  int rpc_port = 0, ray_port = 0;  ///< between machines: data parallel ranks; the head of a Ray cluster
  std::string health;              ///< path that answers 200 once requests are served
  profiles::Bytes shared_memory_per_gpu, host_memory_per_gpu;
  profiles::Bytes read_rate;  ///< bytes of a checkpoint read in a second
  std::string read_source;
  std::int64_t compile_seconds = 0;  ///< of the first start of a configuration
  std::string compile_source;
  std::int64_t patience = 1;  ///< probes wait for so many times the expected start
  planner::Version nodes_since;
  std::vector<std::string> placement_flags;  ///< how a call is spread over machines: each file says that its own way
  std::vector<std::string> secret_flags, secret_variables;
  std::vector<std::string> secret_words;   ///< a variable with one of these between its underscores is secret
  std::vector<std::string> own_variables;  ///< set by the files themselves
};
/// Throws Error with place on unknown keys and absurd values.
ServingFacts read_serving_facts(const profiles::Node& profile);

/// profiles/serving/sglang.yaml, llama-server.yaml
struct OtherEngine {
  std::string id, version, source;
  std::string image, tag;  ///< empty when none is stated
  int port = 0;
  std::map<std::string, std::string, std::less<>> kv_cache_dtypes;  ///< a plan's word -> the engine's
  bool context_is_shared = false;                                   ///< its context is one for all sequences together
};
OtherEngine read_other_engine(const profiles::Node& profile);

}  // namespace kvfit::runtime
