#include "tests/accuracy/library.h"

#include "models/catalogue.h"
#include "profiles/error.h"

namespace kvfit::accuracy {

Library::Library(const profiles::Catalog& catalog) : Library(catalog, catalog.load(catalog.resolve("engines", "vllm"))) {}

Library::Library(const profiles::Catalog& catalog, profiles::Node engine)
    : catalog_(&catalog), cards_(read_cards(catalog)), engine_(std::move(engine)) {
  for (const profiles::ProfileFile& file : catalog.list("models")) {
    NamedEntry entry{file.id, file.names};
    entry.names.push_back(file.id);
    entries_.push_back(std::move(entry));
  }
}

const models::Model& Library::model(const std::string& id) const {
  const std::map<std::string, models::Model>::const_iterator found = models_.find(id);
  if (found != models_.end()) return found->second;
  const profiles::ProfileFile* file = catalog_->find("models", id);
  if (file == nullptr) profiles::fail_input("no such model profile: " + id);
  return models_.emplace(id, models::read_model(catalog_->load(*file), id, file->origin).model).first->second;
}

std::shared_ptr<const planner::Rules> Library::rules(const std::string& version) const {
  std::shared_ptr<const planner::Rules>& rules = rules_[version];
  if (!rules) rules = std::make_shared<const planner::Rules>(engine_, planner::parse_version(version));
  return rules;
}

}  // namespace kvfit::accuracy
