#pragma once
// What an ensemble of classifiers costs: the parts of all members; nothing is kept for a backward pass.

#include "modewise/analysis/cost.h"
#include "modewise/models/class_ensemble.h"

namespace modewise::analysis {

template <class Config, class Shape>
ModelCost members_cost(const Config& config, const Shape& shape,
                       ModelCost (*cost)(const Config& config, const Shape& shape)) {
  ModelCost out;
  for (const std::string& text : config.ensemble.members) {
    const auto member = models::ClassMember<Config>::from_toml(text, "model.ensemble.members");
    add_parts(out, cost(member.model, member.shape_in(shape)));
  }
  return out;
}

}  // namespace modewise::analysis
