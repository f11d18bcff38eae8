#pragma once
// Where tensors lie within malloc's blocks.

namespace modewise::ops {

/// From now on this process takes the memory of a tensor as a plain block of malloc and begins at a cache
/// line in it. libtorch has malloc align the block instead, and glibc before version 2.38 does so only where
/// more is free than was freed of the same size: where freed memory is kept (core/heap.h), a training came to
/// hold several times what its tensors take. To be called once, before other threads start.
void keep_tensors_in_plain_blocks();

}  // namespace modewise::ops
