#include "runtime/correction_store.h"

#include <array>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "profiles/document.h"
#include "profiles/error.h"
#include "profiles/json.h"
#include "profiles/text.h"
#include "profiles/write_file.h"

namespace kvfit::runtime {
namespace {

namespace fs = std::filesystem;
using planner::Correction;
using planner::Quantity;
using profiles::Bytes;
using profiles::Json;
using profiles::Node;

constexpr std::array kQuantities = {Quantity::weights, Quantity::activation, Quantity::non_torch, Quantity::graph_estimate,
                                    Quantity::graphs};

struct Stored {
  CorrectionKey key;
  std::vector<Correction> corrections;
};

bool same(const CorrectionKey& a, const CorrectionKey& b) {
  return a.gpu == b.gpu && a.model == b.model && a.engine == b.engine && a.engine_version == b.engine_version &&
         a.tensor_parallel_size == b.tensor_parallel_size;
}

Quantity read_quantity(const Node& node) {
  for (const Quantity quantity : kQuantities) {
    if (planner::quantity_name(quantity) == node.string()) return quantity;
  }
  node.fail(profiles::format("unknown quantity '{}'", node.string()));
}

Correction read_correction(const Node& node) {
  return {.quantity = read_quantity(node.at("quantity")),
          .difference = Bytes(node.at("difference_bytes").integer()),
          .error = Bytes(node.at("error_bytes").integer(0, std::int64_t{1} << 50)),
          .source = node.at("source").string()};
}

std::vector<Stored> read_store(const std::string& path) {
  std::vector<Stored> out;
  std::error_code error;
  if (!fs::exists(path, error)) return out;
  const Node root = profiles::parse_json(profiles::read_text_file(path), path);
  if (root.at("schema").string() != "kvfit.corrections") root.at("schema").fail("not a file of kvfit's corrections");
  for (const Node& boot : root.at("boots").list()) {
    Stored stored;
    stored.key = {.gpu = boot.at("gpu").string(),
                  .model = boot.at("model").string(),
                  .engine = boot.at("engine").string(),
                  .engine_version = boot.at("engine_version").string(),
                  .tensor_parallel_size = boot.at("tensor_parallel_size").integer(1, 4096)};
    for (const Node& correction : boot.at("corrections").list()) stored.corrections.push_back(read_correction(correction));
    out.push_back(std::move(stored));
  }
  return out;
}

Json to_json(const Stored& stored) {
  Json corrections = Json::array();
  for (const Correction& c : stored.corrections) {
    corrections.push_back({{"quantity", planner::quantity_name(c.quantity)},
                           {"difference_bytes", c.difference.count},
                           {"error_bytes", c.error.count},
                           {"source", c.source}});
  }
  return {{"gpu", stored.key.gpu},
          {"model", stored.key.model},
          {"engine", stored.key.engine},
          {"engine_version", stored.key.engine_version},
          {"tensor_parallel_size", stored.key.tensor_parallel_size},
          {"corrections", corrections}};
}

}  // namespace

std::string default_correction_file() {
  if (const char* data = std::getenv("XDG_DATA_HOME"); data && *data) return std::string(data) + "/kvfit/corrections.json";
  if (const char* home = std::getenv("HOME"); home && *home)
    return std::string(home) + "/.local/share/kvfit/corrections.json";
  return "";
}

std::vector<Correction> find_corrections(const std::string& path, const CorrectionKey& key) {
  if (path.empty()) return {};
  for (const Stored& stored : read_store(path)) {
    if (same(stored.key, key)) return stored.corrections;
  }
  return {};
}

void store_corrections(const std::string& path, const CorrectionKey& key, const std::vector<Correction>& corrections) {
  if (path.empty()) profiles::fail_environment("no place to keep corrections", {}, "set XDG_DATA_HOME or HOME");
  std::vector<Stored> all = read_store(path);
  std::erase_if(all, [&key](const Stored& stored) { return same(stored.key, key); });
  if (!corrections.empty()) all.push_back({key, corrections});
  Json boots = Json::array();
  for (const Stored& stored : all) boots.push_back(to_json(stored));
  const Json root = {{"schema", "kvfit.corrections"}, {"format_version", "1.0"}, {"boots", boots}};
  const fs::path folder = fs::path(path).parent_path();
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) profiles::fail_environment(profiles::format("cannot make folder '{}': {}", folder.string(), error.message()));
  profiles::write_file(path, root.dump(2) + "\n");
}

}  // namespace kvfit::runtime
