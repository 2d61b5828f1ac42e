#include "runtime/shell_words.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/shell_grammar.h"

namespace kvfit::runtime {
namespace {

using namespace shell_grammar;
using profiles::fail_input;
using profiles::Where;

constexpr std::size_t kLongestWord = std::size_t{64} << 10;
constexpr std::size_t kMostText = std::size_t{8} << 20;
constexpr int kDeepest = 16;

class Reader {
 public:
  Reader(const TextPlaces& places, ShellVariables& known) : places_(places), text_(places.text()), known_(known) {}

  std::vector<ShellCommand> read() {
    while (at_ < text_.size()) step();
    end_command();
    return std::move(commands_);
  }

 private:
  void step() {
    const char c = text_[at_];
    if (blank(c)) {
      ++at_;
    } else if (continues()) {
      skip_continuation();
    } else if (c == '\n') {
      ++at_;
      end_command();
      skip_documents();
    } else if (c == '#') {
      at_ = std::min(text_.find('\n', at_), text_.size());
    } else if (c == '<' || c == '>' || (c == '&' && next() == '>')) {
      redirect();
    } else if (ends_word(c)) {
      ++at_;
      end_command();
    } else {
      word_or_assignment();
    }
  }

  char next(std::size_t n = 1) const { return at_ + n < text_.size() ? text_[at_ + n] : '\0'; }
  bool continues() const { return text_[at_] == '\\' && (next() == '\n' || (next() == '\r' && next(2) == '\n')); }
  void skip_continuation() { at_ = text_.find('\n', at_) + 1; }
  [[noreturn]] void unclosed(std::size_t from, const char* what) const {
    fail_input(std::string("not a shell script: ") + what + " is not closed", places_.at(from));
  }

  void redirect() {
    const bool document = text_.substr(at_, 2) == "<<" && next(2) != '<';
    const bool tabs = document && next(2) == '-';
    at_ = std::min(text_.find_first_not_of("<>&|-", at_), text_.size());
    while (at_ < text_.size() && blank(text_[at_])) ++at_;
    if (at_ >= text_.size() || ends_word(text_[at_])) return;
    const std::vector<Word> target = read_word();
    if (document && !target.empty()) documents_.push_back({target.front().text, tabs});
  }

  // The bodies of << documents begin on the next line.
  void skip_documents() {
    for (const auto& [end, tabs] : documents_) {
      while (at_ < text_.size()) {
        const std::size_t stop = std::min(text_.find('\n', at_), text_.size());
        std::string_view line = text_.substr(at_, stop - at_);
        at_ = std::min(stop + 1, text_.size());
        if (tabs) line.remove_prefix(std::min(line.find_first_not_of('\t'), line.size()));
        if (line.ends_with('\r')) line.remove_suffix(1);
        if (line == end) break;
      }
    }
    documents_.clear();
  }

  void word_or_assignment() {
    const std::size_t name = name_length(text_.substr(at_));
    const bool first = command_.words.empty();
    const std::size_t equals = at_ + name + (text_.substr(at_ + name, 2) == "+=" ? 1 : 0);
    const bool declares = !first && is_declaration(command_.words.front().text);
    if (name > 0 && (first || declares) && equals < text_.size() && text_[equals] == '=') {
      assign(std::string(text_.substr(at_, name)), equals);
      return;
    }
    std::vector<Word> words = read_word();
    if (first && words.size() == 1 && command_.assignments.empty() && is_prefix(words.front().text)) return;
    const bool digits = words.size() == 1 && !words.front().text.empty() &&
                        words.front().text.find_first_not_of("0123456789") == std::string::npos;
    if (digits && at_ < text_.size() && (text_[at_] == '<' || text_[at_] == '>')) return;  // 2>&1
    for (Word& word : words) command_.words.push_back(std::move(word));
  }

  void assign(std::string name, std::size_t equals) {
    const Where where = places_.at(at_);
    const bool more = text_[equals - 1] == '+';
    at_ = equals + 1;
    std::vector<Word> values = more && known_.contains(name) ? known_.find(name)->second : std::vector<Word>();
    if (at_ < text_.size() && text_[at_] == '(') {
      array(values);
    } else {
      Word value{.text = {}, .where = where, .whole = true};
      if (at_ < text_.size() && !ends_word(text_[at_])) {
        for (const Word& part : read_word()) {
          value.text += (value.text.empty() ? "" : " ") + part.text;
          add_open(value, part);
        }
      }
      if (more && values.size() == 1) value.text = values.front().text + value.text;
      values = {value};
      command_.assignments.emplace_back(name, value);
    }
    pending_.emplace_back(std::move(name), std::move(values));
  }

  void array(std::vector<Word>& values) {
    const std::size_t from = at_++;
    while (true) {
      if (at_ >= text_.size()) unclosed(from, "a list in brackets");
      if (text_[at_] == ')') break;
      if (continues()) {
        skip_continuation();
      } else if (text_[at_] == '#') {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (blank(text_[at_]) || ends_word(text_[at_])) {
        ++at_;
      } else {
        for (Word& word : read_word()) values.push_back(std::move(word));
      }
    }
    ++at_;
  }

  void end_command() {
    const bool alone = command_.words.empty() || is_declaration(command_.words.front().text);
    if (alone) {
      for (auto& [name, values] : pending_) known_[name] = std::move(values);
    }
    pending_.clear();
    if (!command_.words.empty()) commands_.push_back(std::move(command_));
    command_ = {};
  }

  // --- one word: quotes, escapes, expansions. Unquoted expansions may make several of it, or none.
  std::vector<Word> read_word() {
    fields_.clear();
    open_ = false;
    start_ = places_.at(at_);
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (continues()) {
        skip_continuation();
      } else if (ends_word(c)) {
        break;
      } else if (c == '\'') {
        single_quoted();
      } else if (c == '"') {
        double_quoted();
      } else if (c == '\\') {
        put(at_ + 1 < text_.size() ? std::string_view(text_).substr(at_ + 1, 1) : std::string_view());
        at_ = std::min(at_ + 2, text_.size());
      } else if (c == '$' || c == '`') {
        expand(false);
      } else {
        put(text_.substr(at_++, 1));
      }
    }
    return std::move(fields_);
  }

  Word& field() {
    if (!open_) {
      fields_.push_back({.text = {}, .where = start_, .whole = true});
      made_ += sizeof(Word);
    }
    open_ = true;
    return fields_.back();
  }
  void put(std::string_view text) {
    Word& word = field();
    word.text += text;
    made_ += text.size();
    if (word.text.size() > kLongestWord || made_ > kMostText) {
      const Where place = start_.file.empty() ? places_.at(at_) : start_;  // what is not of the script has none
      fail_input("variables make this script too long to read", place, "kvfit follows up to 64 KiB a word");
    }
  }

  void single_quoted() {
    const std::size_t end = text_.find('\'', at_ + 1);
    if (end == std::string_view::npos) unclosed(at_, "a quote");
    put(text_.substr(at_ + 1, end - at_ - 1));
    at_ = end + 1;
  }

  void double_quoted() {
    const std::size_t from = at_++;
    put("");
    while (true) {
      if (at_ >= text_.size()) unclosed(from, "a quote");
      const char c = text_[at_];
      if (c == '"') break;
      if (c == '$' || c == '`') {
        expand(true);
      } else if (continues()) {
        skip_continuation();
      } else if (c == '\\' && std::string_view("$`\"\\").find(next()) != std::string_view::npos && next() != '\0') {
        put(text_.substr(at_ + 1, 1));
        at_ += 2;
      } else {
        put(text_.substr(at_++, 1));
      }
    }
    ++at_;
  }

  // Index after the bracket that closes the one at `from`; quotes inside are skipped.
  std::size_t after_bracket(std::size_t from, char open, char shut) const {
    int depth = 0;
    for (std::size_t i = from; i < text_.size(); ++i) {
      const char c = text_[i];
      if (c == '\\') {
        ++i;
      } else if (c == '\'' && open == '(') {
        i = text_.find('\'', i + 1);
        if (i == std::string_view::npos) break;
      } else if (c == open) {
        ++depth;
      } else if (c == shut && --depth == 0) {
        return i + 1;
      }
    }
    unclosed(from, "a bracket");
  }

  void unknown(std::size_t from, std::size_t end) {
    const std::string_view raw = text_.substr(from, end - from);
    put(raw);
    add_open(field(), {.text = {}, .where = {}, .whole = false, .command = raw.starts_with("$(") || raw.starts_with('`')});
    at_ = end;
  }

  void expand(bool quoted) {
    const std::size_t from = at_;
    if (text_[at_] == '`') {
      const std::size_t end = text_.find('`', at_ + 1);
      if (end == std::string_view::npos) unclosed(at_, "a backquote");
      return unknown(from, end + 1);
    }
    if (next() == '(') return unknown(from, after_bracket(from + 1, '(', ')'));
    if (next() == '{') {
      const std::size_t end = after_bracket(from + 1, '{', '}');
      at_ = end;
      return braced(text_.substr(from + 2, end - from - 3), from, end, quoted);
    }
    const std::size_t length = name_length(text_.substr(at_ + 1));
    if (length > 0) {
      at_ += 1 + length;
      return variable(text_.substr(from + 1, length), false, from, at_, quoted);
    }
    if (std::string_view("@*#?$!0123456789-").find(next()) != std::string_view::npos && next() != '\0') {
      const bool arguments = (next() == '@' || next() == '*') && known_.contains("@");
      if (!arguments) return unknown(from, from + 2);
      at_ += 2;
      return elements(known_.find("@")->second, quoted);
    }
    put(text_.substr(at_++, 1));
  }

  // What stands between ${ and }.
  void braced(std::string_view inner, std::size_t from, std::size_t end, bool quoted) {
    const std::size_t length = name_length(inner);
    const std::string_view name = inner.substr(0, length);
    std::string_view rest = inner.substr(length);
    const bool all = rest.starts_with("[@]") || rest.starts_with("[*]");
    if (all) rest.remove_prefix(3);
    if (inner == "@" && known_.contains("@")) return elements(known_.find("@")->second, quoted);
    if (length == 0) return argument_or(inner, from, end, quoted);
    if (known_.contains(name) && !known_.find(name)->second.empty()) {
      const bool plain =
          rest.empty() || rest.front() == ':' || rest.front() == '-' || rest.front() == '=' || rest.front() == '?';
      return plain ? variable(name, all, from, end, quoted) : unknown(from, end);
    }
    if (all && rest.empty()) return;  // no environment holds an array: it is empty
    if (rest.starts_with(':')) rest.remove_prefix(1);
    if (rest.starts_with('+')) return insert({.text = {}, .where = start_, .whole = true}, quoted);
    if (rest.empty() || (rest.front() != '-' && rest.front() != '=')) return unknown(from, end);
    const Word value = fallback(rest.substr(1), from);
    if (rest.front() == '=') known_[std::string(name)] = {value};
    insert(value, quoted);
  }

  // ${1:-text}: nobody gives a script arguments here.
  void argument_or(std::string_view inner, std::size_t from, std::size_t end, bool quoted) {
    const std::string_view rest = inner.substr(std::min(inner.find_first_not_of("0123456789"), inner.size()));
    if (rest.size() == inner.size() || rest.substr(0, 2).find('-') > 1) return unknown(from, end);
    insert(fallback(rest.substr(rest.find('-') + 1), from), quoted);
  }

  // ${NAME:-text}: the text is a word of its own.
  Word fallback(std::string_view text, std::size_t from) {
    Word out{.text = {}, .where = places_.at(from), .whole = true};
    if (++depth_ > kDeepest) fail_input("defaults stand in defaults too deeply", out.where);
    const std::string copy(text);
    const TextPlaces inner(places_.file(), copy);
    Reader reader(inner, known_);
    reader.depth_ = depth_;
    while (reader.at_ < copy.size()) {
      if (ends_word(copy[reader.at_])) {
        out.text += copy[reader.at_++];
        continue;
      }
      for (const Word& word : reader.read_word()) {
        out.text += word.text;
        add_open(out, word);
      }
    }
    --depth_;
    return out;
  }

  void variable(std::string_view name, bool all, std::size_t from, std::size_t end, bool quoted) {
    const ShellVariables::const_iterator found = known_.find(name);
    if (found == known_.end() || found->second.empty()) return unknown(from, end);
    const std::vector<Word>& values = found->second;
    if (!all) return insert(values.front(), quoted);
    elements(values, quoted);
  }

  // "${NAME[@]}" and "$@": each a word of its own.
  void elements(const std::vector<Word>& values, bool quoted) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (i > 0) open_ = false;
      if (!open_) start_ = values[i].where;
      insert(values[i], quoted);
    }
  }

  void insert(const Word& value, bool quoted) {
    const bool split = !quoted && value.text.find_first_of(" \t\n") != std::string::npos;
    if (!split) {
      if (!value.text.empty() || quoted) put(value.text);
      if (!value.whole) add_open(field(), value);
      return;
    }
    Where from = value.where;
    for (std::size_t i = 0; i < value.text.size();) {
      const std::size_t stop = field_end(value.text, value.command, i);
      if (stop > i) {
        const std::string piece = value.text.substr(i, stop - i);
        from = places_.find(piece, from.line, from.column, from);
        if (!open_) start_ = from;
        put(piece);
        if (piece.find_first_of("$`") != std::string::npos) add_open(field(), value);
      }
      if (stop < value.text.size()) open_ = false;
      i = stop + 1;
    }
  }

  struct Document {
    std::string end;
    bool tabs;
  };

  const TextPlaces& places_;
  std::string_view text_;
  ShellVariables& known_;
  std::size_t at_ = 0;
  std::size_t made_ = 0;
  int depth_ = 0;
  std::vector<ShellCommand> commands_;
  ShellCommand command_;
  std::vector<std::pair<std::string, std::vector<Word>>> pending_;
  std::vector<Document> documents_;
  std::vector<Word> fields_;
  bool open_ = false;  ///< the last field may still grow
  Where start_;
};

}  // namespace

std::vector<ShellCommand> read_shell(const TextPlaces& places, ShellVariables& known) {
  return Reader(places, known).read();
}

}  // namespace kvfit::runtime
