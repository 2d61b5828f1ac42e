// A shell text inside another file: words are given the places of that file.
#include <string_view>
#include <vector>

#include "runtime/shell_words.h"

namespace kvfit::runtime {

using profiles::Where;

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
  Where at = from;
  const auto settle = [&](Word& word) {
    const std::string_view first = std::string_view(word.text).substr(0, word.text.find_first_of("\n\"'\\"));
    const Where found = places.find(first, at.line, at.column, at);
    word.where = found;
    at = found;
  };
  for (ShellCommand& command : out) {
    for (auto& [name, word] : command.assignments) settle(word);
    for (Word& word : command.words) settle(word);
  }
  return out;
}

}  // namespace kvfit::runtime
