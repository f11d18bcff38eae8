#pragma once
// Conversion of NumPy arrays to tensors.

#include <ATen/core/Tensor.h>

#include <string>

#include "modewise/io/arrays/npy.h"

namespace modewise::data {

/// A tensor that owns the array's elements, of the same dtype and shape, without a copy. Booleans become
/// bytes of 0 and 1.
at::Tensor owning_tensor(io::Array array);

/// Whether an array has images: bytes [n, h, w], [n, h, w, 1] or [n, h, w, 3].
bool are_images(const io::Array& array);
/// Whether an NPZ with labels has such images, as MedMNIST's 2D sets.
bool holds_image_arrays(const std::string& path);

}  // namespace modewise::data
