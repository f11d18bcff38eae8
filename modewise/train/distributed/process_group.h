#pragma once
// Workers backed by a process group of torch.distributed.

#include <memory>
#include <string>

#include "modewise/train/distributed/workers.h"

namespace modewise::train {

/// The group registered in Python as `name` (torch.distributed's group_name). Its size must be a power of two
/// (usage error). Sums of tensors on a device with a backend of its own (CUDA: NCCL) have that backend's
/// order; others are added by the CPU, along the tree. Communication failures are general errors that name
/// the unreachable process.
std::unique_ptr<Workers> process_group(const std::string& name);

}  // namespace modewise::train
