#pragma once

#include <ATen/core/Tensor.h>

namespace modewise::ops {

/// x [.., D] itself if its last dimension is contiguous, else a contiguous copy.
inline at::Tensor dense_channels(const at::Tensor& x) {
  return x.stride(-1) == 1 || x.size(-1) == 1 ? x : x.contiguous();
}

}  // namespace modewise::ops
