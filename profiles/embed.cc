// Build-time tool: checks that every profile parses, and writes them all into one C++ table.
//   kvfit_embed OUT ROOT FILE...
#include <algorithm>
#include <cstddef>
#include <exception>
#include <fstream>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "profiles/document.h"
#include "profiles/packed.h"
#include "profiles/text.h"

namespace {

using kvfit::profiles::Node;

constexpr std::string_view kSuffix = ".yaml";

// A string literal of any bytes, in pieces: the standard lets a compiler refuse longer ones.
std::string literal(std::string_view bytes) {
  std::string out = "\"";
  std::size_t column = 0;
  for (const char c : bytes) {
    if (++column % 4000 == 0) out += "\"\n\"";
    const bool plain = c >= ' ' && c <= '~' && c != '"' && c != '\\' && c != '?';
    out += plain ? std::string(1, c) : kvfit::profiles::format("\\{:03o}", static_cast<unsigned char>(c));
  }
  return out + "\"";
}

std::string names_of(const Node& profile) {
  std::string out;
  for (const char* key : {"names", "aliases"}) {
    const Node* list = profile.find(key);
    if (!list) continue;
    for (const Node& name : list->list()) out += kvfit::profiles::format("\"{}\", ", name.string());
  }
  return out;
}

int run(const std::string& out_path, const std::string& root, std::vector<std::string> files) {
  // By kind and id: without ".yaml", "a" stands before "a-b".
  std::sort(files.begin(), files.end(), [](std::string_view a, std::string_view b) {
    return a.substr(0, a.size() - kSuffix.size()) < b.substr(0, b.size() - kSuffix.size());
  });
  std::string out =
      "// Generated from profiles/*/*.yaml.\n#include <string>\n#include <string_view>\n#include <vector>\n#include "
      "\"profiles/catalog.h\"\n\n"
      "namespace kvfit::profiles {\nstd::vector<ProfileFile> built_in_profiles() {\n  std::vector<ProfileFile> out;\n";
  out += kvfit::profiles::format("  out.reserve({});\n", files.size());
  for (const std::string& file : files) {
    const std::string relative = file.substr(root.size() + 1);
    const std::size_t slash = relative.find('/');
    const std::string kind = relative.substr(0, slash);
    const std::string id = relative.substr(slash + 1, relative.size() - slash - 1 - kSuffix.size());
    const std::string text = kvfit::profiles::read_text_file(file);
    const Node profile = kvfit::profiles::parse_yaml(text, file);
    const std::string packed = kvfit::profiles::pack(profile);
    out += kvfit::profiles::format(
        "  out.push_back({{\"{}\", \"{}\", \"built-in:{}\", {{{}}}, std::string_view(\n{}, {})}});\n", kind, id, relative,
        names_of(profile), literal(packed), packed.size());
  }
  out += "  return out;\n}\n}  // namespace kvfit::profiles\n";
  std::ofstream stream(out_path, std::ios::binary);
  stream << out;
  return stream ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argv[1], argv[2], std::vector<std::string>(argv + 3, argv + argc));
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
