#pragma once
// Candidates of --model auto for panels.

#include <vector>

#include "modewise/tasks/forecasting/config.h"
#include "modewise/tasks/run/task_spec.h"

namespace modewise::tasks {

/// Naive and local models of each series and a pooled ridge regression, fitted; then global models of small
/// sizes. For an open lookback some read fewer or more rows. All have the same horizon.
std::vector<Candidate> panel_candidates(const ForecastConfig& config);

/// Whether a validation window has a MASE to rank candidates by.
bool panel_has_mase(const ForecastConfig& config);

}  // namespace modewise::tasks
