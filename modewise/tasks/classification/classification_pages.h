#pragma once
// Pages about a run that gives classes to samples: its report, and what explain shows.

#include <filesystem>

#include "modewise/tasks/classification/classification_run.h"

namespace modewise::tasks {

/// Metrics, ROC curves, confusion matrix, learning curves, the samples that were most wrong and most right,
/// attention. The run has its samples. Data error when it has not finished.
void write_classification_report(const OpenedRun& opened, const std::filesystem::path& out);

/// What the classifier attends to, and by how much its probabilities change when places of the samples are
/// taken away.
Explanation explain_classification(const OpenedRun& opened, const ExplainOptions& options);

}  // namespace modewise::tasks
