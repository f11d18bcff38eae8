#pragma once
// Comparison of loaded samples with those that a run was trained on.

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "modewise/tasks/run/run.h"

namespace modewise::tasks {

/// Loads samples by `load(with_test)` and compares their hash with that of the run's data.json, which leaves
/// out a test split that is unread. True also for a run without a hash.
bool load_and_compare(Run& run, bool with_test, const std::function<void(bool with_test)>& load);

/// Data error: the run's own samples, read from `source`, are others than in its training.
[[noreturn]] void refuse_changed(const Run& run, const std::string& source);

/// Writes the hashes of the contents of the training samples to the run's folder.
void keep_training_samples(const train::RunFolder& folder, std::span<const int64_t> train,
                           std::span<const uint64_t> contents);

/// For other data than the run's own: logs that `all` of `count` samples of `source` ("23 images") are used,
/// and warns of samples whose `contents` were in the training. Runs of earlier versions have no list of
/// these.
void announce_others(const Run& run, const std::string& source, const std::string& count,
                     std::span<const uint64_t> contents = {}, bool all = true);

}  // namespace modewise::tasks
