#include "modewise/ops/normalization/batch_norm.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/empty.h>
#include <torch/library.h>

#include "modewise/ops/accumulate_type.h"
#include "modewise/ops/arguments.h"
#include "modewise/ops/normalization/batch_norm_checks.h"

namespace modewise::ops {

namespace {

using Triple = std::tuple<at::Tensor, at::Tensor, at::Tensor>;

constexpr auto kBatchNorm = "batch_norm";
constexpr auto kBatchNormBackward = "batch_norm_backward";

void check_channels(const char* op, const char* name, const at::Tensor& of_channels, const at::Tensor& x) {
  check_floating(op, name, of_channels);
  check_device(op, name, of_channels, "x", x);
  TORCH_CHECK_VALUE(of_channels.dim() == 1 && of_channels.sym_size(0) == x.sym_size(-1), op, ": ", name,
                    " must be [", x.sym_size(-1), "] for x ", x.sym_sizes(), ", got ",
                    of_channels.sym_sizes());
}

void check_rows(const char* op, const at::Tensor& x, double eps) {
  check_floating(op, "x", x);
  TORCH_CHECK_VALUE(x.dim() >= 1, op, ": x must be [..., C], got a scalar");
  for (int64_t i = 0; i + 1 < x.dim(); ++i)
    TORCH_CHECK_VALUE(x.sym_size(i) > 0, op, ": x must have at least one row, got ", x.sym_sizes());
  TORCH_CHECK_VALUE(eps >= 0, op, ": eps must not be negative, got ", eps);
}

Triple batch_norm_meta(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias, double eps) {
  check_batch_norm_args(x, weight, bias, eps);
  const auto channels = [&] {
    return at::empty_symint({x.sym_size(-1)}, x.options().dtype(accumulate_type(x.scalar_type())));
  };
  return {at::empty_symint(x.sym_sizes(), x.options()), channels(), channels()};
}

Triple batch_norm_backward_meta(const at::Tensor& grad, const at::Tensor& x, const at::Tensor& mean,
                                const at::Tensor& var, const at::Tensor& weight, double eps) {
  check_batch_norm_backward_args(grad, x, mean, var, weight, eps);
  const auto channels = [&] { return at::empty_symint(mean.sym_sizes(), mean.options()); };
  return {at::empty_symint(x.sym_sizes(), x.options()), channels(), channels()};
}

}  // namespace

void check_batch_norm_args(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias,
                           double eps) {
  check_rows(kBatchNorm, x, eps);
  check_channels(kBatchNorm, "weight", weight, x);
  check_channels(kBatchNorm, "bias", bias, x);
}

void check_batch_norm_backward_args(const at::Tensor& grad, const at::Tensor& x, const at::Tensor& mean,
                                    const at::Tensor& var, const at::Tensor& weight, double eps) {
  check_rows(kBatchNormBackward, x, eps);
  check_same(kBatchNormBackward, "grad", grad, "x", x);
  TORCH_CHECK_VALUE(grad.sym_sizes() == x.sym_sizes(), kBatchNormBackward, ": grad must have the shape of x ",
                    x.sym_sizes(), ", got ", grad.sym_sizes());
  for (const auto& [name, tensor] : {std::pair("mean", mean), {"var", var}, {"weight", weight}})
    check_channels(kBatchNormBackward, name, tensor, x);
  for (const auto& [name, tensor] : {std::pair("mean", mean), {"var", var}})
    TORCH_CHECK_VALUE(tensor.scalar_type() == accumulate_type(x.scalar_type()), kBatchNormBackward, ": ",
                      name, " must be ", accumulate_type(x.scalar_type()), " for x of ", x.scalar_type(),
                      ", got ", tensor.scalar_type());
}

Triple batch_norm(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias, double eps) {
  static const auto op = c10::Dispatcher::singleton()
                             .findSchemaOrThrow("modewise::batch_norm", "")
                             .typed<decltype(batch_norm)>();
  return op.call(x, weight, bias, eps);
}

Triple batch_norm_backward(const at::Tensor& grad, const at::Tensor& x, const at::Tensor& mean,
                           const at::Tensor& var, const at::Tensor& weight, double eps) {
  static const auto op = c10::Dispatcher::singleton()
                             .findSchemaOrThrow("modewise::batch_norm_backward", "")
                             .typed<decltype(batch_norm_backward)>();
  return op.call(grad, x, mean, var, weight, eps);
}

TORCH_LIBRARY_FRAGMENT(modewise, m) {
  m.def("batch_norm(Tensor x, Tensor weight, Tensor bias, float eps=1e-5) -> (Tensor, Tensor, Tensor)");
  m.def(
      "batch_norm_backward(Tensor grad, Tensor x, Tensor mean, Tensor var, Tensor weight, float eps) -> "
      "(Tensor, "
      "Tensor, Tensor)");
}

TORCH_LIBRARY_IMPL(modewise, Meta, m) {
  m.impl("batch_norm", batch_norm_meta);
  m.impl("batch_norm_backward", batch_norm_backward_meta);
}

}  // namespace modewise::ops
