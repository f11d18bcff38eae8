#pragma once
// Accumulate type of a dtype: float32 for bfloat16 and half, otherwise the dtype itself.

#include <c10/core/ScalarType.h>

namespace modewise::ops {

inline at::ScalarType accumulate_type(at::ScalarType type) {
  return type == at::kBFloat16 || type == at::kHalf ? at::kFloat : type;
}

}  // namespace modewise::ops
