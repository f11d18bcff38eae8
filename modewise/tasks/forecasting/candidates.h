#pragma once
// What --model auto tries on a table.

#include <string>
#include <vector>

#include "modewise/tasks/task_spec.h"

namespace modewise::tasks {

/// Naive, statistical and linear forecasters, fitted; then HOT and its rivals in a few settings each: with
/// the periodic profile of a season and of seven where the time axis tells one, around the window's mean or
/// its last value. Where the config leaves the lookback open and the rows are many, some look back on 336 and
/// 720 rows.
std::vector<Candidate> forecast_candidates(const std::string& file,
                                           const std::vector<std::string>& assignments);

/// Earlier origins to judge a candidate at, where the validation part has few windows: the same shares of
/// validation rows before it, with less to train on.
std::vector<std::string> forecast_splits(const std::string& file,
                                         const std::vector<std::string>& assignments);

/// As many rows to validate on as there are, the last ones of the table; all before them train.
std::vector<std::string> forecast_refit(const std::string& file, const std::vector<std::string>& assignments);

}  // namespace modewise::tasks
