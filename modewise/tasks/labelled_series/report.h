#pragma once
// report.html of classifiers of series: how good a run is, class by class, and what it was wrong about.

#include <filesystem>

#include "modewise/tasks/labelled_series/run.h"

namespace modewise::tasks {

/// Needs a finished run and its data.
void write_series_report(const SeriesRun& run, const data::SeriesCollection& set,
                         const std::filesystem::path& out);

}  // namespace modewise::tasks
