#include "runtime/boot_verdict.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "profiles/text.h"

namespace kvfit::runtime {
namespace {

using planner::Verdict;
using profiles::format;
using profiles::gib_text;

constexpr double kSlow = 0.5, kFarTooSlow = 0.25;  // of the profile's bandwidth
constexpr double kSpilledPiece = 0.4;              // of the mean: one piece lies elsewhere than the others
constexpr std::int64_t kReleaseSlack = 64 * profiles::kMiB;

double real(Bytes bytes) { return static_cast<double>(bytes.count); }

BootCheck total(const BootPlan& plan, const BootMeasurement& m) {
  BootCheck out{.id = "total", .text = "device total", .planned = real(plan.total), .measured = real(m.total)};
  const std::int64_t off = std::llabs(m.total.count - plan.total.count);
  if (off > plan.total.count / 100) {
    out.verdict = Verdict::tight;
    out.remark = "more than 1 % from the plan's: another GPU, another driver, or a slice; --save writes the plan anew";
  }
  return out;
}

BootCheck free_at_start(const BootPlan& plan, const BootMeasurement& m) {
  BootCheck out{.id = "free_at_start", .measured = real(m.free_at_start)};
  if (plan.utilization > 0) {
    out.text = format("free at start, {:.4g} of the total asked for", plan.utilization);
    out.planned = std::ceil(real(m.total) * plan.utilization);
    if (out.measured < out.planned) {
      out.verdict = Verdict::does_not_fit;
      out.remark = "the engine refuses to start: end what else uses the GPU, or lower the utilisation";
    }
    return out;
  }
  out.text = "free at start";
  out.planned = real(plan.free_at_start);
  return out;
}

BootCheck allocation(const BootPlan& plan, const BootMeasurement& m) {
  BootCheck out{.id = "allocation",
                .text = format("allocation of {} entries", plan.entries.size()),
                .planned = real(plan.sum()),
                .measured = real(m.held)};
  if (const MeasuredEntry* failed = failed_entry(m)) {
    out.verdict = Verdict::does_not_fit;
    if (failed->state == EntryState::capped) {
      out.remark = format("'{}' is beyond what the host can give (MemAvailable): filling it could take the machine down",
                          failed->entry.text);
    } else {
      out.remark = format("no memory for '{}': {} of its {} could be had", failed->entry.text, gib_text(failed->obtained),
                          gib_text(failed->entry.bytes));
      if (m.device.mps) out.remark += "; an MPS limit may hold (CUDA_MPS_PINNED_DEVICE_MEM_LIMIT)";
    }
  } else if (m.held < plan.sum()) {
    out.verdict = Verdict::tight;
    out.remark = format("only {} were tried: {} bounds the test", gib_text(m.held), m.cap_reason);
  }
  return out;
}

BootCheck contents(const BootMeasurement& m) {
  BootCheck out{.id = "contents", .text = "bytes that read back differently", .planned = 0};
  for (const MeasuredEntry& entry : m.entries) {
    if (entry.state != EntryState::damaged) continue;
    out.measured += static_cast<double>(entry.mismatches) * 8;
    if (!out.remark.empty()) continue;
    out.verdict = Verdict::does_not_fit;
    out.remark = format("first in '{}' at offset {}: the memory is faulty, or the allocation is not backed",
                        entry.entry.text, entry.first_bad.count);
  }
  return out;
}

BootCheck rate(const char* id, const char* text, double planned, double measured) {
  BootCheck out{.id = id,
                .text = text,
                .unit = BootCheck::Unit::bytes_per_second,
                .planned = planned,
                .measured = measured,
                .has_planned = planned > 0};
  if (planned > 0 && measured < planned * kFarTooSlow) {
    out.verdict = Verdict::does_not_fit;
    out.remark = "far below the GPU's bandwidth: memory has spilled to the host (WSL2 and Windows do this silently)";
  } else if (planned > 0 && measured < planned * kSlow) {
    out.verdict = Verdict::tight;
    out.remark = "below half of the GPU's bandwidth: power limit, another program, or a spill";
  }
  return out;
}

void rates(const BootPlan& plan, const BootMeasurement& m, std::vector<BootCheck>& out) {
  if (m.write_rate > 0) {
    BootCheck write = rate("write_rate", "bandwidth, writing", plan.bandwidth, m.write_rate);
    if (write.verdict == Verdict::fits && m.slowest_write > 0 && m.slowest_write < m.write_rate * kSpilledPiece) {
      write.verdict = Verdict::tight;
      write.remark =
          format("one piece ran at {:.0f} GB/s: part of the memory may have spilled to the host", m.slowest_write / 1e9);
    }
    out.push_back(std::move(write));
  }
  if (m.read_rate > 0) out.push_back(rate("read_rate", "bandwidth, reading", plan.bandwidth, m.read_rate));
}

BootCheck left_free(const BootPlan& plan, const BootMeasurement& m) {
  BootCheck out{.id = "left_free",
                .text = "free with everything allocated",
                .planned = real(plan.left_free),
                .measured = real(m.free_when_full)};
  if (m.held > m.free_at_start) {
    out.verdict = Verdict::does_not_fit;
    out.remark = "more was allocated than was free at start: the rest lies in host memory";
  }
  return out;
}

BootCheck release(const BootMeasurement& m) {
  BootCheck out{
      .id = "release", .text = "free after release", .planned = real(m.free_at_start), .measured = real(m.free_at_end)};
  if (m.free_at_start - m.free_at_end > Bytes(kReleaseSlack)) {
    out.verdict = Verdict::tight;
    out.remark = "less than before: another program took memory meanwhile";
  }
  return out;
}

}  // namespace

std::vector<BootCheck> judge_boot(const BootPlan& plan, const BootMeasurement& measured) {
  std::vector<BootCheck> out = {total(plan, measured), free_at_start(plan, measured), allocation(plan, measured),
                                contents(measured)};
  rates(plan, measured, out);
  if (!failed_entry(measured) && measured.held == plan.sum()) out.push_back(left_free(plan, measured));
  out.push_back(release(measured));
  return out;
}

std::vector<BootCheck> judge_stream(const StreamMeasurement& measured) {
  BootCheck stream{.id = "checkpoint",
                   .text = format("checkpoint, {} tensors", profiles::grouped(measured.tensors)),
                   .planned = real(measured.bytes),
                   .measured = real(measured.bytes)};
  if (measured.refused) {
    stream.planned += real(measured.refused->entry.bytes);
    stream.verdict = Verdict::does_not_fit;
    stream.remark = format("no memory for {}", measured.refused->entry.text);
  } else if (!measured.damaged_file.empty()) {
    stream.verdict = Verdict::does_not_fit;
    stream.remark = format("{} arrives differently from offset {} on (tensor {})", measured.damaged_file,
                           measured.damaged_at.count, measured.damaged_tensor);
  }
  BootCheck rate{.id = "stream_rate",
                 .text = measured.resident ? "disk to GPU, all of it at once" : "disk to GPU, a file at a time",
                 .unit = BootCheck::Unit::bytes_per_second,
                 .measured = measured.seconds > 0 ? real(measured.bytes) / measured.seconds : 0,
                 .has_planned = false};
  std::vector<BootCheck> out = {stream, rate};
  if (!measured.matrix) return out;
  const StreamedMatrix& matrix = *measured.matrix;
  BootCheck expert{.id = "expert",
                   .text = format("expert of {} x {}, GPU against CPU", matrix.rows, matrix.columns),
                   .unit = BootCheck::Unit::number,
                   .measured = matrix.largest_difference};
  const bool sound = matrix.not_numbers == 0 && matrix.largest_difference == 0 && matrix.rms > 0;
  if (!sound) {
    expert.verdict = Verdict::does_not_fit;
    expert.remark = format("{}: {} values that are no numbers, root mean square of its weights {:.3g}", matrix.tensor,
                           matrix.not_numbers, matrix.rms);
  }
  out.push_back(std::move(expert));
  return out;
}

Verdict boot_verdict(const std::vector<BootCheck>& checks) {
  Verdict worst = Verdict::fits;
  for (const BootCheck& check : checks) {
    if (check.verdict == Verdict::does_not_fit) return check.verdict;
    if (check.verdict == Verdict::tight) worst = check.verdict;
  }
  return worst;
}

const MeasuredEntry* failed_entry(const BootMeasurement& measured) {
  for (const MeasuredEntry& entry : measured.entries) {
    const bool host = entry.state == EntryState::capped && measured.cap_reason == "MemAvailable";
    if (entry.state == EntryState::refused || host) return &entry;
  }
  return nullptr;
}

Bytes usable(const BootMeasurement& measured) {
  const MeasuredEntry* failed = failed_entry(measured);
  if (failed == nullptr) return measured.free_at_start;
  if (failed->state == EntryState::capped) return std::min(measured.free_at_start, *measured.cap);
  return measured.held + failed->obtained;
}

}  // namespace kvfit::runtime
