#pragma once
// `modewise train pictures`: classes of pictures.

#include "modewise/tasks/kind.h"

namespace modewise::tasks {

extern const Kind pictures_kind;

}  // namespace modewise::tasks
