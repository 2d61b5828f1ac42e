#include "runtime/secrets.h"

#include <algorithm>
#include <cctype>

#include "profiles/spelling.h"

namespace kvfit::runtime {
namespace {

using profiles::one_of;

constexpr std::string_view kHidden = "...";

// "--api_key" and "--api-key" are one flag; empty for what is none.
std::string flag_name(std::string_view word) {
  if (!word.starts_with("--")) return {};
  std::string out(word.substr(2, word.find('=') - 2));
  std::replace(out.begin(), out.end(), '_', '-');
  return out;
}

bool password_in_address(std::string_view value) {
  const std::size_t scheme = value.find("://");
  if (scheme == std::string_view::npos) return false;
  const std::string_view host = value.substr(scheme + 3, value.find('/', scheme + 3) - scheme - 3);
  const std::size_t at = host.find('@');
  return at != std::string_view::npos && host.substr(0, at).find(':') != std::string_view::npos;
}

}  // namespace

bool secret_variable(const ServingFacts& facts, std::string_view name, std::string_view value) {
  if (one_of(facts.secret_variables, name) || password_in_address(value)) return true;
  std::string part;
  for (const char c : std::string(name) + "_") {
    if (c != '_') {
      part += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
      continue;
    }
    if (one_of(facts.secret_words, part)) return true;
    part.clear();
  }
  return false;
}

std::vector<std::string> without_secrets(const ServingFacts& facts, std::vector<std::string> words) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::size_t equals = words[i].find('=');
    if (one_of(facts.secret_flags, flag_name(words[i]))) {
      if (equals != std::string::npos) {
        words[i].replace(equals + 1, std::string::npos, kHidden);
      } else {
        for (++i; i < words.size() && !words[i].starts_with("-"); ++i) words[i] = kHidden;
        --i;
      }
    } else if (equals != std::string::npos && !words[i].starts_with("-") &&
               secret_variable(facts, std::string_view(words[i]).substr(0, equals),
                               std::string_view(words[i]).substr(equals + 1))) {
      words[i].replace(equals + 1, std::string::npos, kHidden);
    }
  }
  return words;
}

}  // namespace kvfit::runtime
