#pragma once
// Several processes at work on one run.

#include <string>

#include "modewise/train/checkpoint/run_folder.h"

namespace modewise::tasks {

/// Data error unless all train::workers() are asked for the same (`request`: what the answer depends on
/// besides the run and its data) of the same run's weights and data. What all call alike.
void require_same_work(const train::RunFolder& run, const std::string& request, const std::string& data_hash);

}  // namespace modewise::tasks
