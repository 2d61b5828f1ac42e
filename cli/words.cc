#include "cli/words.h"

#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "models/model.h"
#include "profiles/text.h"
#include "profiles/units.h"

namespace kvfit::cli {

using planner::Section;
using planner::Verdict;
using profiles::Bytes;
using profiles::format;
using profiles::grouped;

std::string_view verdict_word(Verdict verdict) {
  switch (verdict) {
    case Verdict::fits:
      return "OK";
    case Verdict::tight:
      return "TIGHT";
    case Verdict::does_not_fit:
      return "NO";
    case Verdict::refused:
      return "REFUSED";
    case Verdict::unknown:
      return "UNKNOWN";
  }
  return "UNKNOWN";
}

Tone verdict_tone(Verdict verdict) {
  switch (verdict) {
    case Verdict::fits:
      return Tone::good;
    case Verdict::tight:
    case Verdict::unknown:
      return Tone::warn;
    case Verdict::does_not_fit:
    case Verdict::refused:
      return Tone::bad;
  }
  return Tone::warn;
}

std::string_view section_word(Section section) {
  switch (section) {
    case Section::before_engine:
      return "before start";
    case Section::weights:
      return "weights";
    case Section::profile:
      return "profile run";
    case Section::kv_cache:
      return "KV cache";
    case Section::outside:
      return "afterwards";
    case Section::free:
      return "free";
  }
  return "free";
}

std::string_view section_name(Section section) {
  switch (section) {
    case Section::before_engine:
      return "before_engine";
    case Section::weights:
      return "weights";
    case Section::profile:
      return "profile";
    case Section::kv_cache:
      return "kv_cache";
    case Section::outside:
      return "outside";
    case Section::free:
      return "free";
  }
  return "free";
}

std::string gib(Bytes bytes) {
  const std::string text = format("{:.2f}", profiles::to_gib(bytes));
  return text == "-0.00" ? "0.00" : text;
}

std::string signed_gib(Bytes bytes) { return (bytes.count < 0 ? "" : "+") + format("{:.2f}", profiles::to_gib(bytes)); }

std::string with_bar(Bytes margin, Bytes error) {
  return error.count > 0 ? format("{} ±{}", signed_gib(margin), gib(error)) : signed_gib(margin);
}

std::string count_or_dash(std::int64_t n) { return n > 0 ? grouped(n) : "-"; }

std::string machine_name(const Report& report) {
  const hardware::Node& node = report.question.node;
  return node.count > 1 ? format("{} x {}", node.count, node.gpu.name) : node.gpu.name;
}

std::string model_name(const Report& report) {
  const models::Model& model = report.question.model;
  const std::int64_t experts = models::expert_count(model);
  const std::string& name = model.repository.empty() ? model.id : model.repository;
  if (experts == 0 || report.plan.experts == 0) return name;
  if (report.plan.experts == experts) return format("{} with all {} experts", name, experts);
  return format("{} with {} of {} experts", name, report.plan.experts, experts);
}

const planner::Rung* planned_rung(const planner::Plan& plan) {
  for (const planner::Rung& rung : plan.ladder) {
    if (rung.experts == plan.experts && rung.max_model_len == plan.settings.max_model_len &&
        rung.max_num_seqs == plan.settings.max_num_seqs) {
      return &rung;
    }
  }
  return nullptr;
}

namespace {

const planner::Check* binding_of(const planner::Plan& plan) {
  for (const planner::Check& check : plan.checks) {
    if (check.id == plan.binding) return &check;
  }
  return nullptr;
}

std::string served(const planner::Settings& settings) {
  return format("{} tokens, {} sequence{}", grouped(settings.max_model_len), grouped(settings.max_num_seqs),
                settings.max_num_seqs == 1 ? "" : "s");
}

// "0.41 ±0.30 GiB"
std::string amount(Bytes bytes, Bytes error) {
  return format("{}{} GiB", gib(bytes), error.count > 0 ? format(" ±{}", gib(error)) : "");
}

// "kv_one_request has 0.41 ±0.30 GiB to spare" / "lacks 0.23 GiB" / "has 12 of 16".
std::string margin_text(const planner::Check& check) {
  if (!check.remedy.empty()) return check.text;
  if (check.need_count && check.have_count) {
    return format("{} needs {}, has {}", check.id, grouped(*check.need_count), grouped(*check.have_count));
  }
  const Bytes margin = check.margin();
  if (margin.count < 0) return format("{} lacks {}", check.id, amount(-margin, check.error));
  return format("{} has {} to spare", check.id, amount(margin, check.error));
}

// The engine stops at one check; what is missing altogether may be named by a later one.
std::string largest_shortfall(const planner::Plan& plan, const planner::Check& binding) {
  const planner::Check* most = &binding;
  for (const planner::Check& check : plan.checks) {
    if (!check.need_count && check.margin() < most->margin()) most = &check;
  }
  return most == &binding || binding.need_count ? "" : format(", {} {}", most->id, amount(-most->margin(), most->error));
}

// A no that a lower utilisation turns into a yes.
std::string lower_utilisation(const planner::Plan& plan) {
  const std::optional<double>& safe = plan.highest_safe_utilization;
  if (!safe || *safe >= plan.settings.gpu_memory_utilization) return "";
  return format("; with --util {:.3f} it fits", *safe);
}

// "with 224 of 256 experts (all 256 lack 0.53 ±0.69 GiB), ": a yes to less than was asked says so.
std::string given_up(const planner::Plan& plan) {
  const planner::Rung* whole = nullptr;
  for (const planner::Rung& rung : plan.ladder) {
    if (whole == nullptr || rung.experts > whole->experts) whole = &rung;
  }
  if (whole == nullptr || whole->experts <= plan.experts) return "";
  const std::string lack = whole->margin.count < 0 ? "lack " + amount(-whole->margin, whole->error) : "are tight";
  return format("with {} of {} experts (all {} {}): ", plan.experts, whole->experts, whole->experts, lack);
}

std::string refusal(const planner::Plan& plan) {
  for (const hardware::Gate& gate : plan.gates) {
    if (gate.verdict == hardware::GateVerdict::refused) return gate.reason;
  }
  return "this hardware must not run this format";
}

}  // namespace

planner::Verdict answer_of(const Report& report) {
  const std::vector<planner::Finding>& findings = report.plan.findings;
  const bool broken =
      std::any_of(findings.begin(), findings.end(), [](const planner::Finding& one) { return one.id == "KVF030"; });
  return broken ? Verdict::does_not_fit : report.plan.verdict;
}

std::string headline(const Report& report) {
  const planner::Plan& plan = report.plan;
  const planner::Check* binding = binding_of(plan);
  const std::string decides = binding != nullptr ? "; " + margin_text(*binding) : "";
  const std::string given = given_up(plan);
  if (answer_of(report) != plan.verdict) {
    return format("less headroom than --margin asks for: {}{}{}", given, served(plan.settings), decides);
  }
  switch (plan.verdict) {
    case Verdict::fits:
      return format("fits{}{}{}", given.empty() ? ": " : " " + given, served(plan.settings), decides);
    case Verdict::tight:
      return format("fits by the estimate, though its error bar reaches past the limit{}{}{}",
                    given.empty() ? ": " : ", " + given, served(plan.settings), decides);
    case Verdict::does_not_fit:
      return format("does not fit{}: {}{}{}",
                    binding == nullptr || binding->certain ? "" : " by the estimate, though its error bar reaches a fit",
                    served(plan.settings), decides,
                    (binding == nullptr ? "" : largest_shortfall(plan, *binding)) + lower_utilisation(plan));
    case Verdict::refused:
      return refusal(plan);
    case Verdict::unknown:
      return "no answer: kvfit lacks a fact it needs, see the findings";
  }
  return "";
}

const planner::Ledger* fullest(const planner::Plan& plan) {
  const planner::Ledger* out = nullptr;
  for (const planner::Ledger& ledger : plan.ledgers) {
    if (out == nullptr || left_free(ledger) < left_free(*out)) out = &ledger;
  }
  return out;
}

Bytes left_free(const planner::Ledger& ledger) { return ledger.sum(Section::free); }

std::string figure_text(const Published& published) {
  const auto shown = [](double value) {
    const bool whole = value == std::floor(value) && std::fabs(value) < 1e15;
    return whole ? grouped(static_cast<std::int64_t>(value)) : format("{}", value);
  };
  if (published.low == published.high) return format("{} {}", shown(published.low), published.unit);
  return format("{} to {} {}", shown(published.low), shown(published.high), published.unit);
}

}  // namespace kvfit::cli
