#pragma once
// Report and explanation of classification runs.

#include <filesystem>

#include "modewise/tasks/classification/classification_run.h"

namespace modewise::tasks {

/// Writes the report: metrics, ROC curves, confusion matrix, learning curves, lowest and highest scores,
/// attention maps. The run has its samples. Data error if it has not finished.
void write_classification_report(const OpenedRun& opened, const std::filesystem::path& out);

/// Attention maps, and occlusion: change of the probabilities when positions of the samples are occluded.
Explanation explain_classification(const OpenedRun& opened, const ExplainOptions& options);

}  // namespace modewise::tasks
