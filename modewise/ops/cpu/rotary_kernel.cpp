// x [B, N, H, d]; a task is a chunk of rows (b, n) with all their heads.

#include <ATen/AccumulateType.h>
#include <ATen/Dispatch.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <torch/library.h>

#include "modewise/ops/attention/rotary.h"
#include "modewise/ops/cpu/row_tasks.h"
#include "modewise/ops/dense/elementary.h"
#include "modewise/ops/kernel_list.h"
#include "modewise/ops/reference/reference.h"

namespace modewise::ops {

namespace {

at::Tensor rotary_rows(const at::Tensor& input, const at::Tensor& angles, double gain, bool inverse) {
  const auto x = input.stride(-1) == 1 ? input : input.contiguous();
  const auto out = at::empty(x.sizes(), x.options());
  const auto scaled = [&](const at::Tensor& values) { return gain == 1 ? values : values * gain; };
  const auto cosines = scaled(elementary(angles, "cos")), sines = scaled(elementary(angles, "sin"));
  const int64_t n = x.size(1), heads = x.size(2), width = x.size(3), half = width / 2;
  const double sign = inverse ? -1 : 1;
  AT_DISPATCH_FLOATING_TYPES_AND(at::kBFloat16, x.scalar_type(), "rotary", [&] {
    using F = at::acc_type<scalar_t, false>;
    const auto* from = x.const_data_ptr<scalar_t>();
    auto* to = out.mutable_data_ptr<scalar_t>();
    for_row_chunks(x.size(0) * n, chunk_rows(heads * width), [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        const double* cosine = cosines.const_data_ptr<double>() + row % n * half;
        const double* sine = sines.const_data_ptr<double>() + row % n * half;
        const scalar_t* x_row = from + row / n * x.stride(0) + row % n * x.stride(1);
        for (int64_t h = 0; h < heads; ++h, x_row += x.stride(2)) {
          scalar_t* out_row = to + (row * heads + h) * width;
          for (int64_t c = 0; c < half; ++c) {
            const F a = x_row[c], b = x_row[half + c];
            const F cos_angle = static_cast<F>(cosine[c]), sin_angle = static_cast<F>(sign * sine[c]);
            out_row[c] = a * cos_angle - b * sin_angle;
            out_row[half + c] = b * cos_angle + a * sin_angle;
          }
        }
      }
    });
  });
  return out;
}

const KernelList<at::Tensor(const at::Tensor&, const at::Tensor&, double, bool)> rotary_kernels(
    "rotary", {{"rows", decltype(rotary_kernels)::takes_all, rotary_rows},
               {"reference", decltype(rotary_kernels)::takes_all, reference::rotary}});

at::Tensor rotary_checked(const at::Tensor& x, const at::Tensor& angles, double gain, bool inverse) {
  check_rotary_args(x, angles);
  return rotary_kernels.run(x.device(), x, angles, gain, inverse);
}

}  // namespace

TORCH_LIBRARY_IMPL(modewise, CompositeExplicitAutograd, m) {
  m.impl("rotary", rotary_checked);
}

}  // namespace modewise::ops
