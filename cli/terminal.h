// What a stream can show, decided once per stream: colour, width, whether anybody watches.
//
// Colour, first that speaks: --color, FORCE_COLOR (not "0"), NO_COLOR (not empty), CLICOLOR_FORCE (not "0"), CLICOLOR=0,
// TERM=dumb, then whether the stream is a terminal. Source: no-color.org, bixense.com/clicolors.
// Width: COLUMNS, else what the terminal says, else 80. A stream that is no terminal has no width: nothing is shortened.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace kvfit::cli {

enum class ColourChoice { automatic, always, never };

/// What the system says about a stream.
struct StreamFacts {
  bool terminal = false;
  int columns = 0;  ///< 0 = not known
};

/// Value of an environment variable; nullopt when absent.
using Environment = std::function<std::optional<std::string>(std::string_view)>;

struct Screen {
  bool terminal = false;
  bool colour = false;
  int width = 0;  ///< columns; 0 = no limit
};

Screen decide_screen(ColourChoice choice, const StreamFacts& facts, const Environment& environment);

StreamFacts stream_facts(int descriptor);
Environment process_environment();

/// What a piece of text means; colour follows from it, and words always say the same.
enum class Tone { plain, strong, dim, good, warn, bad };

std::string paint(std::string_view text, Tone tone, const Screen& screen);

/// Columns the text takes on a terminal: UTF-8, combining marks 0, wide East Asian characters 2.
int display_width(std::string_view text);

/// Control characters become '?': names come from files that others wrote.
std::string printable(std::string_view text);

/// Cuts the middle out with "…" so that at most `width` columns remain; returns the text itself when it fits.
std::string elide_middle(std::string_view text, int width);

/// Breaks at blanks so that no line is wider than `width` (0 = never). The text begins in column `indent`, after what the
/// caller wrote there; later lines begin with that many blanks.
std::string wrap(std::string_view text, int width, int indent);

}  // namespace kvfit::cli
