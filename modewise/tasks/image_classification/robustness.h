#pragma once
// Robustness evaluation: accuracy on noisy, flipped, rotated and corrupted test images (arXiv 2201.01410,
// Tables 2-4; Hendrycks and Dietterich, ICLR 2019), for one or several runs.

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "modewise/core/fields.h"
#include "modewise/report/figure.h"
#include "modewise/tasks/image_classification/run.h"
#include "modewise/tasks/run/comparison.h"
#include "modewise/tasks/run/result_tables.h"

namespace modewise::tasks {

/// Robustness options of `evaluate` for image classification runs.
struct RobustnessOptions {
  bool robustness = false;
  std::vector<std::string> of;  // names of data::perturbations(); empty: all
  int64_t limit = 0;            // images, evenly spaced; 0: all
  int64_t seed = 0;             // seed of the random numbers
  std::string report;           // HTML file
  void fields(Fields& f);
};

/// {"model", "data", "run", "seed", "split", "samples", "clean", "perturbations": [{"name", "measure",
/// "strengths", "accuracy"}]} of one run, top-1 accuracies in [0, 1]. Throws train::EvaluationInterrupted on
/// a stop signal.
nlohmann::ordered_json evaluate_robustness(ImageClassificationRun& run, const std::string& split,
                                           const RobustnessOptions& options);

/// One table per perturbation: rows are groups of runs whose metrics are those of evaluate_robustness,
/// columns strengths, cells the mean accuracy in percent with its sample standard deviation over seeds; and
/// curves.
std::vector<ResultTable> robustness_tables(const std::vector<RunGroup>& groups);

}  // namespace modewise::tasks
