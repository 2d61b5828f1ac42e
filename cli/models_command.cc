// kvfit models [list [WORD...] | show ID | inspect PATH | lint [FILE...]]
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/catalog_access.h"
#include "cli/commands.h"
#include "cli/explain.h"
#include "cli/listing.h"
#include "cli/model_source.h"
#include "cli/table.h"
#include "cli/words.h"
#include "models/catalogue.h"
#include "models/describe.h"
#include "models/inspect.h"
#include "profiles/document.h"
#include "profiles/error.h"
#include "profiles/json.h"
#include "profiles/text.h"
#include "profiles/units.h"

namespace kvfit::cli {
namespace {

using models::Model;
using models::TensorInventory;
using profiles::format;
using profiles::grouped;
using profiles::join;
using profiles::Json;

// Absent where no rule says how a format is stored (only headers can tell then).
std::optional<TensorInventory> derived(const Model& model) {
  try {
    return models::derive_inventory(model);
  } catch (const profiles::Error&) {
    return std::nullopt;
  }
}

// "nvfp4", "bf16 + int4_awq": what at least a quarter of the bytes is, largest first.
std::string formats_text(const std::vector<models::FormatShare>& shares) {
  std::int64_t all = 0;
  for (const models::FormatShare& share : shares) all += share.bytes.count;
  std::string out;
  for (const models::FormatShare& share : shares) {
    if (out.empty() || share.bytes.count >= all / 4) out += (out.empty() ? "" : " + ") + share.format;
  }
  return out;
}

Json summary_json(const Model& model, std::optional<profiles::Bytes> bytes) {
  Json out;
  out["id"] = model.id;
  if (!model.repository.empty()) out["repository"] = model.repository;
  out["model_type"] = model.family;
  out["layers"] = model.layers.size();
  if (models::expert_count(model) > 0) out["experts"] = models::expert_count(model);
  out["max_position_embeddings"] = model.max_position;
  if (!model.quantization.method.empty()) out["quant_method"] = model.quantization.method;
  out["vision"] = model.vision.has_value();
  out["draft"] = model.draft.has_value();
  if (bytes) out["checkpoint_bytes"] = bytes->count;
  return out;
}

int list(const Args& args, const Console& console, const profiles::Catalog& catalog) {
  Listing listing{.schema = "kvfit.models", .value = Json::array()};
  listing.table.columns = {{"id", Align::left, true},
                           {"family", Align::left, true},
                           {"layers", Align::right},
                           {"experts", Align::right},
                           {"context", Align::right},
                           {"GiB", Align::right},
                           {"weights"}};
  for (const models::ModelProfile& profile : models::list_models(catalog)) {
    const Model& model = profile.model;
    if (!listed(args, {model.id, model.repository})) continue;
    const std::optional<TensorInventory> inventory = derived(model);
    std::optional<profiles::Bytes> bytes;
    if (inventory) bytes = inventory->total();
    const std::vector<models::FormatShare> shares =
        inventory ? models::weight_formats(*inventory, model)
                  : std::vector<models::FormatShare>{{models::format_name(model.quantization.base), {}}};
    Json summary = summary_json(model, bytes);
    summary["weights"] = shares.front().format;
    listing.value.push_back(std::move(summary));
    listing.table.rows.push_back({{model.id},
                                  {model.family},
                                  {std::to_string(model.layers.size())},
                                  {count_or_dash(models::expert_count(model))},
                                  {count_or_dash(model.max_position)},
                                  {bytes ? gib(*bytes) : "-"},
                                  {formats_text(shares)}});
  }
  refuse_empty(args, listing);
  deliver(args, console, listing);
  return kYes;
}

// "nvfp4" by the config, "U8 16.31, F8_E4M3 2.04 GiB" by the headers.
std::string stored_as(const models::RoleSummary& role) {
  std::string out = format("{}", join(role.formats, ", "));
  for (const models::RoleSummary::Share& share : role.dtypes) {
    out += format("{}{} {:.2f}", out.empty() ? "" : (&share == role.dtypes.data() ? ": " : ", "),
                  profiles::safetensors_name(share.dtype), profiles::to_gib(share.bytes));
  }
  return out;
}

// Bytes by role, in the order of the enumeration; the sum is the checkpoint.
void add_roles(const TensorInventory& inventory, const Model& model, Listing& listing) {
  listing.table.columns = {
      {"role"}, {"tensors", Align::right}, {"GiB", Align::right}, {"bytes", Align::right}, {"stored as, GiB"}};
  listing.value["roles"] = Json::object();
  listing.value["formats"] = Json::object();
  for (const models::RoleSummary& role : models::summarise_roles(inventory, &model)) {
    const std::string name(models::role_name(role.role));
    listing.table.rows.push_back(
        {{name}, {grouped(role.tensors)}, {gib(role.bytes)}, {grouped(role.bytes.count)}, {stored_as(role)}});
    listing.value["roles"][name] = role.bytes.count;
    listing.value["formats"][name] = role.formats;
  }
  listing.table.rows.push_back({{"all", Tone::strong},
                                {grouped(inventory.tensor_count())},
                                {gib(inventory.total())},
                                {grouped(inventory.total().count)},
                                {}});
}

// Where headers are at hand: what the config would have led one to expect.
void add_differences(const TensorInventory& inventory, const Model& model, Listing& listing) {
  if (!inventory.exact) return;
  constexpr std::size_t kShown = 20;
  listing.value["differences"] = Json::array();
  try {
    for (const std::string& line : models::differences(models::derive_inventory(model), inventory, kShown)) {
      listing.value["differences"].push_back(line);
      listing.footing += format("config and headers differ: {}\n", printable(line));
    }
  } catch (const profiles::Error& error) {
    listing.footing += format("note: nothing to compare the headers with: {}\n", printable(error.message()));
  }
}

int show(const Args& args, const Console& console, const profiles::Catalog& catalog, const std::string& usage) {
  const ModelSource source = open_model(only_word(args, usage), catalog, process_environment());
  const TensorInventory& inventory = *source.inventory;
  Listing listing{.schema = "kvfit.model", .value = summary_json(source.model, inventory.total())};
  listing.heading = format("{}  {}\n", printable(source.model.id), printable(source.model.repository));
  listing.heading += format("{} tensors, {} ({})\n", grouped(inventory.tensor_count()), bytes_text(inventory.total()),
                            inventory.exact ? "read from safetensors headers" : "derived from the config");
  listing.body = [text = printable(models::describe(source.model))](const Screen& screen) {
    return "  " + wrap(text, screen.width, 2) + "\n\n";
  };
  listing.value["exact"] = inventory.exact;
  listing.value["tensors"] = inventory.tensor_count();
  listing.value["description"] = models::describe(source.model);
  add_roles(inventory, source.model, listing);
  add_differences(inventory, source.model, listing);
  listing.value["remarks"] = source.remarks;
  for (const std::string& remark : source.remarks) listing.footing += format("note: {}\n", printable(remark));
  for (const std::string& missing : source.model.missing) listing.footing += format("assumed: {}\n", printable(missing));
  deliver(args, console, listing);
  return kYes;
}

// A checkpoint is checked against itself: what its config implies must be what its headers hold.
void lint_path(const std::string& path, const profiles::Catalog& catalog, std::vector<LintLine>& out) {
  const ModelSource source = open_model(path, catalog, process_environment());
  if (!source.inventory->exact) return;
  for (const std::string& line : models::differences(models::derive_inventory(source.model), *source.inventory)) {
    out.push_back({path, "headers and config disagree: " + line});
  }
}

void lint_profile(const std::string& id, const profiles::Catalog& catalog, std::vector<LintLine>& out) {
  const models::ModelProfile profile = models::load_model(catalog, id);
  for (const std::string& text : models::lint(profile)) out.push_back({profile.origin, text});
}

int lint(const Args& args, const Console& console, const profiles::Catalog& catalog) {
  const std::vector<std::string> paths(args.words.begin() + 1, args.words.end());
  std::vector<LintLine> lines;
  const auto collected = [&lines](const std::string& name, const auto& check) {
    try {
      check(name);
    } catch (const profiles::Error& error) {
      lines.push_back({name, error.text()});
    }
  };
  for (const std::string& path : paths) collected(path, [&](const std::string& name) { lint_path(name, catalog, lines); });
  const std::vector<profiles::ProfileFile> files = catalog.list("models");
  if (!paths.empty()) return report_lint(args, console, lines, paths.size(), "model");
  for (const profiles::ProfileFile& file : files) {
    collected(file.id, [&](const std::string& name) { lint_profile(name, catalog, lines); });
  }
  return report_lint(args, console, lines, files.size(), "model profile");
}

}  // namespace

int models_command(const Args& args, const Console& console) {
  const profiles::Catalog catalog = open_catalog(args, process_environment());
  const std::string word = args.words.empty() ? "list" : args.words.front();
  if (word == "list") return list(args, console, catalog);
  if (word == "show") return show(args, console, catalog, "kvfit models show ID");
  if (word == "inspect") return show(args, console, catalog, "kvfit models inspect PATH");
  if (word == "lint") return lint(args, console, catalog);
  unknown_word(args, {"list", "show", "inspect", "lint"});
}

}  // namespace kvfit::cli
