#pragma once
// Whether a task's training step gives the same bits for any number of threads. Own kernels promise it; those
// of libtorch that a task calls may not (docs/training.md lists the ones found).

#include <span>
#include <string>

#include "modewise/train/loop/task.h"

namespace modewise::train {

/// Runs loss and backward on the same samples with 1, 2, … `most_threads` threads. "" when all bits agree,
/// else e.g. "the gradient of parameter 'head.weight' differs between 1 and 3 threads", the first in the
/// order of computation backwards: the last parameter registered. Leaves parameters, gradients and thread
/// count as found.
std::string thread_dependence(Task& task, std::span<const int64_t> samples, uint64_t seed,
                              int max_threads = 4);

}  // namespace modewise::train
