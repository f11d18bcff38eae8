#pragma once
// How much of a classifier's accuracy stays when test pictures are noisy, mirrored, turned or corrupted
// (arXiv 2201.01410, Tables 2-4; Hendrycks and Dietterich, ICLR 2019), for one run or several.

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "modewise/core/fields.h"
#include "modewise/report/figure.h"
#include "modewise/tasks/classification/classification_run.h"
#include "modewise/tasks/result_tables.h"

namespace modewise::tasks {

/// What `evaluate` of runs of pictures may be asked for.
struct RobustnessOptions {
  bool robustness = false;
  std::vector<std::string> of;  // names of data::perturbations(); empty: all
  int64_t limit = 0;            // pictures, evenly spread; 0: all
  int64_t seed = 0;             // of the draws
  std::string report;           // HTML file
  void fields(Fields& f);
};

/// {"model", "data", "seed", "split", "samples", "clean", "perturbations": [{"name", "measure", "strengths",
/// "accuracy"}]} of one run, accuracies from 0 to 1 by the first largest logit. Throws
/// train::EvaluationInterrupted when a stop signal came.
nlohmann::ordered_json evaluate_robustness(const OpenedRun& opened, const std::string& split,
                                        const RobustnessOptions& options);

/// A table a perturbation: rows are models, columns strengths, cells the mean accuracy in percent over the
/// runs of a model, with the deviation of a sample where there are several; and the curves.
std::vector<ResultTable> robustness_tables(const nlohmann::ordered_json& runs);

}  // namespace modewise::tasks
