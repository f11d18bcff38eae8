#pragma once
// What `predict` gives of a classifier: the class and the probabilities of each sample as CSV, NPZ or JSON.

#include <string>
#include <vector>

#include "cli/task_verbs.h"
#include "modewise/tasks/labelled/class_metrics.h"

namespace modewise::cli {

struct ClassPredictions {
  std::string unit, units;  // "volume", "volumes": the first column, and the key in JSON
  std::string source;
  std::vector<std::string> names, classes;
  tasks::ScoreTable table;
};

/// Writes options.out, or prints; require_new(options.out) was asked before.
void give_predictions(const Program& program, const PredictOptions& options, const ClassPredictions& given);

}  // namespace modewise::cli
