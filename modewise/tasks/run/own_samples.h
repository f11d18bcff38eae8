#pragma once
// Comparison of loaded samples with those that a run was trained on.

#include <functional>

#include "modewise/tasks/run/run.h"

namespace modewise::tasks {

/// Loads samples by `load(with_test)` and compares their hash with that of the run's data.json, which leaves
/// out a test split that is unread. True also for a run without a hash.
bool load_and_compare(Run& run, bool with_test, const std::function<void(bool with_test)>& load);

/// Data error: the run's own samples, read from `source`, are others than in its training.
[[noreturn]] void refuse_changed(const Run& run, const std::string& source);

/// Logs that all of `count` samples of `source`, other data than the run's own, are evaluated.
void announce_others(const Run& run, const std::string& source, const std::string& count);

}  // namespace modewise::tasks
