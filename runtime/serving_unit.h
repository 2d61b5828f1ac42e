// One server as any serving file describes it: how the engine is called, from which image, on how many GPUs of how many
// machines, how much host memory, how long its start may take. The writers (emit.h) only spell it.
//
//   Question, Plan -> ServingUnit -> emit() -> text
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "planner/plan.h"
#include "profiles/units.h"
#include "runtime/serve_command.h"
#include "runtime/serving_facts.h"

namespace kvfit::runtime {

/// What the user may say about the file; absent values follow from the plan and the facts.
struct UnitWishes {
  std::string name, image, program, gguf;
  int port = 0;                     ///< 0 = the engine's default
  std::int64_t nodes = 0;           ///< 0 = one for each pipeline stage where the file can hold several, else one
  profiles::Bytes read_rate;        ///< 0 = the profile's
  std::vector<std::string> lists;   ///< flags that take several words: "--cudagraph-capture-sizes"
  bool model_is_directory = false;  ///< the model lies on this machine, as a carved one will
};

struct StartTime {
  std::int64_t read_seconds = 0, compile_seconds = 0;
  std::int64_t wait_seconds = 0;  ///< what probes and timeouts allow
};

struct ServingUnit {
  std::string name;                   ///< a DNS label: "qwen3-6-35b-a3b-nvfp4-192e"
  ServeCommand command;               ///< without --port and without what only one format needs
  std::vector<std::string> lists;     ///< flags that take several words, which `command` holds joined by blanks
  std::vector<std::string> left_out;  ///< what of the call is not in the file, and why
  std::string engine_version;
  std::string image;    ///< pinned; empty when none is known (see pinned_image)
  std::string program;  ///< the engine's program on a host, absolute
  bool model_is_directory = false;
  std::string gguf;  ///< file or REPOSITORY[:QUANT] for engines that read GGUF
  int port = 0, default_port = 0;
  int rpc_port = 0, ray_port = 0;  ///< ServingFacts'
  std::string health;
  std::int64_t gpus = 1, nodes = 1;  ///< of one replica, all nodes together
  std::string gpu_product;           ///< label of the device plugin; empty when the driver's name is not known
  std::int64_t data_parallel = 1;
  profiles::Bytes checkpoint;                  ///< bytes on disk, about
  profiles::Bytes shared_memory, host_memory;  ///< of one node; host_memory counts shared_memory
  StartTime start;
  // What other engines need of the plan.
  planner::Settings settings;
  profiles::Bytes static_memory, device_memory;  ///< weights and pool of the fullest GPU, and its total
  std::int64_t kv_tokens = 0;
  OtherEngine other;                ///< of a file for an engine that is not vLLM
  std::vector<std::string> header;  ///< lines without comment marks
  std::vector<std::string> ranks;   ///< table of per-rank ledgers, the same way

  std::int64_t gpus_per_node() const { return gpus / nodes; }
};

/// Throws Error when an image is named without tag or digest, or the nodes do not divide the GPUs.
/// `header` and `ranks` are left to the caller.
ServingUnit make_unit(const planner::Question& question, const planner::Plan& plan, ServeCommand command,
                      const std::string& engine_version, const ServingFacts& facts, const UnitWishes& wishes);

/// The image; throws Error when none is published for the version and none is named.
const std::string& pinned_image(const ServingUnit& unit);

/// A DNS label (RFC 1035) made of any name, at most 45 characters, so that suffixes of controllers fit behind it.
std::string dns_label(const std::string& text);

/// Words of the command after the model, one a flag: "--max-model-len=8192", "--enforce-eager"; a list is several words.
/// --port when it is not the engine's own.
std::vector<std::string> flag_words(const ServingUnit& unit);

/// Values of a flag that takes several words; empty when it is no such flag.
std::vector<std::string> list_words(const ServingUnit& unit, const ServeFlag& flag);

/// Seconds a start may take: the checkpoint read at `rate`, and compilation.
StartTime start_time(profiles::Bytes checkpoint, const ServingFacts& facts, profiles::Bytes rate);

}  // namespace kvfit::runtime
