// The span-keeping editor of JSON: whatever it accepts can be edited, what comes out is accepted again, and an edit that
// changes nothing gives back every byte.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "carve/json_spans.h"
#include "carve/module_lists.h"
#include "profiles/error.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace kvfit::carve;
  const std::string text(reinterpret_cast<const char*>(data), size);
  JsonSpan root;
  try {
    root = parse_json_spans(text, "input");
  } catch (const kvfit::profiles::Error&) {
    return 0;
  }
  std::vector<JsonEdit> edits;
  std::vector<ListEdit> report;
  const Renumberings renumberings = {{"layers.0.mlp", {-1, 0, -1, 1}}};
  edit_lists(root, "input", renumberings, {.keep_patterns = true}, edits, report);
  const std::string edited = apply_edits(text, edits);
  if (report.empty() && edited != text) __builtin_trap();
  try {
    parse_json_spans(edited, "edited");
  } catch (const kvfit::profiles::Error& error) {
    // Two experts' keys cannot become one; a key that already had the new number can.
    if (error.message().find("appears twice") == std::string::npos) __builtin_trap();
  }
  return 0;
}
