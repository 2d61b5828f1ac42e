// kvfit config show: what holds where a command line says nothing, and which file says it.
#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/catalog_access.h"
#include "cli/commands.h"
#include "cli/deployment_source.h"
#include "cli/listing.h"
#include "cli/output.h"
#include "cli/project_config.h"
#include "cli/report.h"
#include "cli/table.h"
#include "cli/version.h"
#include "profiles/error.h"
#include "profiles/text.h"

namespace kvfit::cli {
namespace {

using profiles::format;
using profiles::Json;
using profiles::Node;

struct Setting {
  std::string key, value, origin;
};

std::string flat(const Node& node) {
  if (!node.is_map()) return printable(node.scalar_text());
  std::vector<std::string> parts;
  for (const auto& [key, value] : node.members()) parts.push_back(format("{}: {}", key, printable(value.scalar_text())));
  return format("{}", profiles::join(parts, ", "));
}

// Every value of kvfit.yaml with its line, lists item by item.
void from_file(const Node& root, std::vector<Setting>& out) {
  if (!root.is_map()) return;
  for (const auto& [key, value] : root.members()) {
    if (!value.is_list()) {
      out.push_back({key, flat(value), printable(value.place())});
      continue;
    }
    for (std::size_t i = 0; i < value.list().size(); ++i) {
      out.push_back({format("{}[{}]", key, i), flat(value.list()[i]), printable(value.list()[i].place())});
    }
  }
}

// What is built in, where the file says nothing of it.
void built_in(const profiles::Catalog& catalog, std::vector<Setting>& out) {
  const auto add = [&out](std::string_view key, const std::string& value, const std::string& origin) {
    const bool known = std::ranges::any_of(out, [key](const Setting& one) { return one.key == key; });
    if (!known) out.push_back({std::string(key), value, origin});
  };
  const Node defaults = catalog.load(catalog.resolve("defaults", "plan"));
  for (const std::string_view key : {"engine", "engine_version", "gpu_memory_utilization", "model"}) {
    add(key, defaults.at(key).scalar_text(), defaults.at(key).place());
  }
  add("fail_on", "error", "built-in");
  add("margin", "0", "built-in");
}

std::vector<Setting> settings(const Args& args, const profiles::Catalog& catalog) {
  std::vector<Setting> out;
  const ProjectConfig config = open_project_config(args);
  if (!config.file.empty()) {
    from_file(profiles::parse_yaml(profiles::read_text_file(config.file), config.file), out);
  }
  built_in(catalog, out);
  return out;
}

std::string table(const std::vector<Setting>& rows, bool origin, const Screen& screen) {
  Table out{.indent = 0, .columns = {{"setting", Align::left, false}, {"value", Align::left, false}}, .rows = {}};
  if (origin) out.columns.push_back({"origin", Align::left, true});
  for (const Setting& row : rows) {
    out.rows.push_back({{row.key}, {row.value}});
    if (origin) out.rows.back().push_back({row.origin});
  }
  return render(out, screen);
}

Json json(const std::vector<Setting>& rows) {
  Json out = {{"schema", "kvfit.config"}, {"format_version", "1.0"}, {"kvfit_version", std::string(version_number())}};
  out["result"] = Json::array();
  for (const Setting& row : rows) out["result"].push_back({{"key", row.key}, {"value", row.value}, {"origin", row.origin}});
  return out;
}

}  // namespace

int config_command(const Args& args, const Console& console) {
  if (args.words.size() != 1 || args.words.front() != "show") {
    profiles::fail_input("kvfit config wants the word show", {}, "see kvfit config --help");
  }
  const profiles::Catalog catalog = open_catalog(args, process_environment());
  const std::vector<Setting> rows = settings(args, catalog);
  const bool origin = args.toggle("origin").value_or(false);
  deliver(args, console, "table|json|yaml", args.text("format").value_or("table"),
          [&](std::string_view form, const Screen& screen) {
            if (form == "json") return json_text(json(rows));
            return form == "yaml" ? yaml_text(json(rows)) : table(rows, origin, screen);
          });
  return kYes;
}

}  // namespace kvfit::cli
