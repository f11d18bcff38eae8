#pragma once

#include "modewise/tasks/kind.h"

namespace modewise::tasks {

extern const Kind scenes_kind;
std::unique_ptr<Job> make_scenes_job();

}  // namespace modewise::tasks
