#include "modewise/nn/layers/quantiles.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/cumsum.h>
#include <ATen/ops/softplus.h>
#include <ATen/ops/zeros_like.h>

namespace modewise::nn {

QuantileParts split_quantiles(const at::Tensor& raw) {
  const int64_t levels = raw.size(-1), middle = levels / 2;
  const at::Tensor base = raw.narrow(-1, middle, 1);
  const at::Tensor above = at::cumsum(at::softplus(raw.narrow(-1, middle + 1, levels - middle - 1)), -1);
  const at::Tensor below = at::cumsum(at::softplus(raw.narrow(-1, 0, middle)).flip(-1), -1).flip(-1);
  return {base.squeeze(-1), at::cat({below.neg(), at::zeros_like(base), above}, -1)};
}

}  // namespace modewise::nn
