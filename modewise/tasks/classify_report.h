#pragma once
// report.html of classifiers: how good a run is, class by class, what it was wrong about, what it attends to;
// or several runs side by side.

#include <filesystem>
#include <vector>

#include "modewise/tasks/classify_compare.h"
#include "modewise/tasks/classify_run.h"

namespace modewise::tasks {

/// Needs a finished run and its data.
void write_classify_report(const ClassifyRun& run, const data::VolumeSet& set,
                           const std::filesystem::path& out);

/// Several finished runs: table, AUC and accuracy as bars, learning curves.
void write_classify_comparison(const std::vector<FinishedRun>& runs, const std::filesystem::path& out);

}  // namespace modewise::tasks
