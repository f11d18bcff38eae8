#pragma once
// Dispatch of a generic lambda on a tensor's dtype, with the storage type of the loops.

#include <c10/core/ScalarType.h>
#include <c10/util/Exception.h>

#include "modewise/ops/cpu/loops.h"

namespace modewise::ops {

/// Calls body.template operator()<T>() with T float, double or Half16.
template <class Body>
decltype(auto) dispatch_floating(at::ScalarType type, const char* op, const Body& body) {
  switch (type) {
    case at::kFloat:
      return body.template operator()<float>();
    case at::kDouble:
      return body.template operator()<double>();
    case at::kBFloat16:
      return body.template operator()<Half16>();
    default:
      TORCH_CHECK_VALUE(false, op, ": expected float32, float64 or bfloat16, got ", type);
  }
}

}  // namespace modewise::ops
