#include "cli/plan_defaults.h"

#include "profiles/document.h"

namespace kvfit::cli {

PlanDefaults plan_defaults(const profiles::Catalog& catalog) {
  const profiles::Node profile = catalog.load(catalog.resolve("defaults", "plan"));
  profiles::Fields fields(profile);
  PlanDefaults out;
  out.engine = fields.at("engine").string();
  out.engine_version = fields.at("engine_version").string();
  out.gpu_memory_utilization = fields.at("gpu_memory_utilization").number();
  out.model = fields.at("model").string();
  profiles::Fields with_model(fields.at("with_default_model"));
  out.kv_cache_dtype = with_model.at("kv_cache_dtype").string();
  out.max_num_seqs = with_model.at("max_num_seqs").integer(1, 1'000'000);
  out.vision = with_model.at("vision").boolean();
  with_model.finish();
  fields.ignore("source");
  fields.ignore("as_of");
  fields.finish();
  return out;
}

}  // namespace kvfit::cli
