#pragma once

#include "modewise/tasks/kind.h"

namespace modewise::tasks {

extern const Kind captions_kind;

}  // namespace modewise::tasks
