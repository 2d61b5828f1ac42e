// A shell text inside another file: words are given the places of that file.
#include <string_view>
#include <vector>

#include "runtime/shell_words.h"

namespace kvfit::runtime {

using profiles::Where;

namespace {

// What of a word stands in the file as it is.
std::string_view literal(const Word& word) {
  return std::string_view(word.text).substr(0, word.text.find_first_of("\n\"'\\"));
}

// Each word's place is the first one after the word before it. A word that a variable's value put in stands elsewhere, far
// behind as a rule: it is not followed when the next flag would then be behind us.
void settle(const std::vector<Word*>& words, const TextPlaces& places, const Where& from) {
  const Where nowhere{.file = {}, .line = -1};
  const auto after = [&](const Word& word, const Where& at) {
    return places.find(literal(word), at.line, at.column, nowhere);
  };
  Where at = from;
  for (std::size_t i = 0; i < words.size(); ++i) {
    words[i]->where = at;
    const Where found = after(*words[i], at);
    if (found.line < 0) continue;
    std::size_t flag = i + 1;
    while (flag < words.size() && !literal(*words[flag]).starts_with("--")) ++flag;
    const bool astray = found.line != at.line && flag < words.size() && after(*words[flag], found).line < 0 &&
                        after(*words[flag], at).line > 0;
    if (astray) continue;
    at = words[i]->where = found;
  }
}

}  // namespace

std::vector<ShellCommand> read_shell_inside(std::string_view shell, const TextPlaces& places, const Where& from,
                                            ShellVariables& known) {
  const TextPlaces inner(places.file(), shell);
  std::vector<ShellCommand> out = [&] {
    try {
      return read_shell(inner, known);
    } catch (const profiles::Error& error) {
      profiles::fail_input(error.message(), from, error.hint());
    }
  }();
  std::vector<Word*> words;
  for (ShellCommand& command : out) {
    for (auto& [name, word] : command.assignments) words.push_back(&word);
    for (Word& word : command.words) words.push_back(&word);
  }
  settle(words, places, from);
  return out;
}

}  // namespace kvfit::runtime
