#pragma once
// Changes of a panel since the training of a run, whose trained_series.npz has of each series a hash of its
// id, its rows, and a hash of their values.

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "modewise/data/forecasting/panel.h"

namespace modewise::tasks {

struct PanelChanges {
  int64_t trained = 0;               // series of the training
  int64_t gone = 0;                  // of them without rows now
  int64_t longer = 0;                // of them with more rows now
  std::vector<std::string> changed;  // of them with fewer rows or other values in those of the training
  std::vector<std::string> added;    // series that the training did not have
};

/// Writes trained_series.npz.
void write_trained_series(const std::filesystem::path& file, const data::Panel& panel);
/// The changes of `panel` since `file` was written; none if there is no such file.
std::optional<PanelChanges> panel_changes(const std::filesystem::path& file, const data::Panel& panel);

/// Logs the warning that the rows of a run's training have changed: `change` says how.
void warn_of_changed_rows(const std::string& source, const std::filesystem::path& run,
                          const std::string& change);
/// Logs the warning that the test rows of a run's file are others than in its training: `begins` says how.
void warn_of_other_test_rows(const std::string& begins);

}  // namespace modewise::tasks
