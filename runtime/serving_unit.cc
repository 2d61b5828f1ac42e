#include "runtime/serving_unit.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "profiles/error.h"
#include "profiles/quantity.h"
#include "profiles/spelling.h"
#include "profiles/text.h"
#include "runtime/secrets.h"

namespace kvfit::runtime {
namespace {

using planner::Plan;
using planner::Question;
using profiles::Bytes;
using profiles::fail_input;
using profiles::format;
using profiles::one_of;

// "0.24.0" of "0.24": packages and images carry the release's three numbers. A build between releases stays as it is.
std::string release(const std::string& engine_version) {
  const planner::Version version = planner::parse_version(engine_version);
  if (!version.known || version.stage != 0 || version.dev != 0) return engine_version;
  return format("{}.{}.{}", version.major, version.minor, version.patch);
}

bool is_release(const std::string& engine_version) {
  const planner::Version version = planner::parse_version(engine_version);
  return version.known && version.stage == 0 && version.dev == 0;
}

std::string image_of(const ServingFacts& facts, const std::string& engine_version, const UnitWishes& wishes) {
  if (wishes.image.empty()) {
    if (!is_release(engine_version)) return "";
    std::string tag = facts.tag;
    return facts.image + ":" + tag.replace(tag.find("{}"), 2, release(engine_version));
  }
  const std::size_t slash = wishes.image.rfind('/');
  const std::string last = slash == std::string::npos ? wishes.image : wishes.image.substr(slash + 1);
  const std::size_t mark = last.find_first_of(":@");
  if (mark == std::string::npos || last.ends_with(":latest")) {
    fail_input(format("the image '{}' is not pinned", wishes.image), {}, "name a tag other than latest, or a digest");
  }
  return wishes.image;
}

// The device plugin's feature discovery writes the driver's name with dashes for blanks.
std::string product_label(const hardware::Gpu& gpu) {
  if (gpu.driver_names.empty()) return "";
  std::string out = gpu.driver_names.front();
  std::ranges::replace(out, ' ', '-');
  return out;
}

Bytes checkpoint_of(const Question& question, const Plan& plan) {
  for (const planner::Rung& rung : plan.ladder) {
    if (rung.experts == plan.experts && rung.checkpoint.count > 0) return rung.checkpoint;
  }
  Bytes out;
  for (const planner::Ledger& ledger : plan.ledgers) {
    out += ledger.sum(planner::Section::weights) * question.serving.tensor_parallel_size;
  }
  return out;
}

// What every file says in its own way, or must not say, leaves the call: port, spreading over machines, secrets.
void take_apart(const ServingFacts& facts, ServingUnit& out) {
  std::vector<ServeFlag> kept;
  for (ServeFlag& flag : out.command.flags) {
    const std::string name = flag.name.substr(std::min<std::size_t>(2, flag.name.size()));
    const std::optional<std::int64_t> number = profiles::read_count(flag.value);
    if (name == "port" && number && *number > 0 && *number < 65536) {
      out.port = static_cast<int>(*number);
    } else if (one_of(facts.secret_flags, name)) {
      out.left_out.push_back(format("{}: a secret, which belongs into the environment", flag.name));
    } else if (!one_of(facts.placement_flags, name)) {
      kept.push_back(std::move(flag));
    }
  }
  out.command.flags = std::move(kept);
  std::erase_if(out.command.environment, [&facts, &out](const std::string& text) {
    const std::string_view name = std::string_view(text).substr(0, text.find('='));
    if (one_of(facts.own_variables, name)) return true;
    const bool secret = secret_variable(facts, name, std::string_view(text).substr(std::min(name.size() + 1, text.size())));
    if (secret && !one_of(facts.secret_variables, name)) {
      out.left_out.push_back(format("{}: a secret, which belongs into the environment", name));
    }
    return secret;
  });
}

// The pool's size is stated once: bytes beat a share, and without either the release's own share is written out.
void one_budget(ServingUnit& out) {
  const auto named = [](std::string_view name) { return [name](const ServeFlag& flag) { return flag.name == name; }; };
  std::vector<ServeFlag>& flags = out.command.flags;
  const bool bytes = std::ranges::any_of(flags, named("--kv-cache-memory-bytes"));
  const bool share = std::ranges::any_of(flags, named("--gpu-memory-utilization"));
  if (bytes && share) {
    std::erase_if(flags, named("--gpu-memory-utilization"));
    out.left_out.push_back("--gpu-memory-utilization: the engine goes by --kv-cache-memory-bytes");
  }
  if (!bytes && !share && out.settings.gpu_memory_utilization > 0) {
    flags.push_back({"--gpu-memory-utilization", format("{:.4g}", out.settings.gpu_memory_utilization)});
  }
}

void spread(const Question& question, const UnitWishes& wishes, ServingUnit& out) {
  out.gpus = question.node.count;
  out.data_parallel = question.serving.data_parallel_size;
  out.nodes = std::max<std::int64_t>(1, wishes.nodes);
  if (out.gpus % out.nodes != 0) {
    fail_input(format("{} GPUs cannot be spread evenly over {} nodes", out.gpus, out.nodes), {}, "change --nodes");
  }
}

void memory(const Question& question, const Plan& plan, const ServingFacts& facts, ServingUnit& out) {
  const std::int64_t here = out.gpus_per_node();
  out.shared_memory = facts.shared_memory_per_gpu * here;
  const Bytes offloaded = profiles::from_gib(question.serving.cpu_offload_gb * static_cast<double>(here));
  out.host_memory = out.shared_memory + facts.host_memory_per_gpu * here + offloaded;
  for (const planner::Ledger& ledger : plan.ledgers) {
    const Bytes used = ledger.sum(planner::Section::weights) + ledger.sum(planner::Section::kv_cache);
    if (used > out.static_memory) {
      out.static_memory = used;
      out.device_memory = ledger.total;
    }
  }
}

}  // namespace

const std::string& pinned_image(const ServingUnit& unit) {
  if (unit.image.empty()) {
    fail_input(format("no published image belongs to version '{}'", unit.engine_version), {},
               "name one: --image REPOSITORY:TAG");
  }
  return unit.image;
}

StartTime start_time(Bytes checkpoint, const ServingFacts& facts, Bytes rate) {
  StartTime out;
  const Bytes stated = rate.count > 0 ? rate : facts.read_rate;
  out.read_seconds = profiles::cdiv(std::max<std::int64_t>(0, checkpoint.count), stated.count);
  out.compile_seconds = facts.compile_seconds;
  out.wait_seconds = profiles::round_up(facts.patience * (out.read_seconds + out.compile_seconds), 10);
  return out;
}

std::string dns_label(const std::string& text) {
  std::string out;
  for (const char c : text.substr(text.rfind('/') + 1)) {
    const unsigned char letter = static_cast<unsigned char>(c);
    const bool kept = std::isalnum(letter) != 0 && letter < 128;
    if (kept) out += static_cast<char>(std::tolower(letter));
    if (!kept && !out.empty() && out.back() != '-') out += '-';
  }
  if (out.empty() || std::isdigit(static_cast<unsigned char>(out.front())) != 0) out.insert(0, "m-");
  out.resize(std::min<std::size_t>(out.size(), 45));
  while (out.ends_with('-')) out.pop_back();
  return out;
}

std::vector<std::string> list_words(const ServingUnit& unit, const ServeFlag& flag) {
  std::vector<std::string> out;
  if (!one_of(unit.lists, flag.name)) return out;
  for (std::size_t at = 0; at < flag.value.size();) {
    const std::size_t end = std::min(flag.value.find(' ', at), flag.value.size());
    if (end > at) out.push_back(flag.value.substr(at, end - at));
    at = end + 1;
  }
  return out;
}

std::vector<std::string> flag_words(const ServingUnit& unit) {
  std::vector<std::string> out;
  for (const ServeFlag& flag : unit.command.flags) {
    const std::vector<std::string> items = list_words(unit, flag);
    if (items.empty()) {
      out.push_back(flag.value.empty() ? flag.name : flag.name + "=" + flag.value);
    } else {
      out.push_back(flag.name);
      out.insert(out.end(), items.begin(), items.end());
    }
  }
  if (unit.port != unit.default_port) out.push_back(format("--port={}", unit.port));
  return out;
}

ServingUnit make_unit(const Question& question, const Plan& plan, ServeCommand command, const std::string& engine_version,
                      const ServingFacts& facts, const UnitWishes& wishes) {
  ServingUnit out;
  out.command = std::move(command);
  out.name = dns_label(wishes.name.empty() ? out.command.model : wishes.name);
  out.image = image_of(facts, engine_version, wishes);
  out.engine_version = release(engine_version);
  out.program = wishes.program;
  out.model_is_directory =
      wishes.model_is_directory || out.command.model.starts_with('.') || out.command.model.starts_with('/');
  out.gguf = wishes.gguf;
  out.default_port = out.port = facts.port;
  out.rpc_port = facts.rpc_port;
  out.ray_port = facts.ray_port;
  out.lists = wishes.lists;
  out.settings = plan.settings;
  take_apart(facts, out);
  one_budget(out);
  if (wishes.port > 0) out.port = wishes.port;
  out.health = facts.health;
  out.gpu_product = product_label(question.node.gpu);
  out.checkpoint = checkpoint_of(question, plan);
  out.kv_tokens = plan.kv.tokens;
  spread(question, wishes, out);
  memory(question, plan, facts, out);
  out.start = start_time(out.checkpoint, facts, wishes.read_rate);
  return out;
}

}  // namespace kvfit::runtime
