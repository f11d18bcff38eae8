#pragma once
// Workers over a process group of torch.distributed.

#include <memory>
#include <string>

#include "modewise/train/distributed/workers.h"

namespace modewise::train {

/// The group that Python registered as `name` (torch.distributed's group_name). Its size must be a power of
/// two (usage). Everything throws a general error that names the process that cannot be reached.
std::unique_ptr<Workers> process_group(const std::string& name);

}  // namespace modewise::train
