#pragma once

#include "modewise/tasks/kind.h"

namespace modewise::tasks {

extern const Kind labelled_series_kind;

}  // namespace modewise::tasks
