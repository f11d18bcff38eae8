#pragma once
// Predictions of classifiers: class and probabilities of each sample as CSV, NPZ or JSON.

#include <string>
#include <vector>

#include "modewise/metrics/class_metrics.h"
#include "modewise/tasks/run/task_spec.h"

namespace modewise::tasks {

struct ClassPredictions {
  std::string unit, units;  // "volume", "volumes": name of the CSV column, and JSON key
  std::string source;
  std::vector<std::string> names, classes;
  metrics::ScoreTable table;
};

/// Writes options.out if it is set; the caller has called require_new(options.out).
Result give_predictions(const PredictRequest& options, const ClassPredictions& given);

}  // namespace modewise::tasks
