#pragma once
// Conversion of NumPy arrays to tensors.

#include <ATen/core/Tensor.h>

#include "modewise/io/arrays/npy.h"

namespace modewise::data {

/// A tensor that owns the array's elements, of the same dtype and shape, without a copy. Booleans become
/// bytes of 0 and 1.
at::Tensor owning_tensor(io::Array array);

}  // namespace modewise::data
