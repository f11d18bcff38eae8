#pragma once
// Tensor allocator on plain malloc blocks.

namespace modewise::ops {

/// Makes this process allocate tensors as plain malloc blocks, aligned to a cache line inside the block.
/// libtorch requests aligned blocks from malloc, and glibc before 2.38 reuses freed memory for these only
/// where more is free than a block of the same size: with retained memory (core/allocator.h) training grew to
/// several times the size of its tensors. Call once, before other threads start.
void keep_tensors_in_plain_blocks();

}  // namespace modewise::ops
