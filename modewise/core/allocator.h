#pragma once
// Keeps memory that was freed for the next allocation of its size. The C library hands large blocks back to
// the system at once; a training step then has the system clear the same pages again and again.

namespace modewise {

/// To be called once, before other threads start. Freed memory stays with the process from then on. Does
/// nothing where the C library has no such switch.
void keep_freed_memory();

}  // namespace modewise
