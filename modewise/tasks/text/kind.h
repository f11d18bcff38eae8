#pragma once
// `modewise train text`: encoders that classify texts, tell numbers of them, or tell hidden tokens.

#include "modewise/tasks/kind.h"

namespace modewise::tasks {

extern const Kind text_kind;

}  // namespace modewise::tasks
