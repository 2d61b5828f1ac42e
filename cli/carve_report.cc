#include "cli/carve_report.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <vector>

#include "carve/request_json.h"
#include "cli/terminal.h"
#include "profiles/json.h"
#include "profiles/text.h"
#include "profiles/units.h"

namespace kvfit::cli {
namespace {

using carve::Block;
using carve::CarvePlan;
using profiles::format;
using profiles::Json;

std::string gigabytes(std::int64_t bytes) {
  const bool large = bytes >= 100'000'000;
  return format("{:.2f} {}", static_cast<double>(bytes) / (large ? 1e9 : 1e6), large ? "GB" : "MB");
}

std::string notes(const std::vector<std::string>& findings) {
  std::string out;
  for (const std::string& finding : findings) out += format("note: {}\n", printable(finding));
  return out;
}

Json jacket(const std::vector<std::string>& findings) {
  Json out;
  out["findings"] = findings;
  return out;
}

std::int64_t block_bytes(const carve::Checkpoint& checkpoint, std::size_t block) {
  std::int64_t out = 0;
  for (std::size_t s = 0; s < checkpoint.source.shards.size(); ++s) {
    for (std::size_t t = 0; t < checkpoint.layout.places[s].size(); ++t) {
      const carve::TensorPlace& place = checkpoint.layout.places[s][t];
      if (place.block == static_cast<std::int32_t>(block)) out += checkpoint.source.shards[s].header.tensors[t].bytes();
    }
  }
  return out;
}

double jaccard(const std::vector<std::int32_t>& a, const std::vector<std::int32_t>& b) {
  std::vector<std::int32_t> both;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(both));
  const std::size_t either = a.size() + b.size() - both.size();
  return either == 0 ? 1 : static_cast<double>(both.size()) / static_cast<double>(either);
}

// Sizes of expert parallelism, up to 64, that give every rank the same number.
std::vector<std::int64_t> divisors(std::int64_t keep) {
  std::vector<std::int64_t> out;
  for (std::int64_t ranks = 2; ranks <= std::min<std::int64_t>(64, keep); ++ranks) {
    if (keep % ranks == 0) out.push_back(ranks);
  }
  return out;
}

void add_block(Listing& listing, const Json& block) {
  const auto number = [&block](const char* key, const char* inner) { return block[key][inner].get<double>(); };
  listing.table.rows.push_back(
      {{block["prefix"].get<std::string>()},
       {format("{:.1f}%", 100 * number("factor_cv", "router"))},
       {format("{:.1f}%", 100 * number("factor_cv", "scale"))},
       {format("{:.2e}", block["cut_gap_rel"].get<double>()), block["near_tie"].get<bool>() ? Tone::warn : Tone::plain},
       {format("{:+.2f}", number("rank_correlation", "router-norm"))},
       {format("{:+.2f}", number("rank_correlation", "random"))}});
}

}  // namespace

Listing inspect_listing(const carve::Checkpoint& checkpoint) {
  const carve::Layout& layout = checkpoint.layout;
  Listing out{.schema = "kvfit.carve_inspect", .value = jacket(checkpoint.findings)};
  out.value["model_type"] = checkpoint.routing.model_type;
  out.value["experts"] = layout.experts;
  out.value["top_k"] = checkpoint.routing.top_k;
  out.value["groups"] = checkpoint.routing.groups;
  out.value["tensors"] = checkpoint.source.tensor_count();
  out.value["tensor_bytes"] = checkpoint.source.tensor_bytes();
  out.value["blocks"] = Json::array();
  out.heading = format("{}: {} experts in {} blocks, {} a token; {} tensors, {}\n", printable(checkpoint.routing.model_type),
                       layout.experts, layout.blocks.size(), checkpoint.routing.top_k,
                       profiles::grouped(checkpoint.source.tensor_count()), gigabytes(checkpoint.source.tensor_bytes()));
  out.table.columns = {{"block", Align::left, true}, {"experts are stored"}, {""}, {"bytes", Align::right}};
  for (std::size_t b = 0; b < layout.blocks.size(); ++b) {
    const Block& block = layout.blocks[b];
    const std::int64_t bytes = block_bytes(checkpoint, b);
    out.table.rows.push_back({{printable(block.prefix)},
                              {std::string(carve::form_name(block.form))},
                              {block.draft ? "draft head" : ""},
                              {profiles::grouped(bytes)}});
    out.value["blocks"].push_back({{"prefix", block.prefix},
                                   {"form", carve::form_name(block.form)},
                                   {"draft", block.draft},
                                   {"bytes", bytes},
                                   {"router", std::string(carve::tensor_of(checkpoint.source, block.router).name)}});
  }
  out.footing = notes(checkpoint.findings);
  return out;
}

Listing plan_listing(const CarvePlan& plan, const std::string& remark) {
  Listing out{.schema = "kvfit.carve_plan", .value = jacket(plan.findings)};
  const carve::Layout& layout = plan.checkpoint.layout;
  const std::int64_t saved = plan.bytes_in() - plan.bytes_out();
  const std::int64_t source_bytes = plan.checkpoint.source.tensor_bytes();
  const auto share = [source_bytes](std::int64_t bytes) {
    return source_bytes == 0 ? 0 : 100.0 * static_cast<double>(bytes) / static_cast<double>(source_bytes);
  };
  out.value["keep"] = plan.request.keep;
  out.value["of"] = layout.experts;
  out.value["request"] = carve::to_json(plan.request);
  out.value["tensor_bytes"] = plan.tensor_bytes();
  out.value["bytes_in"] = plan.bytes_in();
  out.value["bytes_out"] = plan.bytes_out();
  out.value["score_bytes_read"] = plan.score_bytes_read;
  out.value["plain_bytes_read"] = plan.plain_bytes_read;
  if (!remark.empty()) out.value["kernel_remark"] = remark;
  out.value["outputs"] = Json::array();
  for (const carve::OutputFile& file : plan.outputs) {
    out.value["outputs"].push_back(
        {{"name", file.name}, {"bytes", file.bytes}, {"tensors", file.tensors}, {"shareable_bytes", file.shareable_bytes}});
  }
  out.value["side_files"] = Json::array();
  for (const carve::SideFile& file : plan.sides) out.value["side_files"].push_back(file.name);
  out.value["config_edits"] = plan.rewriting.config_edits.size();
  out.value["list_edits"] = plan.rewriting.list_edits.size();
  out.value["blocks"] = plan.record.blocks;
  out.heading = format("keep {} of {} experts in {} blocks: {} -> {} ({} less) in {} files\n", plan.request.keep,
                       layout.experts, layout.blocks.size(), gigabytes(plan.bytes_in()), gigabytes(plan.bytes_out()),
                       gigabytes(saved), plan.outputs.size());
  const std::string basis = plan.record.basis.empty() ? "" : format(" ({})", plan.record.basis);
  const std::int64_t scales = plan.score_bytes_read - plan.plain_bytes_read;
  out.heading += format("score {}{}, read {} ({:.1f}% of the tensors)", carve::score_text(plan.request), basis,
                        gigabytes(scales), share(scales));
  if (plan.plain_bytes_read > 0) {
    out.heading += format(" and {} ({:.1f}%) of plain weights, where there are no scales", gigabytes(plan.plain_bytes_read),
                          share(plan.plain_bytes_read));
  }
  out.heading += "\n";
  out.heading += format("kernels: {}\n", remark.empty() ? "fused top-k in vLLM, SGLang and llama.cpp" : remark);
  out.value["expert_parallel"] = divisors(plan.request.keep);
  out.heading += format("expert parallel: {} divide over {} ranks\n", plan.request.keep,
                        profiles::join(divisors(plan.request.keep), ", "));
  out.table.columns = {{"block", Align::left, true},     {"router spread", Align::right}, {"weight spread", Align::right},
                       {"gap at the cut", Align::right}, {"~router", Align::right},       {"~random", Align::right}};
  for (const Json& block : plan.record.blocks) add_block(out, block);
  out.footing =
      "spread: standard deviation over mean of each factor; ~: rank correlation of the score with the router's norm and "
      "with random.\n" +
      notes(plan.findings);
  return out;
}

Listing compare_listing(const carve::Checkpoint& checkpoint, const carve::Selection& a, const carve::Selection& b,
                        const std::string& name_a, const std::string& name_b) {
  Listing out{.schema = "kvfit.carve_compare"};
  out.value["a"] = name_a;
  out.value["b"] = name_b;
  out.value["blocks"] = Json::array();
  out.table.columns = {{"block", Align::left, true}, {"same experts", Align::right}, {"rank correlation", Align::right}};
  double overlap = 0;
  double correlation = 0;
  for (std::size_t i = 0; i < a.choices.size(); ++i) {
    const double shared = jaccard(a.choices[i].kept, b.choices[i].kept);
    const double ranks = carve::rank_correlation(a.scores.blocks[i].values, b.scores.blocks[i].values);
    overlap += shared;
    correlation += ranks;
    out.table.rows.push_back(
        {{printable(checkpoint.layout.blocks[i].prefix)}, {format("{:.1f}%", 100 * shared)}, {format("{:+.3f}", ranks)}});
    out.value["blocks"].push_back(
        {{"prefix", checkpoint.layout.blocks[i].prefix}, {"jaccard", shared}, {"rank_correlation", ranks}});
  }
  const double count = static_cast<double>(a.choices.size());
  out.value["mean_jaccard"] = overlap / count;
  out.value["mean_rank_correlation"] = correlation / count;
  out.heading = format("{} against {}: {:.1f}% of either's experts are kept by both, rank correlation {:+.3f} on average\n",
                       name_a, name_b, 100 * overlap / count, correlation / count);
  return out;
}

Listing verify_listing(const carve::VerifyReport& report, bool alone, bool full) {
  Listing out{.schema = "kvfit.carve_verify"};
  out.value["full"] = full;
  out.value["hashed_tensors"] = report.hashed;
  out.value["wrong"] = report.wrong;
  for (const std::string& line : report.wrong) out.heading += format("wrong: {}\n", printable(line));
  if (!report.wrong.empty()) return out;
  const std::string hashed =
      report.hashed == 0 ? "" : format("{} tensors have the hashes of carve_manifest.json", report.hashed);
  if (alone) {
    out.heading = format("{}; the source was not looked at\n", hashed);
  } else if (full) {
    out.heading = format("every byte is the source's{}{}\n", hashed.empty() ? "" : ", and ", hashed);
  } else {
    out.heading = format("headers, sizes and texts are as planned{}{} (--full compares every byte)\n",
                         hashed.empty() ? "" : ", and ", hashed);
  }
  return out;
}

}  // namespace kvfit::cli
