#include "cli/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kvfit::cli {
namespace {

bool decide_colour(ColourChoice choice, const StreamFacts& facts, const Environment& environment) {
  if (choice != ColourChoice::automatic) return choice == ColourChoice::always;
  const auto value = [&environment](std::string_view name) { return environment(name).value_or(""); };
  const std::string force = value("FORCE_COLOR");
  if (!force.empty() && force != "0") return true;
  if (!value("NO_COLOR").empty()) return false;
  const std::string clicolor_force = value("CLICOLOR_FORCE");
  if (!clicolor_force.empty() && clicolor_force != "0") return true;
  if (value("CLICOLOR") == "0") return false;
  if (value("TERM") == "dumb") return false;
  return facts.terminal;
}

int decide_width(const StreamFacts& facts, const Environment& environment) {
  constexpr int kNarrowest = 20;
  const std::string columns = environment("COLUMNS").value_or("");
  int width = 0;
  const std::from_chars_result read = std::from_chars(columns.data(), columns.data() + columns.size(), width);
  if (read.ec == std::errc{} && read.ptr == columns.data() + columns.size() && width > 0) {
    return width < kNarrowest ? kNarrowest : width;
  }
  return facts.columns > 0 ? facts.columns : 80;
}

struct Decoded {
  std::uint32_t point;
  std::size_t size;
};

// One code point; a byte that starts no valid sequence stands for itself.
Decoded decode(std::string_view text) {
  const auto byte = [text](std::size_t i) { return static_cast<std::uint32_t>(static_cast<unsigned char>(text[i])); };
  const std::uint32_t first = byte(0);
  std::size_t size = 1;
  std::uint32_t point = first;
  if (first >= 0xf0 && first < 0xf8) {
    size = 4;
    point = first & 0x07;
  } else if (first >= 0xe0 && first < 0xf0) {
    size = 3;
    point = first & 0x0f;
  } else if (first >= 0xc0 && first < 0xe0) {
    size = 2;
    point = first & 0x1f;
  }
  if (size > text.size()) return {first, 1};
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {first, 1};
    point = (point << 6) | (byte(i) & 0x3f);
  }
  return {point, size};
}

struct Range {
  std::uint32_t first, last;
};

// Unicode 15 EastAsianWidth W and F, and the zero-width marks that occur in names; ranges merged.
constexpr std::array kWide = {Range{0x1100, 0x115f},   Range{0x2e80, 0xa4cf},   Range{0xac00, 0xd7a3},
                              Range{0xf900, 0xfaff},   Range{0xfe30, 0xfe6f},   Range{0xff00, 0xff60},
                              Range{0xffe0, 0xffe6},   Range{0x1f300, 0x1f64f}, Range{0x1f680, 0x1f6ff},
                              Range{0x1f900, 0x1f9ff}, Range{0x20000, 0x3fffd}};
constexpr std::array kZero = {Range{0x0300, 0x036f}, Range{0x200b, 0x200f}, Range{0x20d0, 0x20ff}, Range{0xfe00, 0xfe0f}};

template <std::size_t N>
bool within(const std::array<Range, N>& ranges, std::uint32_t point) {
  for (const Range& range : ranges) {
    if (point >= range.first && point <= range.last) return true;
  }
  return false;
}

int point_width(std::uint32_t point) {
  if (within(kZero, point)) return 0;
  return within(kWide, point) ? 2 : 1;
}

std::string_view escape(Tone tone) {
  switch (tone) {
    case Tone::plain:
      return "";
    case Tone::strong:
      return "\x1b[1m";
    case Tone::dim:
      return "\x1b[2m";
    case Tone::good:
      return "\x1b[32m";
    case Tone::warn:
      return "\x1b[33m";
    case Tone::bad:
      return "\x1b[31m";
  }
  return "";
}

}  // namespace

Screen decide_screen(ColourChoice choice, const StreamFacts& facts, const Environment& environment) {
  return {.terminal = facts.terminal,
          .colour = decide_colour(choice, facts, environment),
          .width = facts.terminal ? decide_width(facts, environment) : 0};
}

StreamFacts stream_facts(int descriptor) {
  StreamFacts facts;
  facts.terminal = ::isatty(descriptor) == 1;
  winsize size{};
  if (facts.terminal && ::ioctl(descriptor, TIOCGWINSZ, &size) == 0) facts.columns = size.ws_col;
  return facts;
}

Environment process_environment() {
  return [](std::string_view name) -> std::optional<std::string> {
    const char* value = std::getenv(std::string(name).c_str());
    if (value == nullptr) return std::nullopt;
    return std::string(value);
  };
}

std::string paint(std::string_view text, Tone tone, const Screen& screen) {
  if (!screen.colour || tone == Tone::plain || text.empty()) return std::string(text);
  return std::string(escape(tone)) + std::string(text) + "\x1b[0m";
}

int display_width(std::string_view text) {
  int width = 0;
  while (!text.empty()) {
    const Decoded c = decode(text);
    width += point_width(c.point);
    text.remove_prefix(c.size);
  }
  return width;
}

std::string printable(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const Decoded c = decode(text);
    const bool control = c.point < 0x20 || (c.point >= 0x7f && c.point < 0xa0);
    const bool broken = c.size == 1 && c.point >= 0x80;
    out += control || broken ? std::string("?") : std::string(text.substr(0, c.size));
    text.remove_prefix(c.size);
  }
  return out;
}

std::string elide_middle(std::string_view text, int width) {
  if (display_width(text) <= width) return std::string(text);
  if (width < 1) return "";
  std::vector<std::string_view> points;
  for (std::string_view rest = text; !rest.empty();) {
    const Decoded c = decode(rest);
    points.push_back(rest.substr(0, c.size));
    rest.remove_prefix(c.size);
  }
  const int head_room = (width - 1 + 1) / 2;
  const int tail_room = width - 1 - head_room;
  std::string head;
  for (std::size_t i = 0; i < points.size() && display_width(head) + display_width(points[i]) <= head_room; ++i) {
    head += points[i];
  }
  std::string tail;
  for (std::size_t i = points.size(); i-- > 0 && display_width(tail) + display_width(points[i]) <= tail_room;) {
    tail.insert(0, points[i]);
  }
  return head + "…" + tail;
}

std::string wrap(std::string_view text, int width, int indent) {
  std::string out;
  int column = indent;
  bool first = true;
  while (!text.empty()) {
    const std::size_t blank = text.find(' ');
    const std::string_view word = text.substr(0, blank);
    const int size = display_width(word);
    if (!first && width > 0 && column + 1 + size > width) {
      out += "\n" + std::string(static_cast<std::size_t>(indent), ' ');
      column = indent;
    } else if (!first) {
      out += ' ';
      ++column;
    }
    out += word;
    column += size;
    first = false;
    text.remove_prefix(blank == std::string_view::npos ? text.size() : blank + 1);
  }
  return out;
}

}  // namespace kvfit::cli
