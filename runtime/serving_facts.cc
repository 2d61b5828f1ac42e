#include "runtime/serving_facts.h"

#include <string>
#include <tuple>
#include <utility>

namespace kvfit::runtime {
namespace {

using profiles::Fields;
using profiles::Node;

// {name: ..., tag: "v{}", source: ...}
std::pair<std::string, std::string> read_image(const Node& node) {
  Fields fields(node);
  std::pair<std::string, std::string> out{fields.at("name").string(), fields.at("tag").string()};
  if (out.second.find("{}") == std::string::npos) node.at("tag").fail("an image's tag must hold {} for the release");
  fields.ignore("source");
  fields.finish();
  return out;
}

int read_port(const Node& node) {
  Fields fields(node);
  const int out = static_cast<int>(fields.at("number").integer(1, 65535));
  fields.ignore("source");
  fields.finish();
  return out;
}

profiles::Bytes read_mib(const Node& node) {
  Fields fields(node);
  const profiles::Bytes out = profiles::mib(fields.at("mib").integer(1, 1 << 20));
  fields.ignore("source");
  fields.finish();
  return out;
}

std::vector<std::string> read_words(const Node& node) {
  std::vector<std::string> out;
  for (const Node& word : node.list()) out.push_back(word.string());
  return out;
}

void read_start(const Node& node, ServingFacts& out) {
  Fields fields(node);
  out.read_rate = profiles::mib(fields.at("read_mib_per_second").integer(1, 1 << 20));
  out.read_source = fields.at("read_source").string();
  out.compile_seconds = fields.at("compile_seconds").integer(0, 86400);
  out.compile_source = fields.at("compile_source").string();
  out.patience = fields.at("patience").integer(1, 10);
  fields.finish();
}

}  // namespace

ServingFacts read_serving_facts(const Node& profile) {
  Fields fields(profile);
  ServingFacts out;
  std::tie(out.image, out.tag) = read_image(fields.at("image"));
  out.port = read_port(fields.at("port"));
  out.rpc_port = read_port(fields.at("rpc_port"));
  out.ray_port = read_port(fields.at("ray_port"));
  Fields health(fields.at("health"));
  out.health = health.at("path").string();
  health.ignore("source");
  health.finish();
  out.shared_memory_per_gpu = read_mib(fields.at("shared_memory_per_gpu"));
  out.host_memory_per_gpu = read_mib(fields.at("host_memory_per_gpu"));
  read_start(fields.at("start"), out);
  out.nodes_since = planner::parse_version(fields.at("nodes_since").string());
  out.placement_flags = read_words(fields.at("placement_flags"));
  out.secret_flags = read_words(fields.at("secret_flags"));
  out.secret_variables = read_words(fields.at("secret_variables"));
  out.secret_words = read_words(fields.at("secret_words"));
  out.own_variables = read_words(fields.at("own_variables"));
  for (const char* known : {"id", "as_of", "source"}) fields.ignore(known);
  fields.finish();
  return out;
}

OtherEngine read_other_engine(const Node& profile) {
  Fields fields(profile);
  OtherEngine out;
  out.id = fields.at("id").string();
  out.source = fields.at("source").string();
  out.version = fields.at("version").string();
  if (const Node* image = fields.find("image")) std::tie(out.image, out.tag) = read_image(*image);
  out.port = read_port(fields.at("port"));
  out.context_is_shared = fields.boolean("context_is_shared", false);
  for (const auto& [ours, theirs] : fields.at("kv_cache_dtypes").members()) out.kv_cache_dtypes[ours] = theirs.string();
  fields.ignore("as_of");
  fields.finish();
  return out;
}

}  // namespace kvfit::runtime
