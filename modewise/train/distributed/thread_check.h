#pragma once
// Check that a task's training step is bit-identical for any number of threads. The kernels here guarantee
// it; libtorch kernels that a task calls may not (docs/training.md lists known ones).

#include <span>
#include <string>

#include "modewise/train/loop/task.h"

namespace modewise::train {

/// Runs loss and backward on the same samples with 1, 2, … `max_threads` threads. "" if all bits agree, else
/// e.g. "the gradient of parameter 'head.weight' differs between 1 and 3 threads", for the first difference
/// in backward order (last registered parameter first). Restores parameters, gradients and thread count.
std::string thread_dependence(Task& task, std::span<const int64_t> samples, uint64_t seed,
                              int max_threads = 4);

}  // namespace modewise::train
