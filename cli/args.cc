#include "cli/args.h"

#include <algorithm>
#include <array>
#include <boost/program_options.hpp>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "profiles/error.h"
#include "profiles/quantity.h"
#include "profiles/spelling.h"
#include "profiles/suggest.h"
#include "profiles/text.h"

namespace kvfit::cli {
namespace {

namespace po = boost::program_options;
using profiles::format;
using profiles::leading_number;
using profiles::read_count;
using profiles::read_size;
using profiles::split;
using profiles::whole_number;

// One way of writing a flag: its name, an alias, or "no-NAME". `implied` is the value an alias stands for.
struct Spelling {
  const Flag* flag;
  std::string word;
  std::optional<std::string> implied;
};

std::vector<Spelling> spellings() {
  std::vector<Spelling> out;
  for (const Flag& flag : flags()) {
    const bool toggle = flag.type == FlagType::toggle;
    const std::optional<std::string> on = toggle ? std::optional<std::string>("on") : std::nullopt;
    out.push_back({&flag, std::string(flag.name), on});
    if (toggle && flag.verbs != "*") out.push_back({&flag, "no-" + std::string(flag.name), "off"});
    for (const std::string& alias : split(flag.aliases, ' ')) {
      const std::size_t equals = alias.find('=');
      if (equals == std::string::npos) {
        out.push_back({&flag, alias, on});
      } else {
        out.push_back({&flag, alias.substr(0, equals), alias.substr(equals + 1)});
      }
    }
  }
  return out;
}

std::string range_text(const Flag& flag) {
  const bool integer = flag.type == FlagType::integer;
  const auto shown = [integer](double v) {
    return integer ? std::to_string(static_cast<std::int64_t>(v)) : format("{}", v);
  };
  return format("{} to {}", shown(flag.low), shown(flag.high));
}

// What a value of the flag must be, when `value` is not one; nullopt when it is.
std::optional<std::string> wanted(const Flag& flag, const std::string& value) {
  switch (flag.type) {
    case FlagType::toggle:
      return std::nullopt;
    case FlagType::text:
      return value.empty() ? std::optional<std::string>("text that is not empty") : std::nullopt;
    case FlagType::choice: {
      const std::vector<std::string> choices = split(flag.choices, '|');
      if (std::ranges::count(choices, value) > 0) return std::nullopt;
      return format("one of {}", profiles::join(choices, ", "));
    }
    case FlagType::integer:
    case FlagType::number: {
      const auto read = leading_number(value);
      const bool ok = read && read->second.empty() && read->first >= flag.low && read->first <= flag.high &&
                      (flag.type == FlagType::number || whole_number(read->first));
      if (ok) return std::nullopt;
      return format("{} from {}", flag.type == FlagType::integer ? "a whole number" : "a number", range_text(flag));
    }
    case FlagType::tokens:
      if (value == "auto" || value == "-1" || read_count(value).value_or(0) > 0) return std::nullopt;
      return "a count such as 8192, 32K or 32k, or auto";
    case FlagType::size:
      if (read_size(value)) return std::nullopt;
      return "a size such as 1.5GiB, 512MiB or a number of bytes";
  }
  return std::nullopt;
}

[[noreturn]] void usage_error(std::string message, std::string_view verb) {
  profiles::fail_input(std::move(message), {}, verb.empty() ? "see kvfit --help" : format("see kvfit {} --help", verb));
}

}  // namespace

class Parser {
 public:
  explicit Parser(std::span<const std::string> words) {
    split_words(words);
    const std::string verb = guessed_verb();
    for (const Spelling& spelling : all_) {
      if (belongs(*spelling.flag, verb)) registered(spelling);
    }
    for (const Spelling& spelling : all_) registered(spelling);
  }

  Args parse() {
    const std::vector<po::option> options = run_boost();
    find_verb_of(options);
    for (const po::option& option : options) {
      if (option.unregistered) unknown(option);
      if (option.position_key < 0) take(option);
    }
    return std::move(args_);
  }

 private:
  // Boost sees each spelling once, the verb's own first: one name may take a value in one verb and none in another.
  void registered(const Spelling& spelling) {
    if (spelling.word.front() == '-' || !seen_.insert({spelling.word, true}).second) return;
    std::string name = spelling.word;
    if (spelling.word == spelling.flag->name && spelling.flag->letter != 0) name += format(",{}", spelling.flag->letter);
    if (spelling.implied) {
      described_.add_options()(name.c_str(), "");
    } else {
      described_.add_options()(name.c_str(), po::value<std::string>(), "");
    }
  }

  // "-tp 2" is vLLM's short form; Boost would read it as -t -p.
  void split_words(std::span<const std::string> words) {
    for (std::size_t i = 0; i < words.size(); ++i) {
      if (words[i] == "--") {
        args_.trailing.assign(words.begin() + static_cast<std::ptrdiff_t>(i) + 1, words.end());
        return;
      }
      std::string word = words[i];
      for (const Spelling& spelling : all_) {
        if (spelling.word.front() != '-') continue;
        if (word == spelling.word || word.starts_with(spelling.word + "=")) {
          word = "--" + std::string(spelling.flag->name) + word.substr(spelling.word.size());
          break;
        }
      }
      words_.push_back(std::move(word));
    }
  }

  std::vector<po::option> run_boost() {
    constexpr int kStyle = po::command_line_style::unix_style & ~po::command_line_style::allow_guessing;
    try {
      return po::command_line_parser(words_).options(described_).style(kStyle).allow_unregistered().run().options;
    } catch (const po::invalid_syntax& error) {
      const std::string name = error.get_option_name();
      switch (error.kind()) {
        case po::invalid_syntax::missing_parameter:
        case po::invalid_syntax::empty_adjacent_parameter:
          usage_error(format("{} needs a value", name), guessed_verb());
        case po::invalid_syntax::extra_parameter:
          usage_error(format("{} takes no value", name), guessed_verb());
        default:
          usage_error(format("cannot read {}", name), guessed_verb());
      }
    }
  }

  // For messages about a line that cannot be parsed: the first word that is a verb.
  std::string guessed_verb() const {
    for (const std::string& word : words_) {
      if (find_verb(word) != nullptr) return word;
    }
    return "";
  }

  void find_verb_of(const std::vector<po::option>& options) {
    for (const po::option& option : options) {
      if (option.position_key < 0) continue;
      if (args_.verb.empty()) {
        args_.verb = option.value.front();
      } else {
        args_.words.push_back(option.value.front());
      }
    }
    for (const po::option& option : options) {
      if (option.unregistered) unknown(option);
    }
    if (args_.verb.empty() || find_verb(args_.verb) != nullptr) return;
    std::vector<std::string> known;
    for (const Verb& verb : verbs()) known.emplace_back(verb.name);
    const std::string hint = profiles::did_you_mean(args_.verb, known);
    usage_error(format("unknown command '{}'{}{}", args_.verb, hint.empty() ? "" : "; ", hint), "");
  }

  [[noreturn]] void unknown(const po::option& option) {
    std::string word = option.original_tokens.empty() ? option.string_key : option.original_tokens.front();
    word = word.substr(0, word.find('='));
    const std::string verb = find_verb(args_.verb) != nullptr ? args_.verb : guessed_verb();
    std::vector<std::string> known;
    for (const Spelling& spelling : all_) {
      if (spelling.word.front() != '-' && (verb.empty() || belongs(*spelling.flag, verb)))
        known.push_back("--" + spelling.word);
    }
    const std::string hint = profiles::did_you_mean(word, known);
    usage_error(format("unknown flag '{}'{}{}", word, hint.empty() ? "" : "; ", hint), verb);
  }

  void take(const po::option& option) {
    const std::string& word = option.string_key;
    const std::string spelled = option.original_tokens.empty() ? "--" + word : option.original_tokens.front();
    const Spelling* found = nullptr;
    for (const Spelling& spelling : all_) {
      if (spelling.word == word && (found == nullptr || belongs(*spelling.flag, args_.verb))) found = &spelling;
    }
    if (found == nullptr) throw std::logic_error("flag lost between Boost and the table: " + word);
    const Flag& flag = *found->flag;
    const std::string shown = spelled.substr(0, spelled.starts_with("--") ? spelled.find('=') : 2);
    if (flag.name == "help") {
      args_.help = shown == "-h" && args_.help != Args::Help::full ? Args::Help::brief : Args::Help::full;
      return;
    }
    if (!args_.verb.empty() && !belongs(flag, args_.verb)) {
      usage_error(format("{} is not a flag of 'kvfit {}'", shown, args_.verb), args_.verb);
    }
    // Boost takes the next word whatever it is; no value begins with two dashes.
    if (!found->implied && !option.value.empty() && option.value.front().starts_with("--")) {
      usage_error(format("{} needs a value", shown), args_.verb);
    }
    const std::string value = found->implied ? *found->implied : option.value.empty() ? "" : option.value.front();
    if (const std::optional<std::string> want = wanted(flag, value)) {
      usage_error(format("{} wants {}, not '{}'", shown, *want, value), args_.verb);
    }
    check_repeat(flag, shown, value);
    args_.given_.push_back({&flag, value, shown, found->implied.has_value()});
  }

  void check_repeat(const Flag& flag, const std::string& spelled, const std::string& value) const {
    if (flag.repeats) return;
    for (const Args::Given& given : args_.given_) {
      if (given.flag != &flag) continue;
      if (given.value == value && given.spelled == spelled) {
        usage_error(format("{} is given twice", spelled), args_.verb);
      }
      usage_error(format("--{} is given twice: {} ({}) and {} ({})", flag.name, given.spelled, given.value, spelled, value),
                  args_.verb);
    }
  }

  std::vector<Spelling> all_ = spellings();
  std::map<std::string, bool> seen_;
  po::options_description described_;
  std::vector<std::string> words_;
  Args args_;
};

Args parse_args(std::span<const std::string> words) { return Parser(words).parse(); }

void refuse_words(const Args& args) {
  if (args.words.empty()) return;
  usage_error(format("kvfit {} takes flags only, not '{}'", args.verb, args.words.front()), args.verb);
}

bool Args::has(std::string_view name) const { return text(name).has_value(); }

std::optional<std::string> Args::text(std::string_view name) const {
  for (const Given& given : given_) {
    if (given.flag->name == name) return given.value;
  }
  return std::nullopt;
}

std::vector<std::string> Args::texts(std::string_view name) const {
  std::vector<std::string> out;
  for (const Given& given : given_) {
    if (given.flag->name == name) out.push_back(given.value);
  }
  return out;
}

std::vector<std::string> Args::line(std::initializer_list<std::string_view> without) const {
  std::vector<std::string> out;
  for (const Given& given : given_) {
    if (std::ranges::count(without, given.flag->name) > 0) continue;
    out.push_back(given.spelled);
    if (!given.implied) out.push_back(given.value);
  }
  return out;
}

std::optional<std::int64_t> Args::integer(std::string_view name) const {
  const std::optional<std::string> value = text(name);
  return value ? std::optional<std::int64_t>(std::stoll(*value)) : std::nullopt;
}

std::optional<std::int64_t> Args::tokens(std::string_view name) const {
  const std::optional<std::string> value = text(name);
  if (!value) return std::nullopt;
  return *value == "auto" || *value == "-1" ? -1 : profiles::read_count(*value);
}

std::optional<double> Args::number(std::string_view name) const {
  const std::optional<std::string> value = text(name);
  const auto read = value ? profiles::leading_number(*value) : std::nullopt;
  return read ? std::optional(read->first) : std::nullopt;
}

std::optional<profiles::Bytes> Args::size(std::string_view name) const {
  const std::optional<std::string> value = text(name);
  return value ? profiles::read_size(*value) : std::nullopt;
}

std::vector<std::string> Args::flag_words(std::string_view of_verb) const {
  std::vector<std::string> out;
  for (const Given& given : given_) {
    if (!belongs(*given.flag, of_verb) || given.flag->group == "Output") continue;
    const bool toggle = given.flag->type == FlagType::toggle;
    out.push_back(
        format("--{}{}{}", toggle && given.value == "off" ? "no-" : "", given.flag->name, toggle ? "" : "=" + given.value));
  }
  return out;
}

std::optional<bool> Args::toggle(std::string_view name) const {
  const std::optional<std::string> value = text(name);
  return value ? std::optional(*value == "on") : std::nullopt;
}

}  // namespace kvfit::cli
