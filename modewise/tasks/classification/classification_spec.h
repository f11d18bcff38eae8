#pragma once
// Parts of TaskSpec shared by classification tasks.

#include <string>
#include <vector>

#include "modewise/tasks/run/task_spec.h"

namespace modewise::tasks {

/// The class and its probabilities of samples, as CSV, NPZ or JSON.
Result predict_classification(Run& run, const PredictRequest& request);
/// Attention maps, and occlusion: change of the probabilities when positions of the samples are occluded.
Explanation explain_classification(Run& run, const ExplainOptions& options);
/// Comparison of AUC and accuracy in percent; `subject` ("volumes") and `many` are nouns for the samples.
Comparison classification_comparison(const std::string& subject, const std::string& many);
/// Search::ensemble; `select` sets the selection metric of --model auto.
std::vector<std::string> classification_ensemble(const std::string& select);

}  // namespace modewise::tasks
