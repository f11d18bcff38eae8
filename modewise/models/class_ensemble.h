#pragma once
// Ensemble of classifiers: log of a weighted mean of the members' class probabilities. The weights are chosen
// on the validation split during training (metrics/class_mixture.h).

#include <fmt/format.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "modewise/core/error.h"
#include "modewise/core/fields.h"
#include "modewise/models/classifier.h"
#include "modewise/models/ensemble_config.h"
#include "modewise/models/model_choice.h"
#include "modewise/models/saved_config.h"
#include "modewise/nn/initializer.h"
#include "modewise/nn/layers/cost.h"

namespace modewise::models {

/// A member as stored in EnsembleConfig::members: its model config, and its number of training samples (the
/// buffer size of models that store them).
template <class Config>
struct ClassMember {
  int64_t training_samples = 0;
  Config model;

  void fields(Fields& f) {
    f.add("training_samples", training_samples, "number of training samples of the member", {.min = 0});
    f.group("model", model);
  }
  std::string to_toml() const {
    ClassMember copy = *this;
    return fields_of(copy).to_toml();
  }
  /// Config errors name `source`.
  static ClassMember from_toml(const std::string& text, const std::string& source) {
    ClassMember member;
    Fields fields = fields_of(member);
    load_saved_toml(fields, text, source);
    return member;
  }
  /// The shape of this member within an ensemble of `shape`.
  template <class Shape>
  Shape shape_in(Shape shape) const {
    if constexpr (requires { shape.training_samples; }) shape.training_samples = training_samples;
    return shape;
  }
};

/// Throws a config error, starting with `source`, for an ensemble without members or with an invalid one.
template <class Config, class Shape>
void check_members(const Config& config, const Shape& shape, const std::string& source) {
  const EnsembleConfig& ensemble = config.ensemble;
  require(!ensemble.members.empty(), ErrorKind::config, "{}: ensemble.members is empty", source);
  for (size_t i = 0; i < ensemble.members.size(); ++i) {
    const std::string place = fmt::format("{}: ensemble.members, member {}", source, i + 1);
    const auto member = ClassMember<Config>::from_toml(ensemble.members[i], place);
    require(member.model.name != "ensemble", ErrorKind::config, "{}: an ensemble cannot contain an ensemble",
            place);
    validate(member.model, member.shape_in(shape), place);
  }
}

/// Sum of the costs of the members, by kCost(config, shape); they are frozen, so no activations are kept.
template <auto kCost, class Config, class Shape>
nn::ModelCost members_cost(const Config& config, const Shape& shape) {
  nn::ModelCost out;
  for (const std::string& text : config.ensemble.members) {
    const auto member = ClassMember<Config>::from_toml(text, "model.ensemble.members");
    add_parts(out, kCost(member.model, member.shape_in(shape)));
  }
  return out;
}

/// Members of an ensemble and their weights, for any kind of sample.
class ClassMembers {
 public:
  virtual ~ClassMembers() = default;

  int64_t members() const { return std::ssize(members_); }
  Classifier& member(int64_t i) const { return *members_.at(static_cast<size_t>(i)); }
  /// Member weights [M], summing to 1; initially equal.
  std::vector<double> weights() const;
  void set_weights(const std::vector<double>& weights);

 protected:
  /// Registers the frozen members as member0, member1, … of `ensemble`, and their weights.
  void keep(torch::nn::Module& ensemble, std::vector<std::shared_ptr<Classifier>> members);
  /// ln Σ_m w_m softmax(logits_of(m)), [B, K] float64. Skips members of weight 0.
  at::Tensor mixed(const std::function<at::Tensor(int64_t member)>& logits_of) const;

 private:
  std::vector<std::shared_ptr<Classifier>> members_;
  at::Tensor weights_;  // [M] float64
};

/// Ensemble of one model family, with its registry, config, shape and classifier base class.
template <class Config, class Shape, class Family>
class ClassEnsemble : public Family, public ClassMembers {
 public:
  ClassEnsemble(const std::vector<ModelRow<Config, Shape, Family>>& rows, const Config& config,
                const Shape& shape, nn::Initializer& init)
      : Family(shape) {
    std::vector<std::shared_ptr<Classifier>> members;
    for (const std::string& text : config.ensemble.members) {
      const auto member = ClassMember<Config>::from_toml(text, "model.ensemble.members");
      members.push_back(row_of(rows, member.model.name).make(member.model, member.shape_in(shape), init));
    }
    keep(*this, std::move(members));
  }

  at::Tensor forward(const ClassifierInput& input) override {
    return mixed([&](int64_t i) { return member(i).forward(input_of(i, input)); });
  }

 protected:
  /// The member's view of the ensemble's input.
  virtual ClassifierInput input_of(int64_t /*member*/, const ClassifierInput& input) const { return input; }
};

}  // namespace modewise::models
