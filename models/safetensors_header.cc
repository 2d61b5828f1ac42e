#include "models/safetensors_header.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/file_bytes.h"
#include "models/header_scanner.h"
#include "models/name_table.h"
#include "profiles/error.h"
#include "profiles/text.h"
#include "profiles/utf8.h"

namespace kvfit::models {
namespace {

using profiles::DType;
using profiles::format;

constexpr std::int64_t kPrefix = 8;
constexpr std::size_t kMaxRank = 64;  // far above any real tensor; bounds what a hostile header can make us keep

class Parser {
 public:
  Parser(std::vector<char> text, std::int64_t file_bytes, std::string file) {
    out_.file = std::move(file);
    out_.file_bytes = file_bytes;
    out_.text = std::move(text);
  }

  SafetensorsHeader run();

 private:
  void check_text();
  void entries();
  void metadata(HeaderScanner& scan);
  void tensor(HeaderScanner& scan, std::string_view name);
  void shape(HeaderScanner& scan, HeaderTensor& tensor);
  void check_size(const HeaderTensor& tensor) const;
  void check_names() const;
  void check_cover() const;
  [[noreturn]] void fail(std::string message, std::string hint = {}) const {
    profiles::fail_input(std::move(message), {.file = out_.file}, std::move(hint));
  }

  SafetensorsHeader out_;
};

void Parser::check_text() {
  const std::string_view text(out_.text.data(), out_.text.size());
  if (const std::size_t bad = profiles::first_not_utf8(text); bad != text.size()) {
    fail(format("the header is not UTF-8 at byte {}", static_cast<std::size_t>(kPrefix) + bad));
  }
  if (text.empty() || text.front() != '{') fail("the header does not begin with '{'", "this is not a safetensors file");
}

void Parser::entries() {
  HeaderScanner scan(out_.text, out_.file);
  bool saw_metadata = false;
  bool first = true;
  scan.expect('{');
  while (scan.next(first, '}')) {
    const std::string_view name = scan.string();
    scan.expect(':');
    if (name != "__metadata__") {
      tensor(scan, name);
    } else if (saw_metadata) {
      fail("'__metadata__' appears twice");
    } else {
      saw_metadata = true;
      metadata(scan);
    }
  }
  if (!scan.at_end()) scan.fail("the end of the header");
}

void Parser::metadata(HeaderScanner& scan) {
  bool first = true;
  scan.expect('{');
  while (scan.next(first, '}')) {
    const std::string_view key = scan.string();
    scan.expect(':');
    const std::string_view value = scan.string();
    for (const auto& [known, ignored] : out_.metadata) {
      if (known == key) fail(format("'{}' appears twice in '__metadata__'", printable(key)));
    }
    out_.metadata.emplace_back(key, value);
  }
}

void Parser::tensor(HeaderScanner& scan, std::string_view name) {
  HeaderTensor tensor{.name = name};
  bool dtype = false;
  bool extents = false;
  bool offsets = false;
  const auto once = [&](bool& seen, std::string_view key) {
    if (seen) fail(format("tensor '{}' states its {} twice", printable(name), key));
    seen = true;
  };
  bool first = true;
  scan.expect('{');
  while (scan.next(first, '}')) {
    const std::string_view key = scan.string();
    scan.expect(':');
    if (key == "dtype") {
      once(dtype, key);
      const std::string_view spelling = scan.string();
      const std::optional<DType> known = profiles::dtype_from_safetensors(spelling);
      if (!known) fail(format("tensor '{}' has the unknown dtype '{}'", printable(name), printable(spelling)));
      tensor.dtype = *known;
    } else if (key == "shape") {
      once(extents, key);
      shape(scan, tensor);
    } else if (key == "data_offsets") {
      once(offsets, key);
      scan.expect('[');
      tensor.begin = scan.unsigned_integer();
      scan.expect(',');
      tensor.end = scan.unsigned_integer();
      scan.expect(']');
    } else {
      fail(format("tensor '{}' has the unknown key '{}'", printable(name), printable(key)));
    }
  }
  if (!dtype || !extents || !offsets) {
    fail(format("tensor '{}' lacks its {}", printable(name), !dtype ? "dtype" : (!extents ? "shape" : "data_offsets")));
  }
  check_size(tensor);
  out_.tensors.push_back(tensor);
}

void Parser::shape(HeaderScanner& scan, HeaderTensor& tensor) {
  tensor.first_extent = static_cast<std::uint32_t>(out_.extents.size());
  bool first = true;
  scan.expect('[');
  while (scan.next(first, ']')) {
    if (tensor.rank == kMaxRank) fail(format("tensor '{}' has more than {} axes", printable(tensor.name), kMaxRank));
    out_.extents.push_back(scan.unsigned_integer());
    ++tensor.rank;
  }
}

void Parser::check_size(const HeaderTensor& tensor) const {
  if (tensor.end < tensor.begin) {
    fail(format("tensor '{}' ends at {}, before it begins at {}", printable(tensor.name), tensor.end, tensor.begin));
  }
  const std::span<const std::int64_t> extents = out_.shape(tensor);
  const auto stated = [&] { return format("{} [{}]", safetensors_name(tensor.dtype), profiles::join(extents, ",")); };
  std::int64_t bits = profiles::bits(tensor.dtype);
  for (const std::int64_t extent : extents) {
    if (__builtin_mul_overflow(bits, extent, &bits)) {
      fail(format("tensor '{}' is absurdly large: {} does not fit in 63 bits", printable(tensor.name), stated()));
    }
  }
  if (bits % 8 != 0)
    fail(format("tensor '{}' is {}, which is not a whole number of bytes", printable(tensor.name), stated()));
  if (bits / 8 != tensor.bytes()) {
    fail(format("tensor '{}' is {}, that is {} bytes, but its data_offsets span {}", printable(tensor.name), stated(),
                bits / 8, tensor.bytes()));
  }
}

void Parser::check_names() const {
  NameTable names(out_.tensors.size());
  const auto name_at = [this](std::uint32_t i) { return out_.tensors[i].name; };
  for (std::uint32_t i = 0; i < out_.tensors.size(); ++i) {
    if (!names.insert(name_at(i), i, name_at)) fail(format("tensor '{}' appears twice", printable(name_at(i))));
  }
}

// Tensors in the order of their data must touch, from the first byte of the data to the last byte of the file.
void Parser::check_cover() const {
  std::vector<std::uint32_t> order(out_.tensors.size());
  std::iota(order.begin(), order.end(), 0U);
  const auto before = [this](std::uint32_t a, std::uint32_t b) {
    const HeaderTensor& x = out_.tensors[a];
    const HeaderTensor& y = out_.tensors[b];
    return x.begin != y.begin ? x.begin < y.begin : x.end < y.end;
  };
  if (!std::is_sorted(order.begin(), order.end(), before)) std::sort(order.begin(), order.end(), before);
  std::int64_t at = 0;
  std::string_view previous;
  for (const std::uint32_t i : order) {
    const HeaderTensor& tensor = out_.tensors[i];
    if (tensor.begin < at) {
      fail(format("tensors '{}' and '{}' overlap: one ends at {}, the other begins at {}", printable(previous),
                  printable(tensor.name), at, tensor.begin));
    }
    if (tensor.begin > at) {
      fail(format("bytes {} to {} belong to no tensor: a hole before '{}'", at, tensor.begin, printable(tensor.name)));
    }
    at = tensor.end;
    previous = tensor.name;
  }
  const std::int64_t data = out_.file_bytes - out_.data_begin();
  if (at > data) {
    fail(format("the file is cut short: its tensors need {} bytes of data, it holds {}", at, data),
         "the download is not complete; fetch the file again");
  }
  if (at < data) fail(format("{} bytes after the last tensor belong to no tensor", data - at));
}

SafetensorsHeader Parser::run() {
  check_text();
  entries();
  check_names();
  check_cover();
  return std::move(out_);
}

}  // namespace

SafetensorsHeader parse_safetensors_header(std::vector<char> text, std::int64_t file_bytes, std::string file) {
  return Parser(std::move(text), file_bytes, std::move(file)).run();
}

SafetensorsHeader read_safetensors_header(const std::string& path) {
  const FileBytes file(path);
  const profiles::Where where{.file = path};
  if (file.size() < kPrefix) {
    profiles::fail_input(format("{} bytes are too few for a safetensors file", file.size()), where,
                         "the download is not complete; fetch the file again");
  }
  std::array<char, 8> prefix{};
  file.read(prefix, 0);
  std::uint64_t length = 0;
  for (std::size_t i = prefix.size(); i-- > 0;) length = length << 8 | static_cast<unsigned char>(prefix[i]);
  if (length > static_cast<std::uint64_t>(kMaxHeaderBytes)) {
    profiles::fail_input(format("the header claims {} bytes; the format allows at most {}", length, kMaxHeaderBytes), where,
                         "this is not a safetensors file, or it is damaged");
  }
  if (static_cast<std::int64_t>(length) > file.size() - kPrefix) {
    profiles::fail_input(format("the file ends inside its header: {} bytes of {}", file.size() - kPrefix, length), where,
                         "the download is not complete; fetch the file again");
  }
  std::vector<char> text(static_cast<std::size_t>(length));
  file.read(text, kPrefix);
  return parse_safetensors_header(std::move(text), file.size(), path);
}

}  // namespace kvfit::models
