#include "cli/explain.h"

#include <string>
#include <utility>
#include <vector>

#include "cli/words.h"
#include "profiles/error.h"
#include "profiles/suggest.h"
#include "profiles/text.h"

namespace kvfit::cli {

using profiles::format;

std::string bytes_text(profiles::Bytes bytes) {
  return format("{} GiB ({} bytes)", gib(bytes), profiles::grouped(bytes.count));
}

std::vector<Explanation> explanations(const Report& report) {
  std::vector<Explanation> out;
  for (std::vector<Explanation> part : {explain_machine(report), explain_ledger(report), explain_cache(report),
                                        explain_decision(report), explain_boot(report)}) {
    for (Explanation& item : part) out.push_back(std::move(item));
  }
  return out;
}

std::vector<Explanation> select(const std::vector<Explanation>& all, const std::string& key) {
  std::vector<Explanation> out;
  for (const Explanation& item : all) {
    if (item.key == key || item.key.starts_with(key + ".")) out.push_back(item);
  }
  if (!out.empty()) return out;
  std::vector<std::string> known;
  for (const Explanation& item : all) known.push_back(item.key);
  const std::string near = profiles::did_you_mean(key, known);
  profiles::fail_input(format("this plan has no number '{}'{}{}", key, near.empty() ? "" : "; ", near), {},
                       "kvfit explain without a key lists all of them");
}

std::string explanation_text(const Explanation& explanation, const Screen& screen) {
  const auto line = [&screen](const std::string& name, const std::string& text) {
    if (text.empty()) return std::string();
    const std::string head = format("  {:<9}", name);
    return head + wrap(printable(text), screen.width, 11) + "\n";
  };
  std::string out = paint(explanation.key, Tone::strong, screen) + "  " + printable(explanation.value) + "\n";
  out += line("is", explanation.meaning) + line("formula", explanation.formula);
  bool first = true;
  for (const std::string& text : explanation.worked) {
    out += line(first ? "worked" : "", text);
    first = false;
  }
  return out + line("known", explanation.provenance) + line("source", explanation.source);
}

}  // namespace kvfit::cli
