// Random words one by one from core/random, as an independent oracle for the vectorised loops; drawn on the
// CPU and moved to the device of x.

#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>

#include "modewise/core/random.h"
#include "modewise/ops/accumulate_type.h"
#include "modewise/ops/reference/reference.h"
#include "modewise/ops/training/dropout_threshold.h"

namespace modewise::ops::reference {

at::Tensor dropout_scale(const at::Tensor& x, double p, DropoutKey key) {
  const auto scale = at::empty(x.sizes(), at::TensorOptions(at::kCPU).dtype(at::kDouble));
  const RandomStream stream{key.seed, RandomSite{key.site}, key.step};
  const uint32_t threshold = dropout_threshold(p);
  const double kept = dropout_kept_scale(p);
  auto* out = scale.mutable_data_ptr<double>();
  at::parallel_for(0, (scale.numel() + 63) / 64, 64, [&](int64_t begin, int64_t end) {
    for (int64_t i = 64 * begin; i < std::min(64 * end, scale.numel()); ++i) {
      const auto words = stream.block(static_cast<uint64_t>(16 * (i / 64) + i % 16));
      out[i] = words[static_cast<size_t>(i % 64) / 16] < threshold ? 0.0 : kept;
    }
  });
  return scale.to(x.options().dtype(accumulate_type(x.scalar_type())));
}

at::Tensor dropout_add(const at::Tensor& residual, const at::Tensor& x, double p, DropoutKey key) {
  const auto type = accumulate_type(x.scalar_type());
  auto out = x.to(type);
  if (p > 0) out = out * dropout_scale(x, p, key);
  if (residual.defined()) out = residual.to(type) + out;
  return out.to(x.scalar_type());
}

}  // namespace modewise::ops::reference
