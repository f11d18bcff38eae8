#pragma once
// Finished classification runs side by side.

#include <filesystem>
#include <vector>

#include "modewise/tasks/run_groups.h"

namespace modewise::tasks {

/// Errors: no_input when a folder is no run or has not finished.
FinishedRun read_finished_classifier(const std::filesystem::path& path);

/// AUC and accuracy in percent, as the papers' tables.
report::Table classify_table(const std::vector<RunGroup>& groups);
nlohmann::ordered_json classify_comparison_json(const std::vector<RunGroup>& groups);

}  // namespace modewise::tasks
