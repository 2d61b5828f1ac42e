#include "cli/published.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "profiles/document.h"

namespace kvfit::cli {
namespace {

using profiles::Fields;
using profiles::Node;

Published read_figure(const Node& node, const std::string& source, const std::string& as_of) {
  Fields fields(node);
  Published out;
  out.experts = fields.integer("experts", 0);
  out.metric = fields.at("metric").string();
  out.low = fields.at("low").number();
  out.high = fields.at("high").number();
  out.unit = fields.at("unit").string();
  out.conditions = fields.string("conditions", "");
  out.source = source;
  out.as_of = as_of;
  fields.finish();
  if (out.high < out.low) node.fail("low is above high");
  return out;
}

}  // namespace

std::vector<Published> find_published(const profiles::Catalog& catalog, const std::string& model, const std::string& gpu,
                                      int count, std::vector<Input>& inputs) {
  std::vector<Published> out;
  for (const profiles::ProfileFile& file : catalog.list("published")) {
    const Node profile = catalog.load(file);
    Fields fields(profile);
    const bool same_model = fields.at("model").string() == model;
    const bool same_gpu = fields.at("gpu").string() == gpu;
    const bool same_count = fields.integer("gpus", 1) == count;
    const std::string source = fields.at("source").string();
    const std::string as_of = fields.at("as_of").string();
    const Node& figures = fields.at("figures");
    fields.finish();
    if (!same_model || !same_gpu || !same_count) continue;
    for (const Node& figure : figures.list()) out.push_back(read_figure(figure, source, as_of));
    inputs.push_back({"published", file.id, file.origin});
  }
  return out;
}

}  // namespace kvfit::cli
