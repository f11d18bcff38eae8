#pragma once
// The type in which sums are taken: float32 for the narrow types, else the type itself.

#include <c10/core/ScalarType.h>

namespace modewise::ops {

inline at::ScalarType accumulate_type(at::ScalarType type) {
  return type == at::kBFloat16 || type == at::kHalf ? at::kFloat : type;
}

}  // namespace modewise::ops
