#include "carve/score.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "carve/exact_sum.h"
#include "carve/expert_reader.h"
#include "carve/numbers.h"
#include "carve/plain_scale.h"
#include "carve/router_scores.h"
#include "carve/weight_norm.h"
#include "models/file_bytes.h"
#include "models/header_scanner.h"
#include "profiles/error.h"
#include "profiles/suggest.h"
#include "profiles/text.h"

namespace kvfit::carve {
namespace {

using models::HeaderTensor;
using profiles::DType;
using profiles::fail_input;
using profiles::format;

struct Name {
  ScoreKind kind;
  std::string_view text;
};
constexpr std::array<Name, 12> kNames = {{{ScoreKind::kirigami, "kirigami"},
                                          {ScoreKind::kirigami_eff, "kirigami-eff"},
                                          {ScoreKind::router_norm, "router-norm"},
                                          {ScoreKind::scale, "scale"},
                                          {ScoreKind::aimer, "aimer"},
                                          {ScoreKind::frob, "frob"},
                                          {ScoreKind::stable_rank, "stable-rank"},
                                          {ScoreKind::sim, "sim"},
                                          {ScoreKind::bias, "bias"},
                                          {ScoreKind::hash_freq, "hash-freq"},
                                          {ScoreKind::file, "file"},
                                          {ScoreKind::random, "random"}}};

bool effective(ScoreKind kind) { return kind == ScoreKind::kirigami_eff || kind == ScoreKind::scale; }
bool reads_router(ScoreKind kind) {
  return kind == ScoreKind::kirigami || kind == ScoreKind::kirigami_eff || kind == ScoreKind::router_norm;
}
bool reads_scales(ScoreKind kind) {
  return kind == ScoreKind::kirigami || kind == ScoreKind::kirigami_eff || kind == ScoreKind::scale;
}
bool reads_little(ScoreKind kind) {
  return kind == ScoreKind::sim || kind == ScoreKind::bias || kind == ScoreKind::hash_freq;
}
bool reads_weights(ScoreKind kind) {
  return kind == ScoreKind::aimer || kind == ScoreKind::frob || kind == ScoreKind::stable_rank;
}

std::uint64_t splitmix64(std::uint64_t x) {
  x += 0x9E3779B97F4A7C15U;
  x = (x ^ (x >> 30U)) * 0xBF58476D1CE4E5B9U;
  x = (x ^ (x >> 27U)) * 0x94D049BB133111EBU;
  return x ^ (x >> 31U);
}

// An unquantised matrix of an expert, that a scale can be made up for.
bool weighs_plainly(const Source& source, const ExpertTensor& tensor) {
  const HeaderTensor& header = tensor_of(source, tensor.ref);
  const std::size_t rank = source.shards[static_cast<std::size_t>(tensor.ref.shard)].header.shape(header).size();
  return tensor.content == Content::weight && PlainScale::reads(header.dtype) && rank >= 2 && header.bytes() > 0;
}

// The mean of an expert's scales: whole multiples of 2^-9 where all are E4M3, else a compensated sum.
struct ScaleMean {
  std::int64_t units = 0, count = 0;
  CompensatedSum rest;
  double value() const { return (static_cast<double>(units) * 0x1p-9 + rest.value()) / static_cast<double>(count); }
};

class Scorer {
 public:
  Scorer(const Source& source, const Layout& layout, const ScoreOptions& options)
      : source_(source), layout_(layout), options_(options), reader_(source, layout) {
    out_.kind = options.kind;
    out_.blocks.resize(layout.blocks.size());
  }
  ScoreReport run();

 private:
  using Key = std::tuple<std::int32_t, std::int32_t, std::string>;  // block, expert, projection
  void routers();
  void tables(std::size_t block);
  void small(std::size_t block);
  void scales();
  void global_scales();
  void add_scale(const ExpertTensor& tensor);
  double factor(const ExpertTensor& tensor, std::int32_t expert) const;
  void plain(std::size_t block);
  void combine();
  void check(const Block& block, const BlockScore& score) const;
  std::size_t cell(std::int32_t block, std::int32_t expert) const {
    return static_cast<std::size_t>(block) * static_cast<std::size_t>(layout_.experts) + static_cast<std::size_t>(expert);
  }
  void tick() {
    if (options_.progress) options_.progress(out_.bytes_read + reader_.bytes_read());
  }

  const Source& source_;
  const Layout& layout_;
  const ScoreOptions& options_;
  PieceReader reader_;
  ScoreReport out_;
  std::vector<ScaleMean> means_;  // by block and expert
  std::map<Key, double> factors_;
  std::vector<std::int64_t> odd_;  // scales that are zero or negative, by block
};

void Scorer::routers() {
  for (std::size_t i = 0; i < layout_.blocks.size(); ++i) {
    const Block& block = layout_.blocks[i];
    if (block.table.shard >= 0) {
      tables(i);
      continue;
    }
    out_.blocks[i].router = router_norms(source_, block);
    out_.bytes_read += tensor_of(source_, block.router).bytes();
    tick();
  }
}

void Scorer::tables(std::size_t block) {
  out_.blocks[block].values = table_counts(source_, layout_.blocks[block]);
  out_.blocks[block].basis = "tokens of the table";
  out_.bytes_read += tensor_of(source_, layout_.blocks[block].table).bytes();
  tick();
}

// Scores by one small tensor of each block.
void Scorer::small(std::size_t i) {
  const Block& block = layout_.blocks[i];
  BlockScore& score = out_.blocks[i];
  if (options_.kind == ScoreKind::sim) {
    score.values = router_diversity(source_, block);
    score.basis = "likeness of router rows";
    out_.bytes_read += tensor_of(source_, block.router).bytes();
  } else if (options_.kind == ScoreKind::bias) {
    score.values = negated_correction(source_, block);
    score.basis = "score corrections";
    out_.bytes_read += tensor_of(source_, block.correction).bytes();
  } else {
    tables(i);
  }
  tick();
}

void Scorer::global_scales() {
  std::vector<double> values;
  for_each_expert_tensor(source_, layout_, [&](const ExpertTensor& tensor) {
    const bool inverse = tensor.content == Content::inverse_global_scale;
    if (tensor.content != Content::global_scale && !inverse) return;
    if (!is_number(tensor_of(source_, tensor.ref).dtype)) return;
    reader_.read(tensor, [&](std::int32_t expert, std::span<const char> bytes) {
      decode(tensor_of(source_, tensor.ref).dtype, bytes, values);
      if (!values.empty()) {
        factors_[{tensor.block, expert, std::string(tensor.projection)}] = inverse ? 1.0 / values[0] : values[0];
      }
    });
  });
}

double Scorer::factor(const ExpertTensor& tensor, std::int32_t expert) const {
  const auto found = factors_.find({tensor.block, expert, std::string(tensor.projection)});
  return found == factors_.end() ? 1.0 : found->second;
}

void Scorer::add_scale(const ExpertTensor& tensor) {
  const DType type = tensor_of(source_, tensor.ref).dtype;
  std::vector<double> values;
  reader_.read(tensor, [&](std::int32_t expert, std::span<const char> bytes) {
    ScaleMean& mean = means_[cell(tensor.block, expert)];
    const double scale = effective(options_.kind) ? factor(tensor, expert) : 1.0;
    if (type == DType::f8_e4m3) {
      E4m3Histogram histogram;
      histogram.add(bytes);
      if (histogram.not_numbers() > 0) {
        fail_input(format("'{}' holds a scale that is not a number", models::printable(tensor_of(source_, tensor.ref).name)),
                   {.file = source_.shards[static_cast<std::size_t>(tensor.ref.shard)].path}, "the file is damaged");
      }
      odd_[static_cast<std::size_t>(tensor.block)] += histogram.not_positive();
      mean.count += histogram.count();
      if (effective(options_.kind)) {
        mean.rest.add(histogram.sum() * scale);
      } else {
        mean.units += histogram.units();
      }
    } else {
      decode(type, bytes, values);
      for (const double v : values) mean.rest.add(v * scale);
      mean.count += static_cast<std::int64_t>(values.size());
    }
  });
  tick();
}

void Scorer::scales() {
  means_.resize(layout_.blocks.size() * static_cast<std::size_t>(layout_.experts));
  odd_.resize(layout_.blocks.size());
  if (effective(options_.kind)) global_scales();
  for_each_expert_tensor(source_, layout_, [&](const ExpertTensor& tensor) {
    if (tensor.content == Content::scale) add_scale(tensor);
  });
  for (std::size_t b = 0; b < layout_.blocks.size(); ++b) {
    BlockScore& score = out_.blocks[b];
    if (!score.values.empty()) continue;  // a table's
    const std::size_t first = b * static_cast<std::size_t>(layout_.experts);
    const bool all = std::all_of(means_.begin() + static_cast<std::ptrdiff_t>(first),
                                 means_.begin() + static_cast<std::ptrdiff_t>(first) + layout_.experts,
                                 [](const ScaleMean& mean) { return mean.count > 0; });
    if (!all) {
      plain(b);
      continue;
    }
    score.basis = effective(options_.kind) ? "weight scales times global scales" : "weight scales as stored";
    for (std::int64_t e = 0; e < layout_.experts; ++e)
      score.weight.push_back(means_[first + static_cast<std::size_t>(e)].value());
    if (odd_[b] > 0) {
      out_.findings.push_back(format("{} scales of '{}' are zero or negative", odd_[b], layout_.blocks[b].prefix));
    }
  }
}

void Scorer::plain(std::size_t block) {
  PlainScale scale(layout_.experts);
  for_each_expert_tensor(source_, layout_, [&](const ExpertTensor& tensor) {
    if (static_cast<std::size_t>(tensor.block) != block || !weighs_plainly(source_, tensor)) return;
    const HeaderTensor& header = tensor_of(source_, tensor.ref);
    const std::int64_t width = source_.shards[static_cast<std::size_t>(tensor.ref.shard)].header.shape(header).back();
    reader_.read(tensor, [&](std::int32_t expert, std::span<const char> rows) {
      scale.add(expert, header.dtype, width, rows);
      out_.plain_bytes_read += static_cast<std::int64_t>(rows.size());
      tick();
    });
  });
  out_.blocks[block].weight = scale.means();
  out_.blocks[block].basis = "plain weights: mean over 16 inputs of max |w| / 6";
  if (out_.blocks[block].weight.empty()) {
    fail_input(format("'{}' has neither weight scales nor plain weights to score by", layout_.blocks[block].prefix),
               {.file = source_.files.directory}, "use --score router-norm, random or file");
  }
}

void Scorer::combine() {
  for (BlockScore& score : out_.blocks) {
    if (!score.values.empty()) continue;
    for (std::size_t e = 0; e < static_cast<std::size_t>(layout_.experts); ++e) {
      const double router = score.router.empty() ? 1.0 : score.router[e];
      const double weight = score.weight.empty() ? 1.0 : score.weight[e];
      score.values.push_back(router * weight);
    }
  }
}

void Scorer::check(const Block& block, const BlockScore& score) const {
  const profiles::Where where{.file = source_.files.directory};
  if (!std::all_of(score.values.begin(), score.values.end(), [](double v) { return std::isfinite(v); })) {
    fail_input(format("a score of '{}' is not a finite number", block.prefix), where, "the checkpoint is damaged");
  }
  const double first = score.values.front();
  if (std::all_of(score.values.begin(), score.values.end(), [first](double v) { return v == first; })) {
    fail_input(format("all experts of '{}' score the same: nothing to choose by", block.prefix), where,
               "use another --score");
  }
}

ScoreReport Scorer::run() {
  if (reads_router(options_.kind)) routers();
  if (reads_scales(options_.kind)) scales();
  for (std::size_t b = 0; b < out_.blocks.size() && reads_little(options_.kind); ++b) small(b);
  if (options_.kind == ScoreKind::random) {
    const std::vector<std::vector<double>> values = random_scores(layout_, options_.seed);
    for (std::size_t b = 0; b < values.size(); ++b) out_.blocks[b].values = values[b];
  }
  if (reads_weights(options_.kind)) {
    const bool ranks = options_.kind == ScoreKind::stable_rank;
    WeightNorms norms(source_, layout_, ranks);
    norms.read([this](std::int64_t bytes) {
      if (options_.progress) options_.progress(bytes);
    });
    out_.bytes_read += norms.bytes_read();
    for (std::size_t b = 0; b < out_.blocks.size(); ++b) {
      out_.blocks[b].weight = ranks                               ? norms.stable_rank(b)
                              : options_.kind == ScoreKind::aimer ? norms.aimer(b)
                                                                  : norms.frobenius(b);
      out_.blocks[b].basis = "all weights, dequantised";
    }
  }
  out_.bytes_read += reader_.bytes_read();
  combine();
  for (std::size_t b = 0; b < out_.blocks.size(); ++b) check(layout_.blocks[b], out_.blocks[b]);
  return std::move(out_);
}

}  // namespace

std::string_view score_name(ScoreKind kind) {
  for (const Name& name : kNames) {
    if (name.kind == kind) return name.text;
  }
  return "";
}

ScoreKind parse_score(std::string_view text) {
  std::vector<std::string> known;
  for (const Name& name : kNames) {
    if (name.text == text) return name.kind;
    known.emplace_back(name.text);
  }
  std::string hint = profiles::did_you_mean(text, known);
  fail_input(format("unknown score '{}'", models::printable(text)), {},
             hint.empty() ? format("known: {}", profiles::join(known, ", ")) : std::move(hint));
}

ScoreReport score_experts(const Source& source, const Layout& layout, const ScoreOptions& options) {
  return Scorer(source, layout, options).run();
}

std::vector<std::vector<double>> random_scores(const Layout& layout, std::uint64_t seed) {
  std::vector<std::vector<double>> out;
  for (std::size_t b = 0; b < layout.blocks.size(); ++b) {
    const std::uint64_t block = splitmix64(seed ^ splitmix64(b));
    std::vector<double>& values = out.emplace_back();
    for (std::int64_t e = 0; e < layout.experts; ++e) {
      values.push_back(static_cast<double>(splitmix64(block ^ static_cast<std::uint64_t>(e)) >> 11U) * 0x1p-53);
    }
  }
  return out;
}

std::int64_t score_cost(const Source& source, const Layout& layout, ScoreKind kind) {
  std::int64_t out = 0;
  if (reads_router(kind)) {
    for (const Block& block : layout.blocks) out += tensor_of(source, block.router).bytes();
  }
  std::vector<bool> scaled(layout.blocks.size());
  std::vector<std::int64_t> plain(layout.blocks.size());
  for_each_expert_tensor(source, layout, [&](const ExpertTensor& tensor) {
    const std::size_t block = static_cast<std::size_t>(tensor.block);
    const std::int64_t bytes = tensor_of(source, tensor.ref).bytes();
    const bool global = tensor.content == Content::global_scale || tensor.content == Content::inverse_global_scale;
    if (reads_weights(kind) && tensor.content != Content::other) out += kind == ScoreKind::stable_rank ? 12 * bytes : bytes;
    if (!reads_scales(kind)) return;
    if (global && effective(kind)) out += bytes;
    if (tensor.content == Content::scale) {
      scaled[block] = true;
      out += bytes;
    } else if (weighs_plainly(source, tensor)) {
      plain[block] += bytes;
    }
  });
  for (std::size_t b = 0; b < plain.size(); ++b) {
    if (!scaled[b]) out += plain[b];
  }
  return out;
}

}  // namespace kvfit::carve
