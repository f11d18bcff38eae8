#pragma once

#include "modewise/tasks/kind.h"

namespace modewise::tasks {

extern const Kind volumes_kind;
std::unique_ptr<Job> make_volumes_job();

}  // namespace modewise::tasks
