// Lists in config.json and quantisation files that name experts by number: kept experts get their new number, entries of
// dropped experts go, all other bytes stay.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "carve/json_spans.h"

namespace kvfit::carve {

/// new_of_old[e] is the new number of expert e, or -1.
using Renumbering = std::vector<std::int32_t>;
/// By block prefix in short form (models::short_name), so that a list written without a wrapper's prefix is understood.
using Renumberings = std::map<std::string, Renumbering, std::less<>>;

struct ListEdit {
  std::string file, pointer, from;
  std::string to;  ///< "" = removed
};

struct ListOptions {
  bool keep_patterns = false;  ///< leave patterns that name an expert number as they are
};

/// "...experts.12...", "...experts\\.12...", "...experts.up_proj.12...": a text about single experts.
bool names_an_expert(std::string_view pattern);

/// All strings in lists and all keys of objects. Error listing patterns (globs, "re:") that name an expert number.
void edit_lists(const JsonSpan& root, const std::string& file, const Renumberings& renumberings, const ListOptions& options,
                std::vector<JsonEdit>& edits, std::vector<ListEdit>& report);

}  // namespace kvfit::carve
