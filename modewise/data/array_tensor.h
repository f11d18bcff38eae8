#pragma once
// Arrays of NumPy files as tensors.

#include <ATen/core/Tensor.h>

#include "modewise/io/arrays/npy.h"

namespace modewise::data {

/// The stored elements as a tensor of their type and shape that owns them, without a copy. Booleans become
/// bytes of 0 and 1.
at::Tensor owning_tensor(io::Array array);

}  // namespace modewise::data
