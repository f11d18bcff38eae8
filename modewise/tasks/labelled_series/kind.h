#pragma once

#include "modewise/tasks/kind.h"

namespace modewise::tasks {

extern const Kind labelled_series_kind;
std::unique_ptr<Job> make_labelled_series_job();

}  // namespace modewise::tasks
