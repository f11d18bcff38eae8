#pragma once
// Weights on their way from files and to them, of other types than in memory: a part at a time, so that there
// is never a whole copy of another type.

#include <ATen/core/Tensor.h>

#include <optional>
#include <string>

#include "modewise/core/byte_sink.h"
#include "modewise/io/arrays/safetensors.h"

namespace modewise::models {

/// The type of a file's "F32", "F64", "BF16" or "F16"; nothing for others.
std::optional<at::ScalarType> float_type(const std::string& dtype);

/// Copies a tensor of one of these types into one of as many elements.
void copy_view(const io::TensorView& view, const at::Tensor& into);

/// The elements of `tensor` as `type`, in C order, to `sink`.
void give_bytes(const at::Tensor& tensor, at::ScalarType type, const ByteSink& sink);

}  // namespace modewise::models
