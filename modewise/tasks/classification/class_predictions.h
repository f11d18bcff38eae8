#pragma once
// What `predict` gives of a classifier: the class and the probabilities of each sample as CSV, NPZ or JSON.

#include <string>
#include <vector>

#include "modewise/metrics/class_metrics.h"
#include "modewise/tasks/task_spec.h"

namespace modewise::tasks {

struct ClassPredictions {
  std::string unit, units;  // "volume", "volumes": the first column, and the key in JSON
  std::string source;
  std::vector<std::string> names, classes;
  metrics::ScoreTable table;
};

/// Writes options.out where it is said; require_new(options.out) was asked before.
Result give_predictions(const PredictRequest& options, const ClassPredictions& given);

}  // namespace modewise::tasks
