// The rules of `kvfit check`: one small function each, from a deployment and its answer to findings at their places.
#pragma once

#include <string>
#include <vector>

#include "cli/check_case.h"
#include "profiles/catalog.h"
#include "runtime/flag_table.h"

namespace kvfit::cli {

/// What every rule may look at; `report` is there.
struct RuleInput {
  const CheckCase& one;
  const Report& report;
  const runtime::Deployment& deployment;
  const runtime::FlagTable& flags;
  std::string missing_draft;  ///< BuiltQuestion's
  profiles::Bytes margin;     ///< --margin
};

/// Adds finding `id` with its level from the catalogue (or another) at a place, and returns it.
Placed& add_finding(std::vector<Placed>& out, std::string_view id, std::string text, std::string hint,
                    profiles::Where where);
Placed& add_finding(std::vector<Placed>& out, std::string_view id, planner::Finding::Level level, std::string text,
                    std::string hint, profiles::Where where);

/// All findings of one deployment that was answered, worst first.
std::vector<Placed> check_findings(const RuleInput& input);

/// What the readers noticed (runtime::Remark), whether or not there is an answer.
void remark_findings(const runtime::Deployment& deployment, std::vector<Placed>& out);

// The rules, by what they look at.
void verdict_rules(const RuleInput& input, std::vector<Placed>& out);     ///< KVF001-005, 014, 030
void memory_rules(const RuleInput& input, std::vector<Placed>& out);      ///< KVF006-008, 010, 011
void model_rules(const RuleInput& input, std::vector<Placed>& out);       ///< KVF009, 012, 013, 025
void deployment_rules(const RuleInput& input, std::vector<Placed>& out);  ///< KVF019, 023, 024, 026

}  // namespace kvfit::cli
