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
#include "profiles/text.h"

namespace {

using kvfit::profiles::Node;

// String literals are limited to 65,535 bytes by the standard; adjacent literals in pieces of 8,000 are not.
std::string literal(std::string_view text) {
  std::string out;
  for (std::size_t start = 0; start < text.size() || start == 0; start += 8000) {
    out += "R\"kvfit(" + std::string(text.substr(start, 8000)) + ")kvfit\"\n";
  }
  return out;
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
  std::sort(files.begin(), files.end());
  std::string out =
      "// Generated from profiles/*/*.yaml.\n#include <string>\n#include <vector>\n#include \"profiles/catalog.h\"\n\n"
      "namespace kvfit::profiles {\nstd::vector<ProfileFile> built_in_profiles() {\n  std::vector<ProfileFile> out;\n";
  for (const std::string& file : files) {
    const std::string relative = file.substr(root.size() + 1);
    const std::size_t slash = relative.find('/');
    const std::string kind = relative.substr(0, slash);
    const std::string id = relative.substr(slash + 1, relative.size() - slash - 6);
    const std::string text = kvfit::profiles::read_text_file(file);
    const Node profile = kvfit::profiles::parse_yaml(text, file);
    out += kvfit::profiles::format("  out.push_back({{\"{}\", \"{}\", \"built-in:{}\", {{{}}},\n{}}});\n", kind, id,
                                   relative, names_of(profile), literal(text));
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
