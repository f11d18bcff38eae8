#pragma once
// Consistency check for several processes that work on one run.

#include <string>

#include "modewise/train/checkpoint/run_folder.h"

namespace modewise::tasks {

/// Collective call: data error unless all train::workers() have the same `request` (parameters of the result
/// besides the run and its data), weights and data.
void require_same_work(const train::RunFolder& run, const std::string& request, const std::string& data_hash);

}  // namespace modewise::tasks
