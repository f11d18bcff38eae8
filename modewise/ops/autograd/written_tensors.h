#pragma once
// Version counters of the tensors that an operator writes: a backward that still needs the old values raises
// an error. libtorch's fallbacks count only tensors that an operator returns.

#include <ATen/core/Tensor.h>

#include <initializer_list>

namespace modewise::ops {

/// Undefined tensors and those of the inference mode have no version.
inline void count_writes(std::initializer_list<at::Tensor> written) {
  for (const at::Tensor& tensor : written)
    if (tensor.defined() && !tensor.is_inference()) tensor.unsafeGetTensorImpl()->bump_version();
}

}  // namespace modewise::ops
