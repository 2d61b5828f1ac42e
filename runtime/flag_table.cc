#include "runtime/flag_table.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "profiles/suggest.h"
#include "profiles/text.h"

namespace kvfit::runtime {
namespace {

using planner::Version;
using profiles::Fields;
using profiles::format;
using profiles::Node;

constexpr std::array<std::pair<std::string_view, FlagKind>, 10> kKinds = {{{"text", FlagKind::text},
                                                                           {"count", FlagKind::count},
                                                                           {"number", FlagKind::number},
                                                                           {"tokens", FlagKind::tokens},
                                                                           {"tokens_or_auto", FlagKind::tokens_or_auto},
                                                                           {"json", FlagKind::json},
                                                                           {"list", FlagKind::list},
                                                                           {"optional_text", FlagKind::optional_text},
                                                                           {"on", FlagKind::on},
                                                                           {"on_off", FlagKind::on_off}}};

FlagKind read_kind(const Node& node) {
  for (const auto& [word, kind] : kKinds) {
    if (word == node.string()) return kind;
  }
  node.fail(format("unknown kind of flag '{}'", node.string()));
}

std::string read_release(const Node* node) {
  if (node == nullptr) return "";
  if (!planner::parse_version(node->string()).known) node->fail(format("cannot read the release '{}'", node->string()));
  return node->string();
}

EngineFlag read_flag(const Node& node) {
  Fields fields(node);
  EngineFlag out;
  out.name = fields.at("name").string();
  out.kind = read_kind(fields.at("kind"));
  out.letter = fields.string("short", "");
  out.since = read_release(fields.find("since"));
  out.until = read_release(fields.find("until"));
  out.priced = fields.boolean("priced", false);
  out.unpriced = fields.string("unpriced", "");
  out.instead = fields.string("instead", "");
  fields.finish();
  return out;
}

bool before(const EngineFlag& flag, std::string_view name) { return flag.name < name; }

// "--max_model_len.x_y" -> "max-model-len", "x_y": underscores are dashes up to the first dot.
std::pair<std::string, std::string> parts(std::string_view spelled) {
  spelled.remove_prefix(std::min(spelled.find_first_not_of('-'), spelled.size()));
  const std::size_t dot = spelled.find('.');
  std::string name(spelled.substr(0, dot));
  std::replace(name.begin(), name.end(), '_', '-');
  return {std::move(name), dot == std::string_view::npos ? std::string() : std::string(spelled.substr(dot + 1))};
}

}  // namespace

bool exists_in(const EngineFlag& flag, const Version& version) {
  if (!flag.since.empty() && planner::compare(version, planner::parse_version(flag.since)) < 0) return false;
  return flag.until.empty() || planner::compare(version, planner::parse_version(flag.until)) < 0;
}

FlagTable::FlagTable(const Node& profile) {
  Fields fields(profile);
  for (const char* key : {"id", "source", "as_of"}) (void)fields.at(key).string();
  Fields config(fields.at("config_file"));
  false_is_dropped_until_ = read_release(&config.at("false_is_dropped_until"));
  config.ignore("extensions");
  config.ignore("source");
  config.finish();
  for (const Node& release : fields.at("parsers").list()) parsers_.push_back(planner::parse_version(read_release(&release)));
  for (const Node& node : fields.at("flags").list()) flags_.push_back(read_flag(node));
  fields.finish();
  std::sort(flags_.begin(), flags_.end(), [](const EngineFlag& a, const EngineFlag& b) { return a.name < b.name; });
  const auto twice = std::adjacent_find(flags_.begin(), flags_.end(),
                                        [](const EngineFlag& a, const EngineFlag& b) { return a.name == b.name; });
  if (twice != flags_.end()) profile.fail(format("the flag '{}' stands twice", twice->name));
}

const EngineFlag* FlagTable::named(std::string_view name) const {
  const std::vector<EngineFlag>::const_iterator at = std::lower_bound(flags_.begin(), flags_.end(), name, before);
  return at != flags_.end() && at->name == name ? &*at : nullptr;
}

// argparse takes a beginning that only one flag has; `--no-` forms are no candidates for it here.
const EngineFlag* FlagTable::by_beginning(std::string_view name, const Version& version) const {
  const EngineFlag* found = nullptr;
  std::vector<EngineFlag>::const_iterator at = std::lower_bound(flags_.begin(), flags_.end(), name, before);
  for (; at != flags_.end() && at->name.starts_with(name); ++at) {
    if (!exists_in(*at, version)) continue;
    if (found != nullptr) return nullptr;
    found = &*at;
  }
  return found;
}

FoundFlag FlagTable::find(std::string_view spelled, const Version& version) const {
  FoundFlag out;
  if (!spelled.starts_with("--")) {
    const std::size_t dot = spelled.find('.');
    for (const EngineFlag& flag : flags_) {
      if (!flag.letter.empty() && flag.letter == spelled.substr(0, dot)) out.flag = &flag;
    }
    if (out.flag != nullptr && dot != std::string_view::npos) out.inner = std::string(spelled.substr(dot + 1));
  } else {
    const auto [name, inner] = parts(spelled);
    out.inner = inner;
    out.flag = named(name);
    if (out.flag == nullptr && name.starts_with("no-")) {
      const EngineFlag* positive = named(std::string_view(name).substr(3));
      if (positive != nullptr && positive->kind == FlagKind::on_off) {
        out.flag = positive;
        out.off = true;
      }
    }
    if (out.flag == nullptr && name.size() > 1) out.flag = by_beginning(name, version);
  }
  out.in_version = out.flag != nullptr && exists_in(*out.flag, version);
  return out;
}

// "0.26" stands for all of 0.26.
bool FlagTable::complete_for(const Version& version) const {
  if (!version.known || parsers_.empty()) return false;
  const Version& last = parsers_.back();
  const bool within = version.major == last.major && version.minor == last.minor;
  return (within || planner::compare(version, last) < 0) && planner::compare(version, parsers_.front()) >= 0;
}

bool FlagTable::drops_false(const Version& version) const {
  return version.known && planner::compare(version, planner::parse_version(false_is_dropped_until_)) < 0;
}

std::string FlagTable::suggestion(std::string_view spelled, const Version& version) const {
  std::vector<std::string> known;
  for (const EngineFlag& flag : flags_) {
    if (exists_in(flag, version)) known.push_back("--" + flag.name);
  }
  return profiles::did_you_mean("--" + parts(spelled).first, known);
}

}  // namespace kvfit::runtime
