#include "carve/request.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "carve/expert_table.h"
#include "carve/external_scores.h"
#include "models/quantization.h"
#include "profiles/document.h"
#include "profiles/error.h"
#include "profiles/text.h"

namespace kvfit::carve {
namespace {

namespace fs = std::filesystem;
using profiles::format;

// Files beside config.json whose lists may name modules.
constexpr std::array<std::string_view, 5> kListFiles = {"hf_quant_config.json", "quantize_config.json", "quant_config.json",
                                                        "quantization_config.json", "quant_method.json"};

constexpr std::string_view kTr3Manifest = "EXL3_MANIFEST.json";

}  // namespace

Checkpoint open_checkpoint(const Request& request) {
  Checkpoint out;
  out.source = open_source(request.source, {request.ignore_dangling, request.include_orphans});
  const std::string& file = out.source.config_path;
  out.config = parse_json_spans(out.source.config, file);
  out.routing = read_routing(out.config, file);
  const bool manifest = fs::exists(fs::path(out.source.files.directory) / kTr3Manifest);
  if (manifest && !request.drop_tr3_manifest) {
    profiles::fail_input(format("{} holds hashes that a carve breaks", kTr3Manifest), {.file = out.source.files.directory},
                         "carve the checkpoint it was made from, or say --tr3-drop-manifest");
  }
  out.layout = recognise(out.source, {out.routing.experts, out.routing.trunk_layers},
                         {request.draft, request.remap_tables, request.drop_tr3_manifest, request.allow_unknown});
  if (out.routing.experts != 0 && out.routing.experts != out.layout.experts) {
    profiles::fail_input(
        format("the config states {} experts a layer, the tensors have {}", out.routing.experts, out.layout.experts),
        {.file = file}, "the checkpoint and its config do not belong together");
  }
  out.findings = out.source.findings;
  out.findings.insert(out.findings.end(), out.layout.findings.begin(), out.layout.findings.end());
  if (!out.routing.normalised) {
    out.findings.push_back(
        "norm_topk_prob is false: with fewer experts the router's weights grow, also where all picked experts stay");
  }
  return out;
}

Kept Selection::kept() const {
  Kept out;
  for (const Choice& choice : choices) out.push_back(choice.kept);
  return out;
}

namespace {

SelectOptions options_of(const Checkpoint& checkpoint, const Request& request) {
  return {request.keep, checkpoint.routing.groups, request.protect, request.drop};
}

}  // namespace

void check_request(const Checkpoint& checkpoint, const Request& request) {
  check_keep(checkpoint.routing, checkpoint.layout.experts, request.keep, request.force_count);
  check_ids(checkpoint.layout, options_of(checkpoint, request));
  for (const Block& block : checkpoint.layout.blocks) {
    if (block.table.shard >= 0) check_table(checkpoint.source, block, request.keep);
  }
}

namespace {

// One score. What a file does not name is scored by request.score, on request.
ScoreReport score_by(ScoreKind kind, const Checkpoint& checkpoint, const Request& request,
                     const std::function<void(std::int64_t)>& progress) {
  check_request(checkpoint, request);
  ScoreOptions options{.kind = kind, .seed = request.seed, .progress = progress};
  if (kind != ScoreKind::file) return score_experts(checkpoint.source, checkpoint.layout, options);
  if (request.score_file.empty()) profiles::fail_input("'file' is no score without a file", {}, "--score-file FILE");
  options.kind = request.score == ScoreKind::file ? ScoreKind::kirigami : request.score;
  return external_scores(checkpoint.source, checkpoint.layout, request.score_file, request.fill ? &options : nullptr);
}

Selection select_from(ScoreReport scores, const Checkpoint& checkpoint, const Request& request) {
  Selection out;
  out.scores = std::move(scores);
  out.choices = select_experts(checkpoint.layout, out.scores, options_of(checkpoint, request));
  return out;
}

}  // namespace

std::string score_text(const Request& request) {
  const bool file = !request.score_file.empty() && !request.second;
  const std::string_view name = score_name(file ? ScoreKind::file : request.score);
  if (!request.second) return std::string(name);
  return format("the ranks of {} and {}", name, score_name(*request.second));
}

Selection choose_by(ScoreKind kind, const Checkpoint& checkpoint, const Request& request,
                    const std::function<void(std::int64_t)>& progress) {
  return select_from(score_by(kind, checkpoint, request, progress), checkpoint, request);
}

Selection choose_experts(const Checkpoint& checkpoint, const Request& request,
                         const std::function<void(std::int64_t)>& progress) {
  const ScoreKind kind = request.score_file.empty() || request.second ? request.score : ScoreKind::file;
  if (!request.second) return choose_by(kind, checkpoint, request, progress);
  return select_from(
      rank_sum(score_by(kind, checkpoint, request, progress), score_by(*request.second, checkpoint, request, progress)),
      checkpoint, request);
}

Rewriting rewrite_texts(const Checkpoint& checkpoint, const Request& request, const Kept& kept) {
  const Layout& layout = checkpoint.layout;
  Renumberings renumberings;
  for (std::size_t b = 0; b < layout.blocks.size(); ++b) {
    Renumbering numbers(static_cast<std::size_t>(layout.experts), -1);
    for (std::size_t i = 0; i < kept[b].size(); ++i)
      numbers[static_cast<std::size_t>(kept[b][i])] = static_cast<std::int32_t>(i);
    renumberings.emplace(models::short_name(layout.blocks[b].prefix), std::move(numbers));
  }
  Rewriting out;
  const ListOptions lists{request.keep_patterns};
  std::vector<JsonEdit> edits;
  const std::int64_t keep = static_cast<std::int64_t>(kept.front().size());
  const std::string& file = checkpoint.source.config_path;
  edit_counts(checkpoint.config, file, layout.experts, keep, request.draft == DraftMode::drop, edits, out.config_edits);
  edit_lists(checkpoint.config, file, renumberings, lists, edits, out.list_edits);
  out.files.push_back({"config.json", apply_edits(checkpoint.source.config, std::move(edits))});
  for (const std::string_view name : kListFiles) {
    const fs::path path = fs::path(checkpoint.source.files.directory) / name;
    if (!fs::is_regular_file(path)) continue;
    const std::string text = profiles::read_text_file(path.string());
    std::vector<JsonEdit> changes;
    edit_lists(parse_json_spans(text, path.string()), path.string(), renumberings, lists, changes, out.list_edits);
    out.files.push_back({std::string(name), apply_edits(text, std::move(changes))});
  }
  const fs::path recipe = fs::path(checkpoint.source.files.directory) / "recipe.yaml";
  if (fs::is_regular_file(recipe) && names_an_expert(profiles::read_text_file(recipe.string()))) {
    out.findings.push_back("recipe.yaml names experts by their old numbers and is carried as it is");
  }
  return out;
}

}  // namespace kvfit::carve
