// Chunks of elements, one thread per chunk. Functions are the C library's for float64, whose rounding changes
// a float32 result about once in a hundred million.

#include "modewise/ops/dense/elementary.h"

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <torch/library.h>

#include <cmath>
#include <numbers>

#include "modewise/ops/cpu/loops.h"
#include "modewise/ops/cpu/row_tasks.h"
#include "modewise/ops/dense/elementary_checks.h"
#include "modewise/ops/kernel_list.h"
#include "modewise/ops/reference/reference.h"

namespace modewise::ops {

namespace {

using Function = double (*)(double);

constexpr int64_t kElementsATask = 1024;

double share_below(double x) {
  return 0.5 * std::erfc(-x / std::numbers::sqrt2);
}
double gelu(double x) {
  return x * share_below(x);
}
double gelu_slope(double x) {
  return share_below(x) + x * std::exp(-0.5 * x * x) * (std::numbers::inv_sqrtpi / std::numbers::sqrt2);
}

Function function_of(std::string_view name) {
  if (name == "exp") return std::exp;
  if (name == "log") return std::log;
  if (name == "sqrt") return std::sqrt;
  if (name == "sin") return std::sin;
  if (name == "cos") return std::cos;
  if (name == "tanh") return std::tanh;
  return name == "gelu" ? gelu : gelu_slope;
}

template <class T>
void evaluate(const at::Tensor& x, Function function, const at::Tensor& out) {
  const T* from = x.const_data_ptr<T>();
  T* to = out.mutable_data_ptr<T>();
  at::parallel_for(0, x.numel(), kElementsATask, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      to[i] = static_cast<T>(static_cast<float>(function(static_cast<double>(from[i]))));
  });
}
template <>
void evaluate<double>(const at::Tensor& x, Function function, const at::Tensor& out) {
  const double* from = x.const_data_ptr<double>();
  double* to = out.mutable_data_ptr<double>();
  at::parallel_for(0, x.numel(), kElementsATask, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) to[i] = function(from[i]);
  });
}

at::Tensor elementary_chunks(const at::Tensor& input, std::string_view name) {
  const auto x = input.contiguous();
  const auto out = at::empty(x.sizes(), x.options());
  if (x.scalar_type() == at::kFloat && name == "exp") {
    const float* from = x.const_data_ptr<float>();
    float* to = out.mutable_data_ptr<float>();
    for_row_chunks(x.numel(), kChunkElements, [&](int64_t begin, int64_t end) {
      loops().f32.activation->exp(from + begin, to + begin, end - begin);
    });
  } else if (x.scalar_type() == at::kFloat) {
    evaluate<float>(x, function_of(name), out);
  } else if (x.scalar_type() == at::kDouble) {
    evaluate<double>(x, function_of(name), out);
  } else {
    evaluate<at::BFloat16>(x, function_of(name), out);
  }
  return out;
}

const KernelList<at::Tensor(const at::Tensor&, std::string_view)> elementary_kernels(
    "elementary", {{"chunks", decltype(elementary_kernels)::takes_all, elementary_chunks},
                   {"reference", decltype(elementary_kernels)::takes_all, reference::elementary}});

at::Tensor elementary_checked(const at::Tensor& x, std::string_view function) {
  check_elementary_args(x, function);
  return elementary_kernels.run(x.device(), x, function);
}

}  // namespace

TORCH_LIBRARY_IMPL(modewise, CompositeExplicitAutograd, m) {
  m.impl("elementary", elementary_checked);
}

}  // namespace modewise::ops
