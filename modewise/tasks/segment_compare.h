#pragma once
// Finished segmentation runs side by side.

#include <filesystem>
#include <vector>

#include "modewise/tasks/run_groups.h"

namespace modewise::tasks {

/// Errors: no_input when a folder is no run or has not finished.
FinishedRun read_finished_segmenter(const std::filesystem::path& path);

/// Overall accuracy and intersections over unions in percent, as the papers' tables.
report::Table segment_table(const std::vector<RunGroup>& groups);
nlohmann::ordered_json segment_comparison_json(const std::vector<RunGroup>& groups);

}  // namespace modewise::tasks
