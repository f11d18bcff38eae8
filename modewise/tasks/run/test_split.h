#pragma once
// Runs without the test split (train --no-test), so that settings can be selected without it; `evaluate`
// later evaluates it once and writes the same results as training.
//
// metrics.json has "test_read". If it is false there is no "test", and "validation" is reported instead.

#include <nlohmann/json.hpp>
#include <string>

#include "modewise/train/checkpoint/run_folder.h"
#include "modewise/train/loop/train_config.h"

namespace modewise::tasks {

/// Whether the training has finished: metrics.json has its results.
bool has_finished(const train::RunFolder& run);

/// Whether the run has finished and its test split is unread.
bool test_is_unread(const train::RunFolder& run);

/// Warns that a command `reads` ("this backtest reads its test rows") the test split of `run`, if it is
/// unread.
void warn_of_unread_test(const train::RunFolder& run, const char* reads);

/// Whether data.json describes the data without the test split: training leaves it out, and it is unread.
bool data_json_leaves_test_out(const train::RunFolder& run, const train::TrainConfig& config);

/// The reported split of a finished run: "test", or "validation" while the test split is unread.
const char* evaluated_part(const nlohmann::ordered_json& metrics);

/// metrics.json of an evaluated run; throws no_input if it was interrupted before its evaluation.
nlohmann::ordered_json evaluated_metrics(const train::RunFolder& run);

/// Adds `figures` ({"test": …}) to metrics.json, sets "test_read", and writes the hash of the data including
/// the test split to data.json, for comparisons.
void write_test_figures(const train::RunFolder& run, const nlohmann::ordered_json& figures,
                        const std::string& data_hash);

}  // namespace modewise::tasks
