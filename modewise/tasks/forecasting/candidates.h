#pragma once
// Candidates of --model auto for forecasting.

#include <string>
#include <vector>

#include "modewise/tasks/run/task_spec.h"

namespace modewise::tasks {

/// Whether the table is a panel or one tensor, with the metric of a panel: mean MASE of its validation
/// windows. Usage error without data.
SearchChoices forecast_choices(const Settings& settings);

/// Naive, statistical and linear forecasters, fitted; then HOT and other neural models in a few settings
/// each: with the periodic profile of one season and of seven if the time axis has one, around the window's
/// mean or its last value. For an open lookback and many rows, some have lookbacks of 336 and 720 rows.
std::vector<Candidate> forecast_candidates(const Settings& settings);

/// Earlier validation origins, for small validation splits: equally many validation rows before it, with
/// fewer training rows.
std::vector<std::string> forecast_splits(const Settings& settings);

/// The last rows of the table as validation split, equally many as before; all rows before them train.
std::vector<std::string> forecast_refit(const Settings& settings);

}  // namespace modewise::tasks
