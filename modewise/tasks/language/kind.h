#pragma once

#include "modewise/tasks/kind.h"

namespace modewise::tasks {

extern const Kind language_kind;
std::unique_ptr<Job> make_language_job();

}  // namespace modewise::tasks
