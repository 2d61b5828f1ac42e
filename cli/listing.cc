#include "cli/listing.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "cli/commands.h"
#include "cli/output.h"
#include "cli/report.h"
#include "cli/version.h"
#include "profiles/error.h"
#include "profiles/spelling.h"
#include "profiles/suggest.h"
#include "profiles/text.h"

namespace kvfit::cli {

using profiles::fail_input;
using profiles::format;
using profiles::Json;

void deliver(const Args& args, const Console& console, const Listing& listing) {
  deliver(args, console, "table|json|yaml", args.text("format").value_or("table"),
          [&listing](std::string_view form, const Screen& screen) {
            if (form == "table") {
              const std::string body = listing.body ? listing.body(screen) : "";
              return listing.heading + body + render(listing.table, screen) + listing.footing;
            }
            Json envelope;
            envelope["schema"] = listing.schema;
            envelope["format_version"] = "1.0";
            envelope["kvfit_version"] = std::string(version_number());
            envelope["result"] = listing.value;
            return form == "json" ? json_text(envelope) : yaml_text(envelope);
          });
}

int report_lint(const Args& args, const Console& console, const std::vector<LintLine>& lines, std::size_t checked,
                const std::string& noun) {
  Listing listing{.schema = "kvfit.lint"};
  listing.table.indent = 0;
  listing.value = {{"checked", checked}, {"findings", Json::array()}};
  for (const LintLine& line : lines) {
    listing.value["findings"].push_back({{"path", line.file}, {"text", line.text}});
    listing.heading +=
        line.text.starts_with("error:") ? line.text + "\n" : format("error: {}\n  --> {}\n", line.text, line.file);
  }
  listing.footing = format("{} {}{} checked, {} at fault\n", checked, noun, checked == 1 ? "" : "s", lines.size());
  deliver(args, console, listing);
  return lines.empty() ? kYes : kNo;
}

bool listed(const Args& args, const std::vector<std::string>& names) {
  const auto holds = [](const std::string& name, const std::string& word) {
    return profiles::lower(name).find(profiles::lower(word)) != std::string::npos;
  };
  return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
    return std::all_of(args.words.begin() + (args.words.empty() ? 0 : 1), args.words.end(),
                       [&](const std::string& word) { return holds(name, word); });
  });
}

void refuse_empty(const Args& args, const Listing& listing) {
  if (!listing.value.empty()) return;
  std::string quoted;
  for (std::size_t i = 1; i < args.words.size(); ++i) quoted += format("{}'{}'", i > 1 ? " and " : "", args.words[i]);
  fail_input(format("nothing in kvfit {} list has {} in its name", args.verb, quoted), {},
             format("kvfit {} lists all", args.verb));
}

const std::string& only_word(const Args& args, const std::string& usage) {
  if (args.words.size() != 2) {
    fail_input(format("'{}' takes one name, {} given", args.words.front(), args.words.size() - 1), {}, usage);
  }
  return args.words.back();
}

void unknown_word(const Args& args, const std::vector<std::string>& known) {
  const std::string near = profiles::did_you_mean(args.words.front(), known);
  fail_input(format("unknown word '{}' after kvfit {}{}{}", args.words.front(), args.verb, near.empty() ? "" : "; ", near),
             {}, format("see kvfit {} --help", args.verb));
}

}  // namespace kvfit::cli
