// The engine's reader of --config files, traps included: vllm/utils/argparse_utils.py load_config_file.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "profiles/json.h"
#include "profiles/text.h"
#include "runtime/serve_call.h"

namespace kvfit::runtime {
namespace {

using planner::Version;
using profiles::format;
using profiles::Json;
using profiles::Node;

Json json_of(const Node& node) {
  switch (node.kind()) {
    case Node::Kind::null:
      return nullptr;
    case Node::Kind::boolean:
      return node.boolean();
    case Node::Kind::integer:
      return node.integer();
    case Node::Kind::real:
      return node.number();
    case Node::Kind::string:
      return node.string();
    case Node::Kind::list: {
      Json out = Json::array();
      for (const Node& item : node.list()) out.push_back(json_of(item));
      return out;
    }
    case Node::Kind::map: {
      Json out = Json::object();
      for (const auto& [key, value] : node.members()) out[key] = json_of(value);
      return out;
    }
  }
  return nullptr;
}

std::string list_text(const Node& list) {
  std::string out;
  for (const Node& item : list.list()) {
    if (!item.is_map() && !item.is_list()) out += (out.empty() ? "" : " ") + item.scalar_text();
  }
  return out;
}

// "None" is a name like any other to these; every other flag's parser refuses it.
bool takes_any_word(FlagKind kind) {
  return kind == FlagKind::text || kind == FlagKind::optional_text || kind == FlagKind::list;
}

class Reader {
 public:
  Reader(bool python, const FlagTable& flags, const Version& version, std::vector<Remark>& remarks)
      : python_(python), flags_(flags), version_(version), remarks_(remarks) {}

  std::vector<ServeArgument> read(const Node& config) {
    for (const auto& [key, value] : config.members()) entry(key, value);
    return std::move(out_);
  }

 private:
  void remark(Remark::Kind kind, const Node& value, std::string text, std::string hint = {}, bool fatal = false) {
    remarks_.push_back({kind, std::move(text), std::move(hint), value.where(), fatal});
  }

  void entry(const std::string& key, const Node& value) {
    const FoundFlag found = flags_.find("--" + key, version_);
    if (found.flag == nullptr) return not_known(key, value);
    if (!found.in_version) {
      remark(Remark::Kind::other_version, value, format("{} is not a flag of {}", key, version_.text),
             found.flag->instead.empty() ? "the engine refuses flags it does not know"
                                         : format("write {}", found.flag->instead),
             version_.known);
    }
    ServeArgument out{.name = found.flag->name, .value = {}, .off = found.off, .spelled = key, .where = value.where()};
    switch (value.kind()) {
      case Node::Kind::boolean:
        if (!boolean(key, value, *found.flag, out)) return;
        break;
      case Node::Kind::null:
        if (python_) return;
        remark(Remark::Kind::null_value, value, format("{} without a value becomes the text \"None\"", key),
               "remove the key: what is absent is the engine's default", !takes_any_word(found.flag->kind));
        return;
      case Node::Kind::map:
        out.value = json_of(value).dump(-1, ' ', false, Json::error_handler_t::replace);
        break;
      case Node::Kind::list:
        if (value.list().empty()) return;
        out.value = list_text(value);
        break;
      default:
        out.value = value.scalar_text();
    }
    out_.push_back(std::move(out));
  }

  // Whether the entry leaves an argument behind.
  bool boolean(const std::string& key, const Node& value, const EngineFlag& flag, ServeArgument& out) {
    if (value.boolean()) {
      const bool takes_value = flag.kind != FlagKind::on && flag.kind != FlagKind::on_off;
      if (takes_value) out.value = "true";
      return true;
    }
    if (out.off || flag.kind == FlagKind::on) return false;  // already what absence means
    if (!python_ && flags_.drops_false(version_)) {
      remark(Remark::Kind::dropped_key, value, format("`{}: false` has no effect: the engine's reader leaves it out", key),
             format("write `no-{}: true`", flag.name));
      return false;
    }
    out.off = true;
    return true;
  }

  void not_known(const std::string& key, const Node& value) {
    const FoundFlag letter = flags_.find("-" + key, version_);
    if (letter.flag != nullptr) {
      remark(Remark::Kind::short_key, value, format("short names do not exist in a configuration file: '{}'", key),
             format("write {}", letter.flag->name), true);
      return;
    }
    const std::string near = flags_.suggestion("--" + key, version_);
    remark(Remark::Kind::unknown_flag, value, format("no release of the engine known to kvfit has a flag '{}'", key),
           near.empty() ? "the engine refuses flags it does not know, and kvfit leaves this one out" : near,
           flags_.complete_for(version_));
  }

  bool python_;
  const FlagTable& flags_;
  const Version& version_;
  std::vector<Remark>& remarks_;
  std::vector<ServeArgument> out_;
};

}  // namespace

std::vector<ServeArgument> config_arguments(const Node& config, bool python, const FlagTable& flags, const Version& version,
                                            std::vector<Remark>& remarks) {
  return Reader(python, flags, version, remarks).read(config);
}

}  // namespace kvfit::runtime
