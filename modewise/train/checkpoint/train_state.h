#pragma once
// Training state of a checkpoint besides tensors: state.json.

#include <cstdint>
#include <nlohmann/json.hpp>

#include "modewise/train/loop/task.h"
#include "modewise/train/loop/train_config.h"

namespace modewise::train {

struct TrainState {
  int64_t step = 0;             // optimizer steps made
  int64_t evaluated_step = -1;  // step of the last evaluation; −1 before the first
  int64_t best_step = -1;
  Metrics best, last;  // metrics of the best and of the last evaluation
  int64_t without_improvement = 0;
  double loss_sum = 0;  // over the steps since the last line of metrics.jsonl
  int64_t loss_steps = 0;
  int64_t metrics_bytes = 0;  // length of metrics.jsonl
  int64_t epoch_offset = 0;   // of SampleOrder: not 0 once epochs have another number of steps

  nlohmann::ordered_json to_json() const;
  /// Throws nlohmann's exceptions when a key is missing.
  static TrainState from_json(const nlohmann::ordered_json& json);
};

/// Fields as JSON: path → value as text.
nlohmann::ordered_json fields_to_json(const Fields& fields);
nlohmann::ordered_json config_to_json(const TrainConfig& config);
/// Steps per epoch of the training that wrote a state.json.
int64_t saved_steps_per_epoch(const nlohmann::ordered_json& state);
/// The members of `now` that differ from `saved`, or are not there, each as "path was A, is B"; both as
/// fields_to_json.
std::vector<std::string> differences(const nlohmann::ordered_json& saved, const nlohmann::ordered_json& now);
/// Config error that lists the differences of settings, unless there are none or they are accepted.
void require_same_settings(const std::vector<std::string>& differences, bool accept_changes);
/// The fields that affect results and differ from `saved` (config_to_json of an earlier run), each as
/// "path was A, is B". A field missing in `saved` counts as its default.
std::vector<std::string> config_differences(const TrainConfig& config, const nlohmann::ordered_json& saved);

}  // namespace modewise::train
