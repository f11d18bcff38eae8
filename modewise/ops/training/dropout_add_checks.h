#pragma once
// Argument checks of dropout_add, and the key from the integers of its schema.

#include <ATen/core/Tensor.h>

#include <optional>

#include "modewise/ops/integer_arguments.h"
#include "modewise/ops/training/dropout_key.h"

namespace modewise::ops {

void check_dropout_add_args(const std::optional<at::Tensor>& residual, const at::Tensor& x, double p);

/// Without a seed torch's generator is used. `op` is the operator's name in error messages.
inline DropoutKey dropout_key(const char* op, std::optional<int64_t> seed, int64_t step, int64_t site) {
  check_dropout_place(op, step, site);
  return {static_cast<uint64_t>(seed.value_or(0)), static_cast<uint64_t>(step), static_cast<uint32_t>(site),
          !seed};
}

}  // namespace modewise::ops
