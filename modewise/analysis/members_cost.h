#pragma once
// Cost of an ensemble of classifiers: the sum of its members, which are frozen, so no activations are kept.

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
