#pragma once
// Members of an ensemble of classifiers, from the runs of model.ensemble.runs. Their weights are selected on
// the stored validation scores of those runs, without evaluating models again.

#include <functional>
#include <optional>
#include <vector>

#include "modewise/metrics/class_mixture.h"
#include "modewise/models/class_ensemble.h"
#include "modewise/tasks/classification/classification_run.h"

namespace modewise::tasks {

/// Opens the runs of an ensemble. Errors: usage for fewer than two runs; config if their number is not a
/// multiple of the splits, a run is an ensemble, or shared settings differ; those of RunFolder::open.
std::vector<OpenedRun> open_members(const ClassificationRun& ensemble);

/// Copies the settings shared with members to an ensemble: those of the samples and of their evaluation.
void share_settings(ClassificationRun& ensemble, ClassificationRun& member);

/// For a new ensemble, before samples are loaded: sets its members and shared settings, and train.epochs to
/// 0. Errors of open_members.
template <class Config, class Set, class Model>
void take_members(ClassificationRunOf<Config, Set, Model>& run) {
  models::EnsembleConfig& ensemble = run.config.model.ensemble;
  if (run.ensemble() == nullptr || !ensemble.members.empty()) return;
  const std::vector<OpenedRun> opened = open_members(run);
  share_settings(run, *opened.front().run);
  for (const OpenedRun& one : opened) {
    const auto& typed = dynamic_cast<const ClassificationRunOf<Config, Set, Model>&>(*one.run);
    models::ClassMember<decltype(run.config.model)> member{0, typed.config.model};
    if constexpr (requires { typed.model().shape().training_samples; })
      member.training_samples = typed.model().shape().training_samples;
    ensemble.members.push_back(member.to_toml());
  }
  run.config.train.epochs = 0;
}

/// Loads the members' parameters into the ensemble's model and selects the ensemble weights; a model on
/// several splits is the mean of its trainings. Calls `each` for each member. Nothing for other models. Data
/// errors for runs with other classes, sizes or samples than the ensemble.
std::optional<metrics::ClassMixture> join_members(
    const ClassificationRun& run,
    const std::function<void(int64_t number, const ClassificationRun& member)>& each = nullptr);

/// [{"run": folder, "weight": …}, …] of the members with a weight.
nlohmann::ordered_json members_json(const ClassificationRun& ensemble);

}  // namespace modewise::tasks
