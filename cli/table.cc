#include "cli/table.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

namespace kvfit::cli {
namespace {

constexpr int kGap = 2;        // blanks between columns
constexpr int kShortest = 12;  // a name keeps at least so many columns

std::vector<int> natural_widths(const Table& table) {
  std::vector<int> widths;
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    int width = display_width(table.columns[c].title);
    for (const std::vector<Cell>& row : table.rows) width = std::max(width, display_width(row[c].text));
    widths.push_back(width);
  }
  return widths;
}

// Takes the excess from the name columns, widest first, until the table fits or every name is at its shortest.
void shrink_names(const Table& table, const Screen& screen, std::vector<int>& widths) {
  if (screen.width <= 0) return;
  const int gaps = kGap * static_cast<int>(widths.size() - 1);
  int excess = table.indent + std::accumulate(widths.begin(), widths.end(), gaps) - screen.width;
  while (excess > 0) {
    int* widest = nullptr;
    for (std::size_t c = 0; c < widths.size(); ++c) {
      if (table.columns[c].name && widths[c] > kShortest && (widest == nullptr || widths[c] > *widest)) widest = &widths[c];
    }
    if (widest == nullptr) return;
    --*widest;
    --excess;
  }
}

std::string blanks(int n) { return std::string(static_cast<std::size_t>(std::max(n, 0)), ' '); }

std::string line(const Table& table, const std::vector<Cell>& cells, const std::vector<int>& widths, const Screen& screen) {
  std::string out = blanks(table.indent);
  std::string pending;  // blanks not yet written, so that none end the line
  for (std::size_t c = 0; c < cells.size(); ++c) {
    const std::string shown = table.columns[c].name ? elide_middle(cells[c].text, widths[c]) : cells[c].text;
    const std::string pad = blanks(widths[c] - display_width(shown));
    if (table.columns[c].align == Align::right) pending += pad;
    if (!shown.empty()) {
      out += pending + paint(shown, cells[c].tone, screen);
      pending.clear();
    }
    if (table.columns[c].align == Align::left) pending += pad;
    pending += blanks(kGap);
  }
  out.erase(out.find_last_not_of(' ') + 1);
  return out + "\n";
}

}  // namespace

std::string render(const Table& table, const Screen& screen) {
  if (table.columns.empty()) return "";
  std::vector<int> widths = natural_widths(table);
  shrink_names(table, screen, widths);
  std::vector<Cell> titles;
  for (const Column& column : table.columns) titles.push_back({column.title, Tone::dim});
  const bool titled = std::any_of(titles.begin(), titles.end(), [](const Cell& cell) { return !cell.text.empty(); });
  std::string out = titled ? line(table, titles, widths, screen) : "";
  for (const std::vector<Cell>& row : table.rows) out += line(table, row, widths, screen);
  return out;
}

std::string bar(double fraction, int width) {
  constexpr std::array<std::string_view, 8> kEighths = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const double clamped = std::isfinite(fraction) ? std::clamp(fraction, 0.0, 1.0) : 0.0;
  const long eighths = std::lround(clamped * 8 * width);
  std::string out;
  for (long i = 0; i < eighths / 8; ++i) out += "█";
  return out + std::string(kEighths[static_cast<std::size_t>(eighths % 8)]);
}

}  // namespace kvfit::cli
