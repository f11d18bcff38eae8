#pragma once
// report.html of classifiers: how good a run is, class by class, what it was wrong about, what it attends to.

#include <filesystem>

#include "modewise/tasks/volumes/run.h"

namespace modewise::tasks {

/// Needs a finished run and its data.
void write_classify_report(const ClassifyRun& run, const data::VolumeSet& set,
                           const std::filesystem::path& out);

}  // namespace modewise::tasks
