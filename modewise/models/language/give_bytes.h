#pragma once
// The bytes of weights on their way to a file of another type.

#include <ATen/core/Tensor.h>

#include "modewise/core/byte_sink.h"

namespace modewise::models {

/// The elements of `tensor` as `type`, in C order, to `sink`: a part at a time, so that there is never a
/// whole copy of another type.
void give_bytes(const at::Tensor& tensor, at::ScalarType type, const ByteSink& sink);

}  // namespace modewise::models
