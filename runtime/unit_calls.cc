// systemd units (ExecStart=) and podman quadlets ([Container] Image=, Exec=). Source: systemd.service(5), systemd.exec(5),
// systemd.syntax(7), podman-systemd.unit(5).
#include <algorithm>
#include <cctype>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "profiles/text.h"
#include "runtime/deployment_file.h"
#include "runtime/serve_words.h"

namespace kvfit::runtime {
namespace {

using profiles::fail_input;
using profiles::Where;

constexpr std::size_t kMostWords = 10'000;

struct Setting {
  std::string section, key;
  std::string value;       ///< continuation lines joined, each line end as one blank
  std::size_t offset = 0;  ///< of the value
};

// Lines of "Key=value" below "[Section]"; a backslash at the end joins the next line, comments between are left out.
std::vector<Setting> settings_of(std::string_view text) {
  std::vector<Setting> out;
  std::string section;
  bool joined = false;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    std::string_view line = text.substr(at, end - at);
    const std::size_t start = at;
    at = end + 1;
    if (line.ends_with('\r')) line.remove_suffix(1);
    const std::size_t first = line.find_first_not_of(" \t");
    const bool comment = first != std::string_view::npos && (line[first] == '#' || line[first] == ';');
    if (comment || (first == std::string_view::npos && !joined)) continue;
    const bool more = line.ends_with('\\');
    if (more) line.remove_suffix(1);
    if (joined) {
      out.back().value += std::string(line) + (more ? " " : "");
    } else if (line[first] == '[' && line.find(']') != std::string_view::npos) {
      section = std::string(line.substr(first + 1, line.find(']') - first - 1));
      continue;
    } else if (const std::size_t equals = line.find('='); equals != std::string_view::npos) {
      std::string key(line.substr(first, equals - first));
      while (key.ends_with(' ')) key.pop_back();
      out.push_back({section, std::move(key), std::string(line.substr(equals + 1)) + (more ? " " : ""), start + equals + 1});
    } else {
      continue;
    }
    joined = more;
  }
  return out;
}

using Variables = std::map<std::string, std::string, std::less<>>;

// A command line as systemd splits it: quotes of both kinds, backslash escapes, $NAME and ${NAME}, no shell.
class Splitter {
 public:
  Splitter(const Setting& setting, const TextPlaces& places, const Variables& variables)
      : text_(setting.value), places_(places), variables_(variables), from_(places.at(setting.offset)) {}

  std::vector<Word> split() {
    while (true) {
      at_ = std::min(text_.find_first_not_of(" \t", at_), text_.size());
      if (at_ == text_.size()) break;
      if (out_.size() >= kMostWords) fail_input("a command of too many words", from_);
      word();
    }
    return std::move(out_);
  }

 private:
  void word() {
    const std::size_t begin = at_;
    Word out{.text = {}, .where = {}, .whole = true};
    std::string raw;
    char quote = '\0';
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (quote == '\0' && (c == ' ' || c == '\t')) break;
      if (quote == '\0' && (c == '"' || c == '\'')) {
        quote = c;
      } else if (c == quote) {
        quote = '\0';
      } else if (c == '\\' && at_ + 1 < text_.size()) {
        out.text += text_[++at_];
      } else if (c == '$' && quote != '\'') {
        variable(begin, out);
      } else if (c == '%' && at_ + 1 < text_.size() && text_[at_ + 1] == '%') {
        out.text += text_[at_++];
      } else {
        out.text += c;
      }
    }
    if (quote != '\0') fail_input("a quote is not closed in this unit", place(begin));
    out.where = place(begin);
    const bool bare = text_.substr(begin, at_ - begin).find_first_of("\"'") == std::string::npos;
    if (bare && split_value_) {
      pieces(out);
    } else {
      out_.push_back(std::move(out));
    }
    split_value_ = false;
  }

  // "$NAME" as a word of its own is split at blanks, "${NAME}" never.
  void pieces(const Word& whole) {
    for (std::size_t i = 0; i < whole.text.size();) {
      const std::size_t end = std::min(whole.text.find(' ', i), whole.text.size());
      if (end > i) out_.push_back({.text = whole.text.substr(i, end - i), .where = whole.where, .whole = whole.whole});
      i = end + 1;
    }
  }

  void variable(std::size_t begin, Word& out) {
    if (at_ + 1 < text_.size() && text_[at_ + 1] == '$') {
      out.text += '$';
      ++at_;
      return;
    }
    const bool braced = at_ + 1 < text_.size() && text_[at_ + 1] == '{';
    const std::size_t name = at_ + (braced ? 2 : 1);
    std::size_t end = name;
    while (end < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[end])) != 0 || text_[end] == '_')) ++end;
    const bool closed = !braced || (end < text_.size() && text_[end] == '}');
    if (end == name || !closed) {
      out.text += text_[at_];
      return;
    }
    const Variables::const_iterator value = variables_.find(std::string_view(text_).substr(name, end - name));
    const std::size_t last = braced ? end : end - 1;
    if (value == variables_.end()) {
      out.text += text_.substr(at_, last + 1 - at_);
      out.whole = false;
    } else {
      out.text += value->second;
      if (!braced && at_ == begin) split_value_ = true;
    }
    at_ = last;
  }

  Where place(std::size_t begin) {
    const std::string_view raw = std::string_view(text_).substr(begin);
    from_ = places_.find(raw.substr(0, raw.find_first_of(" \t")), from_.line, from_.column, from_);
    return from_;
  }

  const std::string& text_;
  const TextPlaces& places_;
  const Variables& variables_;
  Where from_;
  std::size_t at_ = 0;
  bool split_value_ = false;
  std::vector<Word> out_;
};

class Unit {
 public:
  Unit(const TextPlaces& places, const FileReader& read)
      : places_(places), read_(read), settings_(settings_of(places.text())) {
    for (const Setting& setting : settings_) {
      if (setting.key == "Environment") assignments(setting);
      if (setting.key == "EnvironmentFile") file(setting);
    }
  }

  std::vector<ServeCall> calls() {
    std::vector<ServeCall> out;
    for (const Setting& setting : settings_) {
      if (setting.section == "Service" && setting.key == "ExecStart") started(setting, out);
    }
    if (const Setting* image = find("Container", "Image")) contained(*image, out);
    for (ServeCall& call : out) {
      call.environment.insert(call.environment.begin(), environment_.begin(), environment_.end());
    }
    return out;
  }

 private:
  const Setting* find(std::string_view section, std::string_view key) const {
    const Setting* out = nullptr;
    for (const Setting& one : settings_) {
      if (one.section == section && one.key == key) out = &one;
    }
    return out;
  }

  void assignments(const Setting& setting) {
    for (const Word& word : Splitter(setting, places_, {}).split()) assign(word.text, word.where);
  }
  void assign(const std::string& text, const Where& where) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos) return;
    variables_[text.substr(0, equals)] = text.substr(equals + 1);
    environment_.push_back({text.substr(0, equals), text.substr(equals + 1), where});
  }
  void file(const Setting& setting) {
    std::string path = setting.value;
    while (path.starts_with(' ') || path.starts_with('-')) path.erase(0, 1);
    const std::optional<std::string> text = read_ ? read_(path) : std::nullopt;
    if (!text) return;
    for (std::string_view rest = *text; !rest.empty();) {
      const std::string_view line = rest.substr(0, std::min(rest.find('\n'), rest.size()));
      if (!line.starts_with('#') && !line.starts_with(';')) assign(std::string(line), places_.at(setting.offset));
      rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    }
  }

  void started(const Setting& setting, std::vector<ServeCall>& out) {
    std::vector<Word> words = Splitter(setting, places_, variables_).split();
    if (words.empty()) return;
    std::string& program = words.front().text;
    program.erase(0, std::min(program.find_first_not_of("-@:+!"), program.size()));
    for (ServeCall& call : find_serve(words, places_, shell_variables(environment_))) {
      call.kind = "systemd";
      out.push_back(std::move(call));
    }
  }

  void contained(const Setting& image, std::vector<ServeCall>& out) {
    const std::vector<Word> named = Splitter(image, places_, variables_).split();
    if (named.empty()) return;
    std::vector<Word> entrypoint, arguments;
    if (const Setting* own = find("Container", "Entrypoint")) entrypoint = Splitter(*own, places_, variables_).split();
    if (const Setting* exec = find("Container", "Exec")) arguments = Splitter(*exec, places_, variables_).split();
    for (ServeCall& call : serve_of_container({named.front().text, named.front().where}, entrypoint, arguments, places_,
                                              shell_variables(environment_))) {
      call.kind = "quadlet";
      call.gpus = devices();
      out.push_back(std::move(call));
    }
  }

  // AddDevice=nvidia.com/gpu=0, once a GPU; "all" leaves the count open.
  GpuRequest devices() const {
    GpuRequest out;
    for (const Setting& one : settings_) {
      const std::size_t device = one.value.find("nvidia.com/gpu=");
      if (one.section != "Container" || one.key != "AddDevice" || device == std::string::npos) continue;
      if (one.value.substr(device + 15).starts_with("all")) return {};
      out.count = out.count.value_or(0) + 1;
      out.where = places_.at(one.offset);
    }
    return out;
  }

  const TextPlaces& places_;
  const FileReader& read_;
  std::vector<Setting> settings_;
  Variables variables_;
  std::vector<EnvironmentVariable> environment_;
};

}  // namespace

std::vector<ServeCall> unit_calls(const TextPlaces& places, const FileReader& read) { return Unit(places, read).calls(); }

}  // namespace kvfit::runtime
