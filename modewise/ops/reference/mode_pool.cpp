#include <ATen/TensorOperators.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>

#include "modewise/ops/accumulate_type.h"
#include "modewise/ops/reference/reference.h"

namespace modewise::ops::reference {

std::vector<at::Tensor> mode_pool(const at::Tensor& x, Pooling pooling,
                                  const std::optional<at::Tensor>& token_mask) {
  const int64_t modes = x.dim() - 2;
  auto valid = x.to(accumulate_type(x.scalar_type()));
  if (token_mask) valid = at::where(token_mask->unsqueeze(-1), valid, at::zeros({}, valid.options()));
  std::vector<at::Tensor> pooled;
  for (int64_t mode = 0; mode < modes; ++mode) {
    std::vector<int64_t> others;
    double cells = 1;
    for (int64_t other = 0; other < modes; ++other) {
      if (other == mode) continue;
      others.push_back(other + 1);
      cells *= static_cast<double>(x.size(other + 1));
    }
    auto sum = others.empty() ? valid : valid.sum(others);
    if (pooling == Pooling::mean) {
      if (token_mask) {
        auto count = token_mask->to(valid.scalar_type());
        if (!others.empty()) count = count.sum(others);
        sum = sum / count.clamp_min(1).unsqueeze(-1);
      } else {
        sum = sum / std::max(cells, 1.0);
      }
    }
    pooled.push_back(sum.to(x.scalar_type()));
  }
  return pooled;
}

}  // namespace modewise::ops::reference
