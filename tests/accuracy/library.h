// The facts a row is priced with, read once: cards, model catalogue, engine rules by version.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "models/model.h"
#include "planner/rules.h"
#include "profiles/catalog.h"
#include "tests/accuracy/machine.h"
#include "tests/accuracy/model_text.h"

namespace kvfit::accuracy {

class Library {
 public:
  /// Reads cards and the catalogue's names; throws profiles::Error when a profile cannot be read.
  explicit Library(const profiles::Catalog& catalog);
  /// The same with another engine profile.
  Library(const profiles::Catalog& catalog, profiles::Node engine);

  const Cards& cards() const { return cards_; }
  const std::vector<NamedEntry>& models() const { return entries_; }

  /// The catalogue's model, read on first use; throws profiles::Error when it cannot be.
  const models::Model& model(const std::string& id) const;
  /// vLLM's rules as of a release; the newest for "".
  std::shared_ptr<const planner::Rules> rules(const std::string& version) const;

 private:
  const profiles::Catalog* catalog_;
  Cards cards_;
  std::vector<NamedEntry> entries_;
  profiles::Node engine_;
  mutable std::map<std::string, models::Model> models_;
  mutable std::map<std::string, std::shared_ptr<const planner::Rules>> rules_;
};

}  // namespace kvfit::accuracy
