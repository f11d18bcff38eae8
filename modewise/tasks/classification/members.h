#pragma once
// Members of an ensemble of classifiers, from the runs of model.ensemble.runs. Their weights are selected on
// the stored validation scores of those runs, without evaluating models again.

#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "modewise/metrics/class_mixture.h"

namespace modewise::tasks {

class ClassificationRun;

/// The models of a new ensemble's members as TOML. Copies the settings that an ensemble shares with its
/// members, those of the samples and of their evaluation, to `ensemble`. Errors: usage for fewer than two
/// runs; config if their number is not a multiple of the splits, a run is an ensemble, or shared settings
/// differ; those of open_run.
std::vector<std::string> read_members(ClassificationRun& ensemble);

/// Loads the members' parameters into the ensemble's model and selects the ensemble weights; a model on
/// several splits is the mean of its trainings. Calls `each` for each member. Errors: of read_members; data
/// for runs with other classes, sizes or samples than the ensemble.
metrics::ClassMixture join_members(
    ClassificationRun& ensemble,
    const std::function<void(int64_t number, ClassificationRun& member)>& each = nullptr);

/// [{"run": folder, "weight": …}, …] of the members with a weight.
nlohmann::ordered_json members_json(const ClassificationRun& ensemble);

}  // namespace modewise::tasks
