#pragma once

#include "modewise/tasks/kind.h"

namespace modewise::tasks {

extern const Kind forecast_kind;
std::unique_ptr<Job> make_forecast_job();

}  // namespace modewise::tasks
