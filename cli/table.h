// A table for people: columns sized to what they hold, numbers aligned right, names shortened in the middle when the
// terminal is too narrow. Numbers are never shortened.
#pragma once

#include <string>
#include <vector>

#include "cli/terminal.h"

namespace kvfit::cli {

enum class Align { left, right };

struct Column {
  std::string title;
  Align align = Align::left;
  bool name = false;  ///< may be shortened
};

struct Cell {
  std::string text;
  Tone tone = Tone::plain;
};

struct Table {
  int indent = 2;
  std::vector<Column> columns;
  std::vector<std::vector<Cell>> rows;  ///< each as long as `columns`
};

/// Title line (left out when every title is empty) and one line a row, no blanks at line ends, newline after each.
std::string render(const Table& table, const Screen& screen);

/// `width` columns filled to `fraction` (clamped to 0..1) in eighths of a column: "███▌".
std::string bar(double fraction, int width);

}  // namespace kvfit::cli
