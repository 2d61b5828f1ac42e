#include "cli/output.h"

#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "profiles/error.h"
#include "profiles/text.h"
#include "profiles/write_file.h"

namespace kvfit::cli {
namespace {

namespace fs = std::filesystem;
using profiles::fail_input;
using profiles::format;

struct Target {
  std::string format;
  std::string path;  ///< "-" = stdout
};

bool one_of(std::string_view choices, std::string_view word) {
  while (!choices.empty()) {
    const std::size_t bar = choices.find('|');
    if (choices.substr(0, bar) == word) return true;
    choices.remove_prefix(bar == std::string_view::npos ? choices.size() : bar + 1);
  }
  return false;
}

// A device is nobody's file: /dev/null may be named as often as one likes.
bool is_file(const std::string& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  return !fs::exists(status) || fs::is_regular_file(status);
}

bool same_file(const std::string& a, const std::string& b) {
  std::error_code error;
  if (fs::exists(a, error) && fs::exists(b, error)) return fs::equivalent(a, b, error);
  const auto place = [&error](const std::string& path) { return fs::weakly_canonical(fs::absolute(path, error), error); };
  return place(a) == place(b);
}

// Before anything is written: two reports in one file, or one over what was read, would lose something.
void refuse_overlap(const Args& args, const std::vector<Target>& targets, std::vector<std::string> inputs) {
  inputs.insert(inputs.end(), args.words.begin(), args.words.end());
  for (std::string& word : args.line({"output"})) inputs.push_back(std::move(word));
  for (std::size_t i = 0; i < targets.size(); ++i) {
    const std::string& path = targets[i].path;
    if (path == "-" || !is_file(path)) continue;
    for (std::size_t j = 0; j < i; ++j) {
      if (targets[j].path == "-" || !same_file(targets[j].path, path)) continue;
      fail_input(format("-o names the file '{}' twice", path), {}, "give each format a file of its own");
    }
    std::error_code error;
    for (const std::string& input : inputs) {
      if (!fs::is_regular_file(input, error) || !same_file(input, path)) continue;
      fail_input(format("-o would write over '{}', which this command reads", path), {}, "write to another file");
    }
  }
}

// "json=plan.json" names a format; "a=b.json" with an unknown word before '=' is refused rather than taken for a path.
std::vector<Target> targets(const Args& args, std::string_view formats, std::string_view main_format, bool main_always) {
  std::vector<Target> out;
  bool main_placed = false;
  for (const std::string& text : args.texts("output")) {
    const std::size_t equals = text.find('=');
    const bool pair = equals != std::string::npos && text.substr(0, equals).find('/') == std::string::npos;
    if (pair && !one_of(formats, text.substr(0, equals))) {
      fail_input(format("unknown format '{}' in -o {}", text.substr(0, equals), text), {},
                 format("known: {}; write ./{} for a file of that name", formats, text));
    }
    if (!pair && main_placed) fail_input("-o FILE is given twice", {}, "write -o FORMAT=FILE for each further file");
    out.push_back(pair ? Target{text.substr(0, equals), text.substr(equals + 1)} : Target{std::string(main_format), text});
    main_placed = main_placed || !pair;
    if (out.back().path.empty()) fail_input(format("no file in -o {}", text), {}, "write -o FORMAT=FILE");
  }
  if (!main_placed && (main_always || out.empty())) out.insert(out.begin(), {std::string(main_format), "-"});
  return out;
}

}  // namespace

void deliver(const Args& args, const Console& console, std::string_view formats, std::string_view main_format,
             const Rendering& render, const Delivery& how) {
  const std::vector<Target> wanted = targets(args, formats, main_format, how.main_always);
  refuse_overlap(args, wanted, how.inputs);
  std::vector<profiles::FileText> files;
  std::string shown;
  for (const Target& target : wanted) {
    if (target.path == "-") {
      shown += render(target.format, console.out());
    } else {
      files.push_back({target.path, render(target.format, Screen{})});
    }
  }
  profiles::write_files(files);
  if (!shown.empty()) console.write(shown);
  for (const profiles::FileText& file : files) console.note(format("wrote {}", file.path));
}

}  // namespace kvfit::cli
