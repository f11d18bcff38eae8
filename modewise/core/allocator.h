#pragma once
// malloc settings: freed blocks stay in the process for later allocations. By default the C library returns
// large blocks to the system at once, and a training step then has the same pages cleared again and again.

namespace modewise {

/// Call once, before other threads start. Freed memory then stays with the process. No effect where the C
/// library has no such setting.
void keep_freed_memory();

}  // namespace modewise
