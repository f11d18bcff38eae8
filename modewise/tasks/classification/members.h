#pragma once
// The members of an ensemble of classifiers, from the runs that model.ensemble.runs names. Their weights are
// chosen by the validation scores that those runs kept, so that no model is asked again.

#include <functional>
#include <optional>
#include <vector>

#include "modewise/metrics/class_mixture.h"
#include "modewise/models/class_ensemble.h"
#include "modewise/tasks/classification/classification_run.h"

namespace modewise::tasks {

/// Opens the runs of an ensemble. Errors: usage where fewer than two are named; config where their number is
/// no multiple of the splits, one is an ensemble itself, or settings differ that members share; those of
/// RunFolder::open.
std::vector<OpenedRun> open_members(const ClassificationRun& ensemble);

/// Gives an ensemble the settings that it shares with its members: which samples it has, and how they are
/// judged.
void share_settings(ClassificationRun& ensemble, ClassificationRun& member);

/// Before the samples are loaded: of an ensemble that has runs and no members yet these are set, with what it
/// shares with them, and no training. Errors of open_members.
template <class Config, class Set, class Model>
void take_members(ClassificationRunOf<Config, Set, Model>& run) {
  models::EnsembleConfig& ensemble = run.config.model.ensemble;
  if (run.ensemble() == nullptr || !ensemble.members.empty()) return;
  const std::vector<OpenedRun> opened = open_members(run);
  share_settings(run, *opened.front().run);
  for (const OpenedRun& one : opened) {
    const auto& typed = dynamic_cast<const ClassificationRunOf<Config, Set, Model>&>(*one.run);
    models::ClassMember<decltype(run.config.model)> member{0, typed.config.model};
    if constexpr (requires { typed.model().shape().training_cases; })
      member.training_samples = typed.model().shape().training_cases;
    ensemble.members.push_back(member.to_toml());
  }
  run.config.train.epochs = 0;
}

/// Gives the model of an ensemble, which is made, its members' weights and theirs in it; a model on several
/// splits is the mean of its trainings. `each` is called for each member. Nothing for other models. Data
/// errors for runs of other classes, sizes or samples than the ensemble's own.
std::optional<metrics::ClassMixture> join_members(
    const ClassificationRun& run,
    const std::function<void(int64_t number, const ClassificationRun& member)>& each = nullptr);

/// [{"run": folder, "weight": …}, …] of the members that have a weight.
nlohmann::ordered_json members_json(const ClassificationRun& ensemble);

}  // namespace modewise::tasks
