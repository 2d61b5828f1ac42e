// Any text is a script, or an Error about the input; no word is longer than the limit.
#include <cstddef>
#include <cstdint>
#include <string>

#include "runtime/shell_words.h"
#include "tests/fuzz/document_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace kvfit;
  const std::string text(reinterpret_cast<const char*>(data), size);
  const runtime::TextPlaces places("a.sh", text);
  runtime::ShellVariables known = {{"@", {{.text = "one", .where = {}, .whole = true}}}};
  try {
    for (const runtime::ShellCommand& command : runtime::read_shell(places, known)) {
      for (const runtime::Word& word : command.words) fuzz::require(word.text.size() <= (std::size_t{64} << 10) + size);
    }
  } catch (const profiles::Error& error) {
    fuzz::require(error.fault() == profiles::Fault::input && error.where().file == "a.sh");
  }
  return 0;
}
