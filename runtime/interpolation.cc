#include "runtime/interpolation.h"

#include <cctype>
#include <cstddef>
#include <string>
#include <string_view>

#include "profiles/error.h"

namespace kvfit::runtime {
namespace {

constexpr int kDeepest = 16;

std::size_t name_length(std::string_view text) {
  std::size_t n = 0;
  while (n < text.size() && (std::isalnum(static_cast<unsigned char>(text[n])) != 0 || text[n] == '_')) ++n;
  return n > 0 && std::isdigit(static_cast<unsigned char>(text[0])) != 0 ? 0 : n;
}

// Index of the brace that closes the one at `from`, or npos.
std::size_t closing(std::string_view text, std::size_t from) {
  int depth = 0;
  for (std::size_t i = from; i < text.size(); ++i) {
    if (text[i] == '{') ++depth;
    if (text[i] == '}' && --depth == 0) return i;
  }
  return std::string_view::npos;
}

class Compose {
 public:
  Compose(const profiles::Where& where, const Lookup& lookup) : where_(where), lookup_(lookup) {}

  Word read(std::string_view text) {
    Word out{.text = {}, .where = where_, .whole = true};
    if (++depth_ > kDeepest) profiles::fail_input("variables stand in variables too deeply", where_);
    for (std::size_t i = 0; i < text.size();) {
      if (text[i] != '$' || i + 1 == text.size()) {
        out.text += text[i++];
      } else if (text[i + 1] == '$') {
        out.text += '$';
        i += 2;
      } else if (text[i + 1] == '{') {
        const std::size_t end = closing(text, i + 1);
        if (end == std::string_view::npos) {
          profiles::fail_input("${ is not closed", where_, "write $$ for a dollar");
        }
        braced(text.substr(i + 2, end - i - 2), text.substr(i, end + 1 - i), out);
        i = end + 1;
      } else {
        const std::size_t length = name_length(text.substr(i + 1));
        plain(text.substr(i + 1, length), text.substr(i, length + 1), out);
        i += length + 1;
      }
    }
    --depth_;
    return out;
  }

 private:
  void add(const Word& part, Word& out) {
    out.text += part.text;
    out.whole = out.whole && part.whole;
  }
  void plain(std::string_view name, std::string_view raw, Word& out) {
    const std::optional<std::string> value = name.empty() ? std::nullopt : lookup_(name);
    out.text += value ? *value : std::string(raw);
    out.whole = out.whole && (value.has_value() || name.empty());
  }
  void braced(std::string_view inner, std::string_view raw, Word& out) {
    const std::size_t length = name_length(inner);
    const std::optional<std::string> value = lookup_(inner.substr(0, length));
    std::string_view rest = inner.substr(length);
    const bool colon = rest.starts_with(':');
    if (colon) rest.remove_prefix(1);
    const bool set = value && !(colon && value->empty());
    const char how = rest.empty() ? '\0' : rest.front();
    if (how == '+') {
      if (set) add(read(rest.substr(1)), out);
    } else if (set) {
      out.text += *value;
    } else if (how == '-' || how == '=') {
      add(read(rest.substr(1)), out);
    } else {
      out.text += raw;
      out.whole = false;
    }
  }

  const profiles::Where& where_;
  const Lookup& lookup_;
  int depth_ = 0;
};

}  // namespace

Word interpolate(std::string_view text, const profiles::Where& where, const Lookup& lookup) {
  return Compose(where, lookup).read(text);
}

Word expand_references(std::string_view text, const profiles::Where& where, const Lookup& lookup) {
  Word out{.text = {}, .where = where, .whole = true};
  for (std::size_t i = 0; i < text.size();) {
    const bool escaped = text.substr(i).starts_with("$$(");
    const std::size_t from = i + (escaped ? 1 : 0);
    const std::size_t end = text.substr(from).starts_with("$(") ? text.find(')', from) : std::string_view::npos;
    if (end == std::string_view::npos) {
      out.text += text[i++];
      continue;
    }
    const std::optional<std::string> value = escaped ? std::nullopt : lookup(text.substr(from + 2, end - from - 2));
    out.text += value ? *value : std::string(text.substr(from, end + 1 - from));
    out.whole = out.whole && (value.has_value() || escaped);
    i = end + 1;
  }
  return out;
}

}  // namespace kvfit::runtime
