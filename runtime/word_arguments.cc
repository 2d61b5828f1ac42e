// The engine's argument parser, word by word: vllm/utils/argparse_utils.py FlexibleArgumentParser over argparse.
#include <algorithm>
#include <cctype>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "profiles/json.h"
#include "profiles/quantity.h"
#include "profiles/spelling.h"
#include "profiles/text.h"
#include "runtime/serve_call.h"

namespace kvfit::runtime {
namespace {

using planner::Version;
using profiles::fail_input;
using profiles::format;
using profiles::Json;

// A word that argparse takes for a flag: a dash and no number, and no blank before "=".
bool is_flag(std::string_view word) {
  return word.size() > 1 && word.front() == '-' && !std::isdigit(static_cast<unsigned char>(word[1])) && word[1] != '.' &&
         word.substr(0, word.find('=')).find(' ') == std::string_view::npos;
}

bool is_switch(FlagKind kind) { return kind == FlagKind::on || kind == FlagKind::on_off; }

class Parser {
 public:
  Parser(const std::vector<Word>& words, const FlagTable& flags, const Version& version, std::vector<Remark>& remarks)
      : words_(words), flags_(flags), version_(version), remarks_(remarks) {}

  std::vector<ServeArgument> parse() {
    while (at_ < words_.size()) {
      const Word& word = words_[at_];
      if (!word.whole) unset(word);
      if (is_flag(word.text)) {
        flag(word);
      } else {
        loose(word);
      }
    }
    return std::move(out_);
  }

 private:
  void remark(Remark::Kind kind, const Word& word, std::string text, std::string hint = {}, bool fatal = false) {
    remarks_.push_back({kind, std::move(text), std::move(hint), word.where, fatal});
  }
  void unset(const Word& word) {
    if (word.command) {
      return remark(Remark::Kind::unset_variable, word, format("'{}' is what a command prints when it runs", word.text),
                    "state the value, or check the command line that comes of it: kvfit check -- vllm serve ...");
    }
    remark(Remark::Kind::unset_variable, word, format("nothing at hand sets the variable in '{}'", word.text),
           "set it in the file, or check the file as it is rendered");
  }

  void loose(const Word& word) {
    ++at_;
    const bool first = std::none_of(out_.begin(), out_.end(), [](const ServeArgument& one) { return one.name == "model"; });
    if (first) {
      out_.push_back({.name = "model", .value = word.text, .spelled = {}, .where = word.where});
    } else {
      remark(Remark::Kind::stray_word, word, format("'{}' belongs to no flag: the engine refuses to start", word.text),
             "remove it, or quote it together with the flag's value", true);
    }
  }

  // "-O3", "-O 3", "-O=3".
  bool optimisation(const Word& word) {
    if (!word.text.starts_with("-O") || word.text.starts_with("-O.")) return false;
    std::string level = word.text.substr(2);
    if (level.starts_with('=')) level.erase(0, 1);
    if (level.empty() && at_ + 1 < words_.size()) level = words_[++at_].text;
    const EngineFlag* own = flags_.named("optimization-level");
    const bool separate = own != nullptr && exists_in(*own, version_) && !level.starts_with('{');
    out_.push_back({.name = separate ? "optimization-level" : "compilation-config",
                    .value = level,
                    .spelled = "-O",
                    .where = word.where});
    ++at_;
    return true;
  }

  void flag(const Word& word) {
    if (optimisation(word)) return;
    const std::size_t equals = word.text.find('=');
    const std::string spelled = word.text.substr(0, equals);
    const FoundFlag found = flags_.find(spelled, version_);
    ++at_;
    if (found.flag == nullptr) return not_known(word, spelled, equals != std::string::npos);
    if (!found.in_version) other_version(word, spelled, *found.flag);
    ServeArgument out{.name = found.flag->name, .value = {}, .off = found.off, .spelled = spelled, .where = word.where};
    if (equals != std::string::npos) out.value = word.text.substr(equals + 1);
    if (out.name == "config" && equals != std::string::npos) return config_in_one(word, out.value);
    if (out.name == "model") model_as_flag(word);
    if (!found.inner.empty()) {
      if (equals == std::string::npos) out.value = next_value(word, spelled);
      return nested(out, found.inner);
    }
    value_of(word, *found.flag, equals != std::string::npos, out);
    repeated(out, word);
    out_.push_back(std::move(out));
  }

  void value_of(const Word& word, const EngineFlag& flag, bool given, ServeArgument& out) {
    if (is_switch(flag.kind)) return switch_value(given, out);
    if (flag.kind == FlagKind::list) {
      while (at_ < words_.size() && !is_flag(words_[at_].text)) {
        if (!words_[at_].whole) unset(words_[at_]);
        out.value += (out.value.empty() ? "" : " ") + words_[at_++].text;
      }
      return;
    }
    if (given) return;
    if (flag.kind == FlagKind::optional_text && (at_ >= words_.size() || is_flag(words_[at_].text))) return;
    out.value = next_value(word, out.spelled);
  }

  // Releases up to 0.7 took "True" and "False" after some switches; later ones refuse the word.
  void switch_value(bool given, ServeArgument& out) {
    std::string word = profiles::lower(out.value);
    const bool old = planner::compare(version_, planner::parse_version("0.8")) < 0;
    if (!given && at_ < words_.size()) word = profiles::lower(words_[at_].text);
    if (word != "true" && word != "false") {
      out.value.clear();
      return;
    }
    if (!old) {
      const Word& stray = given ? words_[at_ - 1] : words_[at_];
      remark(Remark::Kind::stray_word, stray,
             format("{} is a switch and takes no '{}': the engine refuses to start", out.spelled, stray.text),
             word == "true" ? format("write {} alone", out.spelled) : format("write --no-{}", out.name), true);
    }
    if (!given) ++at_;
    out.off = out.off != (word == "false");
    out.value.clear();
  }

  std::string next_value(const Word& word, const std::string& spelled) {
    if (at_ >= words_.size() || is_flag(words_[at_].text)) {
      fail_input(format("{} needs a value", spelled), word.where);
    }
    if (!words_[at_].whole) unset(words_[at_]);
    return words_[at_++].text;
  }

  void not_known(const Word& word, const std::string& spelled, bool given) {
    const std::string near = flags_.suggestion(spelled, version_);
    remark(Remark::Kind::unknown_flag, word, format("no release of the engine known to kvfit has a flag {}", spelled),
           near.empty() ? "the engine refuses flags it does not know, and kvfit leaves this one out" : near,
           flags_.complete_for(version_));
    if (!given && at_ < words_.size() && !is_flag(words_[at_].text)) ++at_;
  }

  void other_version(const Word& word, const std::string& spelled, const EngineFlag& flag) {
    const bool gone = !flag.until.empty() && planner::compare(version_, planner::parse_version(flag.until)) >= 0;
    remark(Remark::Kind::other_version, word,
           gone ? format("{} is gone in {} (until {})", spelled, version_.text, flag.until)
                : format("{} is not known to {} (since {})", spelled, version_.text, flag.since),
           flag.instead.empty() ? "the engine refuses flags it does not know" : format("write {}", flag.instead),
           version_.known);
  }

  void config_in_one(const Word& word, const std::string& path) {
    remark(
        Remark::Kind::config_not_read, word,
        format("{} is accepted, but the engine never reads the file: it looks for --config as a word of its own", word.text),
        format("write --config {}", path));
  }

  void model_as_flag(const Word& word) {
    remark(Remark::Kind::model_as_flag, word, "--model is deprecated with `vllm serve`",
           "name the model right after `serve`");
  }

  void repeated(const ServeArgument& out, const Word& word) {
    for (const ServeArgument& before : out_) {
      if (before.name != out.name || before.spelled.empty()) continue;
      remark(Remark::Kind::repeated, word, format("{} stands twice: the last one holds", out.spelled), "remove one of them");
      return;
    }
  }

  // --compilation-config.pass_config.x 1, and "+" for list items: merged into one JSON object.
  void nested(const ServeArgument& dotted, std::string path) {
    const bool listed = path.ends_with('+');
    if (listed) path.pop_back();
    Json value = Json::parse(dotted.value, nullptr, false);
    if (value.is_discarded()) {
      const std::optional<std::int64_t> count = profiles::read_count(dotted.value);
      value = count ? Json(*count) : Json(dotted.value);
    }
    ServeArgument* whole = nullptr;
    for (ServeArgument& one : out_) {
      if (one.name == dotted.name) whole = &one;
    }
    Json object = whole == nullptr ? Json::object() : Json::parse(whole->value, nullptr, false);
    if (!object.is_object()) object = Json::object();
    Json* place = &object;
    for (std::string_view rest = path; !rest.empty();) {
      const std::size_t dot = rest.find('.');
      if (!place->is_object()) *place = Json::object();
      place = &(*place)[std::string(rest.substr(0, dot))];
      rest.remove_prefix(dot == std::string_view::npos ? rest.size() : dot + 1);
    }
    if (listed) {
      if (!place->is_array()) *place = Json::array();
      place->push_back(std::move(value));
    } else {
      *place = std::move(value);
    }
    const std::string text = object.dump(-1, ' ', false, Json::error_handler_t::replace);
    if (whole != nullptr) {
      whole->value = text;
    } else {
      out_.push_back({.name = dotted.name, .value = text, .off = false, .spelled = dotted.spelled, .where = dotted.where});
    }
  }

  const std::vector<Word>& words_;
  const FlagTable& flags_;
  const Version& version_;
  std::vector<Remark>& remarks_;
  std::size_t at_ = 0;
  std::vector<ServeArgument> out_;
};

}  // namespace

std::vector<ServeArgument> word_arguments(const std::vector<Word>& words, const FlagTable& flags, const Version& version,
                                          std::vector<Remark>& remarks) {
  return Parser(words, flags, version, remarks).parse();
}

}  // namespace kvfit::runtime
