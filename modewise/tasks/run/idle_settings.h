#pragma once
// Settings that have an effect only with some values of another setting, as the dates of a split need a split
// by dates.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "modewise/core/fields.h"

namespace modewise::tasks {

struct DependentSetting {
  std::string_view key;                  // a setting, or a group of them
  std::string_view needs;                // the other setting
  std::vector<std::string> values = {};  // those with which it has an effect; empty: all but the default
  std::string_view or_needs = {};        // it has an effect if this one is changed, too
};

/// A changed setting without effect: "has no effect without data.resample: set data.resample".
struct IdleSetting {
  std::string path, reason;
};

/// Whether this process trains a run of a sweep or search.
bool is_run_of_sweep();

/// The field of a path; nullptr if there is none.
const Field* find_field(const Fields& fields, std::string_view path);

/// Those of every training.
std::span<const DependentSetting> training_dependents();

/// Those of the models.
std::span<const DependentSetting> model_dependents();

/// Changed settings without effect. `usual`: the unchanged config. Rows with settings that the config does
/// not have are skipped.
std::vector<IdleSetting> idle_settings(const Fields& fields, const Fields& usual,
                                       std::span<const DependentSetting> rows);
/// Config error, starting with `source`, for one.
[[noreturn]] void refuse(const IdleSetting& setting, const std::string& source);
void refuse_idle(const Fields& fields, const Fields& usual, std::span<const DependentSetting> rows,
                 const std::string& source);

/// Config error for changed settings of gradient steps in the training of `model`, which takes none. A sweep
/// or search gives all models the same settings: in its trainings they pass.
void refuse_idle_training(const Fields& fields, const Fields& usual, const std::string& model);
/// Warns of them instead, and of changed settings in the groups `further`.
void warn_of_idle_training(const Fields& fields, const Fields& usual, const std::string& model,
                           std::span<const std::string_view> further);

}  // namespace modewise::tasks
