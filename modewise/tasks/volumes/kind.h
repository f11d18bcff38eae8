#pragma once

#include "modewise/tasks/kind.h"

namespace modewise::tasks {

extern const Kind volumes_kind;

}  // namespace modewise::tasks
