#include "runtime/replan.h"

#include <algorithm>
#include <cmath>

namespace kvfit::runtime {
namespace {

using hardware::ByteRange;
using hardware::Fact;
using profiles::Bytes;

Fact<ByteRange> exactly(Bytes bytes, const std::string& source) {
  return {.value = {bytes, bytes, bytes}, .sourced = true, .derived = false, .source = source};
}

constexpr double kStep = 0.01;  // of the utilisation

}  // namespace

planner::Question with_measured(planner::Question question, Bytes total, Bytes usable, const std::string& source) {
  hardware::Node& node = question.node;
  const Bytes taken = std::max(Bytes(0), total - usable);
  node.measured_from = source;
  node.used_elsewhere = Bytes(0);
  if (node.system == hardware::System::wsl2) {
    node.gpu.cuda_total_wsl2 = exactly(total, source);
    node.gpu.wsl2_hidden = exactly(taken, source);
    return question;
  }
  // The two were measured together; the profile's context is kept as the likely part of it.
  const Bytes context = node.gpu.unified ? Bytes(0) : std::min(taken, node.gpu.context.value.likely);
  node.gpu.cuda_total_linux = exactly(total, source);
  node.gpu.context = exactly(context, source);
  node.gpu.idle = exactly(taken - context, source);
  return question;
}

planner::Question largest_question(planner::Question question, const planner::Plan& planned) {
  planner::Search& search = question.search;
  search.context = search.sequences = true;
  search.experts = planned.experts > 0;
  if (!question.serving.gpu_memory_utilization) return question;
  const hardware::ByteRange total = hardware::total_memory(question.node), free = hardware::free_at_start(question.node);
  const double most = static_cast<double>(free.likely.count) / static_cast<double>(total.likely.count);
  double& utilization = *question.serving.gpu_memory_utilization;
  if (utilization > most) utilization = std::max(kStep, std::floor(most / kStep) * kStep);
  return question;
}

}  // namespace kvfit::runtime
