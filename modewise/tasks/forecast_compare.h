#pragma once
// Finished forecasting runs side by side.

#include <filesystem>
#include <vector>

#include "modewise/tasks/run_groups.h"

namespace modewise::tasks {

/// Errors: no_input when a folder is no run or has not finished.
FinishedRun read_finished_run(const std::filesystem::path& path);

/// The table of `compare`.
report::Table comparison_table(const std::vector<RunGroup>& groups);
nlohmann::ordered_json comparison_json(const std::vector<RunGroup>& groups);

}  // namespace modewise::tasks
