#include "carve/carve_plan.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "carve/digest.h"
#include "carve/expert_reader.h"
#include "carve/request_json.h"
#include "carve/transport.h"
#include "profiles/error.h"
#include "profiles/text.h"

namespace kvfit::carve {
namespace {

using profiles::format;
using profiles::Json;

struct Counts {
  std::int64_t copied = 0, renamed = 0, sliced = 0, remapped = 0, dropped = 0;
};

Counts count_tensors(const CarvePlan& plan) {
  Counts out;
  const Kept& kept = plan.record.kept;
  for (const std::vector<TensorPlace>& places : plan.checkpoint.layout.places) {
    for (const TensorPlace& place : places) {
      if (place.part == Part::whole) ++out.copied;
      if (place.part == Part::table) ++out.remapped;
      if (place.part == Part::dropped) ++out.dropped;
      if (place.part == Part::rows || place.part == Part::columns) ++out.sliced;
      if (place.part != Part::expert) continue;
      const std::vector<std::int32_t>& block = kept[static_cast<std::size_t>(place.block)];
      const auto at = std::lower_bound(block.begin(), block.end(), place.expert);
      if (at == block.end() || *at != place.expert) {
        ++out.dropped;
      } else {
        ++(at - block.begin() == place.expert ? out.copied : out.renamed);
      }
    }
  }
  return out;
}

Json source_json(const Source& source) {
  Json files = Json::array();
  for (const Shard& shard : source.shards) {
    files.push_back({{"name", shard.name}, {"bytes", shard.identity.bytes}, {"header_sha256", shard.header_sha256}});
  }
  Json out;
  out["name"] = std::filesystem::weakly_canonical(source.files.directory).filename().string();
  if (!source.files.revision.empty()) out["revision"] = source.files.revision;
  out["config_sha256"] = sha256_hex(source.config);
  out["files"] = std::move(files);
  return out;
}

Json edits_json(const Rewriting& rewriting, Json& lists) {
  Json out = Json::array();
  for (const ValueEdit& edit : rewriting.config_edits) {
    out.push_back({{"file", edit.file}, {"pointer", edit.pointer}, {"from", edit.from}, {"to", edit.to}});
  }
  lists = Json::array();
  for (const ListEdit& edit : rewriting.list_edits) {
    Json one{{"file", edit.file}, {"pointer", edit.pointer}, {"from", edit.from}};
    if (!edit.to.empty()) one["to"] = edit.to;
    lists.push_back(std::move(one));
  }
  return out;
}

// How the choice was made, in the words a second implementation needs.
Json score_json(const CarvePlan& plan) {
  const Request& request = plan.request;
  const auto basis_of = [&plan](bool draft) {
    for (const Json& block : plan.record.blocks) {
      if (block["draft"].get<bool>() == draft) return block["basis"].get<std::string>();
    }
    return std::string();
  };
  std::set<std::string> projections;
  for_each_expert_tensor(plan.checkpoint.source, plan.checkpoint.layout, [&projections](const ExpertTensor& tensor) {
    if (tensor.block == 0 && tensor.content == Content::weight) projections.emplace(tensor.projection);
  });
  const bool file = !request.score_file.empty() && !request.second;
  Json out{{"id", file ? score_name(ScoreKind::file) : score_name(request.score)}};
  if (request.second) out["rank_sum_with"] = score_name(*request.second);
  if (request.score == ScoreKind::random) out["seed"] = request.seed;
  out["basis"] = basis_of(false);
  if (const std::string draft = basis_of(true); !draft.empty()) out["mtp"] = draft;
  out["projections"] = projections;
  out["pool"] = "elements";
  return out;
}

// Blocks as the record has them, with what follows from the kept sets.
Json manifest_blocks(const CarvePlan& plan) {
  Json out = Json::array();
  for (std::size_t b = 0; b < plan.record.blocks.size(); ++b) {
    const Block& block = plan.checkpoint.layout.blocks[b];
    Json one = plan.record.blocks[b];
    one["router"] = std::string(tensor_of(plan.checkpoint.source, block.router).name);
    one["dropped"] = Json::array();
    for (std::int32_t e = 0; e < block.experts; ++e) {
      if (!std::binary_search(plan.record.kept[b].begin(), plan.record.kept[b].end(), e)) one["dropped"].push_back(e);
    }
    out.push_back(std::move(one));
  }
  return out;
}

Json hashes_json(const Survivors& survivors, const OutputFile& file, const std::vector<TensorHash>& hashes) {
  Json::object_t out;
  // As the vector that it is: looking for each key first would take the square of their number.
  Json::object_t::Container& entries = out;
  entries.reserve(hashes.size());
  for_each_output_tensor(survivors, file.spans, [&entries, &hashes](std::string name) {
    const std::string hash = hashes[entries.size()].hex();
    entries.emplace_back(std::move(name), hash);
  });
  return out;
}

}  // namespace

std::int64_t CarvePlan::bytes_in() const {
  std::int64_t out = 0;
  for (const Shard& shard : checkpoint.source.shards) out += shard.identity.bytes;
  return out;
}

std::int64_t CarvePlan::bytes_out() const {
  std::int64_t out = 0;
  for (const OutputFile& file : outputs) out += file.bytes;
  return out;
}

std::int64_t CarvePlan::tensor_bytes() const {
  std::int64_t out = 0;
  for (const OutputFile& file : outputs) out += file.bytes - file.head_bytes;
  return out;
}

std::int64_t CarvePlan::elements() const {
  std::int64_t out = 0;
  for (const OutputFile& file : outputs) out += file.elements;
  return out;
}

std::vector<TextFile> CarvePlan::texts() const {
  std::vector<TextFile> out = rewriting.files;
  // Without one a loader takes model.safetensors as the whole.
  const bool indexed = request.reshard > 0 ? outputs.size() > 1 : checkpoint.source.indexed;
  if (indexed) out.push_back({"model.safetensors.index.json", index()});
  return out;
}

std::string CarvePlan::index() const {
  std::string metadata = format("\"total_size\": {}", tensor_bytes());
  if (checkpoint.source.counts_parameters) metadata = format("\"total_parameters\": {},\n    {}", elements(), metadata);
  return index_text(survivors(), outputs, metadata);
}

Survivors CarvePlan::survivors() const { return {checkpoint.source, checkpoint.layout, record.kept}; }

OutputShard CarvePlan::shard(const OutputFile& file) const { return plan_shard(survivors(), file.spans, request.padding); }

CarvePlan plan_carve(Request request, Checkpoint checkpoint, Record record) {
  CarvePlan out;
  out.request = std::move(request);
  out.checkpoint = std::move(checkpoint);
  out.record = std::move(record);
  const Source& source = out.checkpoint.source;
  out.rewriting = rewrite_texts(out.checkpoint, out.request, out.record.kept);
  out.tables = expert_tables(source, out.checkpoint.layout, out.record.kept);
  const std::int64_t most = out.request.reshard;
  out.outputs = most > 0 ? outputs_of_size(out.survivors(), most) : outputs_as_source(out.survivors());
  for (OutputFile& file : out.outputs) {
    const OutputShard shard = out.shard(file);
    file.bytes = shard.bytes;
    file.head_bytes = static_cast<std::int64_t>(shard.head.size());
    file.tensors = static_cast<std::int64_t>(shard.ends.size());
    file.elements = shard.elements;
    file.shareable_bytes = shard.bytes - bytes_to_write(shard, true);
  }
  const auto larger = std::count_if(out.outputs.begin(), out.outputs.end(),
                                    [most](const OutputFile& file) { return most > 0 && file.bytes > most; });
  out.sides = side_files(source, out.rewriting);
  out.findings = out.checkpoint.findings;
  out.findings.insert(out.findings.end(), out.rewriting.findings.begin(), out.rewriting.findings.end());
  if (larger > 0) {
    out.findings.push_back(format("{} files are larger than {} bytes: one tensor each", larger, profiles::grouped(most)));
  }
  for (const Json& block : out.record.blocks) {
    if (block["near_tie"].get<bool>()) {
      out.findings.push_back(
          format("'{}': the cut falls between experts of nearly the same score", block["prefix"].get<std::string>()));
    }
  }
  return out;
}

CarvePlan plan_carve(Request request, std::string_view version, const std::function<void(std::int64_t)>& score_progress) {
  Checkpoint checkpoint = open_checkpoint(request);
  const Selection selection = choose_experts(checkpoint, request, score_progress);
  Record record = make_record(checkpoint, selection, digest_of(checkpoint, request, version));
  CarvePlan out = plan_carve(std::move(request), std::move(checkpoint), std::move(record));
  out.score_bytes_read = selection.scores.bytes_read;
  out.plain_bytes_read = selection.scores.plain_bytes_read;
  out.findings.insert(out.findings.end(), selection.scores.findings.begin(), selection.scores.findings.end());
  return out;
}

std::int64_t largest_keep(const Checkpoint& checkpoint, std::int64_t bytes, std::int64_t step) {
  const std::int64_t experts = checkpoint.layout.experts;
  for (std::int64_t keep = experts; keep > 0; keep = (keep - 1) / step * step) {
    try {
      check_keep(checkpoint.routing, experts, keep, false);
    } catch (const profiles::Error&) {
      continue;
    }
    if (tensor_bytes_at(checkpoint.source, checkpoint.layout, keep) <= bytes) return keep;
  }
  return 0;
}

Json manifest(const CarvePlan& plan, std::string_view version, const std::vector<Digests>& digests,
              const std::string& timestamp) {
  const Counts counts = count_tensors(plan);
  Json out;
  out["format"] = "kvfit.carve_manifest/1";
  out["kvfit_version"] = version;
  if (!timestamp.empty()) out["created"] = timestamp;
  out["source"] = source_json(plan.checkpoint.source);
  out["model_type"] = plan.checkpoint.routing.model_type;
  out["keep"] = plan.request.keep;
  out["of"] = plan.checkpoint.layout.experts;
  out["request"] = to_json(plan.request);
  // The path of a file on one machine says nothing on another; its content does.
  if (!plan.request.score_file.empty()) out["request"]["score_file"] = sha256_of_file(plan.request.score_file);
  Json lists;
  out["config_edits"] = edits_json(plan.rewriting, lists);
  out["list_edits"] = std::move(lists);
  out["score"] = score_json(plan);
  out["blocks"] = manifest_blocks(plan);
  out["tensors"] = Json{{"in", plan.checkpoint.source.tensor_count()},
                        {"copied", counts.copied},
                        {"renamed", counts.renamed},
                        {"sliced", counts.sliced},
                        {"remapped", counts.remapped},
                        {"dropped", counts.dropped}};
  out["bytes"] = Json{{"in", plan.bytes_in()}, {"out", plan.bytes_out()}, {"saved", plan.bytes_in() - plan.bytes_out()}};
  out["outputs"] = Json::array();
  const Survivors survivors = plan.survivors();
  for (std::size_t i = 0; i < plan.outputs.size(); ++i) {
    const OutputFile& file = plan.outputs[i];
    const std::string head = plan.shard(file).head;
    Json one{{"name", file.name}, {"bytes", file.bytes}, {"header_sha256", sha256_hex(std::string_view(head).substr(8))}};
    if (!digests[i].sha256.empty()) one["sha256"] = digests[i].sha256;
    if (!digests[i].tensors.empty()) one["tensor_xxh3_128"] = hashes_json(survivors, file, digests[i].tensors);
    out["outputs"].push_back(std::move(one));
  }
  out["texts"] = Json::array();
  for (const TextFile& file : plan.texts()) out["texts"].push_back({{"name", file.name}, {"sha256", sha256_hex(file.text)}});
  out["warnings"] = plan.findings;
  return out;
}

}  // namespace kvfit::carve
