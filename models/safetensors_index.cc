#include "models/safetensors_index.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/file_bytes.h"
#include "models/header_scanner.h"
#include "models/safetensors_header.h"
#include "profiles/error.h"
#include "profiles/text.h"
#include "profiles/utf8.h"

namespace kvfit::models {
namespace {

using profiles::format;

constexpr std::int64_t kMaxIndexBytes = 256'000'000;

class IndexParser {
 public:
  IndexParser(std::vector<char> text, std::string file) : file_(std::move(file)) { out_.text = std::move(text); }

  SafetensorsIndex run();

 private:
  void metadata(HeaderScanner& scan);
  void weight_map(HeaderScanner& scan);
  std::uint32_t file_number(std::string_view name);
  [[noreturn]] void fail(std::string message, std::string hint = {}) const {
    profiles::fail_input(std::move(message), {.file = file_}, std::move(hint));
  }

  std::string file_;
  SafetensorsIndex out_;
};

void IndexParser::metadata(HeaderScanner& scan) {
  bool first = true;
  scan.expect('{');
  while (scan.next(first, '}')) {
    const std::string_view key = scan.string();
    scan.expect(':');
    // Some writers store the size as 1.0e9 or in quotes; it is only a claim, so what is no whole number is left out.
    const std::string_view value = scan.skip_value();
    const bool digits = !value.empty() && value.size() <= 18 &&
                        std::all_of(value.begin(), value.end(), [](char c) { return c >= '0' && c <= '9'; });
    if (key == "total_size" && digits) out_.total_size = std::stoll(std::string(value));
  }
}

std::uint32_t IndexParser::file_number(std::string_view name) {
  // Shards lie in long runs, so the last file mentioned is nearly always the one.
  for (std::size_t i = out_.files.size(); i-- > 0;) {
    if (out_.files[i] == name) return static_cast<std::uint32_t>(i);
  }
  if (name.empty() || name == "." || name == ".." || name.find('/') != std::string_view::npos ||
      name.find('\0') != std::string_view::npos) {
    fail(format("the index names the file '{}', which is no plain file name", printable(name)),
         "shards lie beside their index");
  }
  out_.files.emplace_back(name);
  return static_cast<std::uint32_t>(out_.files.size() - 1);
}

void IndexParser::weight_map(HeaderScanner& scan) {
  const auto name_at = [this](std::uint32_t i) { return out_.entries[i].tensor; };
  bool first = true;
  scan.expect('{');
  while (scan.next(first, '}')) {
    const std::string_view tensor = scan.string();
    scan.expect(':');
    const std::string_view file = scan.string();
    if (!out_.by_name.insert(tensor, static_cast<std::uint32_t>(out_.entries.size()), name_at)) {
      fail(format("the index names the tensor '{}' twice", printable(tensor)));
    }
    out_.entries.push_back({tensor, file_number(file)});
  }
}

SafetensorsIndex IndexParser::run() {
  const std::string_view text(out_.text.data(), out_.text.size());
  if (const std::size_t bad = profiles::first_not_utf8(text); bad != text.size()) {
    fail(format("the index is not UTF-8 at byte {}", bad));
  }
  HeaderScanner scan(out_.text, file_, HeaderScanner::What::index);
  bool found = false;
  bool first = true;
  scan.expect('{');
  while (scan.next(first, '}')) {
    const std::string_view key = scan.string();
    scan.expect(':');
    if (key == "weight_map") {
      if (found) fail("'weight_map' appears twice");
      found = true;
      weight_map(scan);
    } else if (key == "metadata") {
      metadata(scan);
    } else {
      scan.skip_value();
    }
  }
  if (!scan.at_end()) scan.fail("the end of the index");
  if (!found) fail("the index has no 'weight_map'");
  return std::move(out_);
}

}  // namespace

SafetensorsIndex parse_safetensors_index(std::vector<char> text, std::string file) {
  return IndexParser(std::move(text), std::move(file)).run();
}

SafetensorsIndex read_safetensors_index(const std::string& path) {
  const FileBytes file(path);
  if (file.size() > kMaxIndexBytes) {
    profiles::fail_input(format("the index has {} bytes; at most {} are read", file.size(), kMaxIndexBytes), {.file = path});
  }
  std::vector<char> text(static_cast<std::size_t>(file.size()));
  file.read(text, 0);
  return parse_safetensors_index(std::move(text), path);
}

}  // namespace kvfit::models
