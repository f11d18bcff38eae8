#pragma once
// Dtype conversion of weights while reading and writing files, in chunks, without a full copy.

#include <ATen/core/Tensor.h>

#include <optional>
#include <string>

#include "modewise/core/byte_sink.h"
#include "modewise/io/arrays/safetensors.h"

namespace modewise::models {

/// Parses a safetensors dtype "F32", "F64", "BF16" or "F16"; nothing for others.
std::optional<at::ScalarType> float_type(const std::string& dtype);

/// Copies a file tensor of one of these dtypes into a tensor with as many elements.
void copy_view(const io::TensorView& view, const at::Tensor& into);

/// Whether dtype, shape and bytes are equal.
bool equal_views(const io::TensorView& a, const io::TensorView& b);

/// Writes the elements of `tensor` to `sink` as `type`, in C order.
void give_bytes(const at::Tensor& tensor, at::ScalarType type, const ByteSink& sink);

}  // namespace modewise::models
