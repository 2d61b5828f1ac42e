// Python's text of a dictionary, read as JSON: what an engine prints of its arguments.
#include <cstddef>
#include <string>
#include <string_view>

#include "profiles/json.h"
#include "runtime/log_settings.h"

namespace kvfit::runtime {
namespace {

using profiles::Json;

constexpr int kDeepest = 32;

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  bool at(char c) {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
    return at_ < text_.size() && text_[at_] == c;
  }

  Json value(int depth) {
    if (depth > kDeepest) broken_ = true;
    if (broken_) return nullptr;
    if (at('{')) return map(depth);
    if (at('[')) return list(']', depth);
    if (at('(')) return list(')', depth);
    if (at('\'') || at('"')) return text();
    return word(depth);
  }

  bool broken() const { return broken_; }

 private:
  bool accept(char c) {
    if (!at(c)) return false;
    ++at_;
    return true;
  }

  Json map(int depth) {
    Json out = Json::object();
    for (++at_; !accept('}');) {
      const Json key = value(depth + 1);
      if (!accept(':')) broken_ = true;
      Json item = value(depth + 1);
      if (broken_) return nullptr;
      if (key.is_string()) out[key.get<std::string>()] = std::move(item);
      if (!accept(',') && !at('}')) broken_ = true;
    }
    return out;
  }

  Json list(char end, int depth) {
    Json out = Json::array();
    for (++at_; !accept(end);) {
      out.push_back(value(depth + 1));
      if (!accept(',') && !at(end)) broken_ = true;
      if (broken_) return nullptr;
    }
    return out;
  }

  Json text() {
    const char quote = text_[at_++];
    std::string out;
    while (at_ < text_.size() && text_[at_] != quote) {
      if (text_[at_] == '\\' && at_ + 1 < text_.size()) ++at_;
      out += text_[at_++];
    }
    if (at_ >= text_.size()) broken_ = true;
    ++at_;
    return out;
  }

  // True, None, 0.95; "<Mode.FULL: 2>" and "Config(a=1)" are no literals.
  Json word(int depth) {
    const std::size_t first = at_;
    if (at('<')) {
      at_ = text_.find('>', at_);
      broken_ = at_ == std::string_view::npos;
      if (!broken_) ++at_;
      return nullptr;
    }
    while (at_ < text_.size() && std::string_view(",:]}) (").find(text_[at_]) == std::string_view::npos) ++at_;
    const std::string_view name = text_.substr(first, at_ - first);
    if (at_ < text_.size() && text_[at_] == '(') {
      call(depth);
      return nullptr;
    }
    if (name.empty()) broken_ = true;
    if (name == "True") return true;
    if (name == "False") return false;
    const Json number = Json::parse(name.begin(), name.end(), nullptr, false);
    return number.is_number() ? number : Json(nullptr);
  }

  // Over a call's parentheses, texts inside them included.
  void call(int depth) {
    int open = 0;
    do {
      if (at_ >= text_.size() || open + depth > kDeepest) {
        broken_ = true;
        return;
      }
      if (text_[at_] == '\'' || text_[at_] == '"') {
        text();
        continue;
      }
      open += text_[at_] == '(' ? 1 : text_[at_] == ')' ? -1 : 0;
      ++at_;
    } while (open > 0 && !broken_);
  }

  std::string_view text_;
  std::size_t at_ = 0;
  bool broken_ = false;
};

}  // namespace

std::string json_of_python(std::string_view text) {
  Reader reader(text);
  if (!reader.at('{')) return "";
  const Json value = reader.value(0);
  return reader.broken() ? "" : value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace kvfit::runtime
