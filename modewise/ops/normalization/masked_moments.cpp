#include "modewise/ops/normalization/masked_moments.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/empty.h>
#include <torch/library.h>

#include "modewise/ops/arguments.h"
#include "modewise/ops/normalization/masked_moments_checks.h"

namespace modewise::ops {
namespace {

constexpr auto kMaskedMoments = "masked_moments";
constexpr auto kUpdateMoments = "update_moments";

std::tuple<at::Tensor, at::Tensor, at::Tensor> masked_moments_meta(const at::Tensor& rows,
                                                                   const at::Tensor& mask) {
  check_masked_moments_args(rows, mask);
  const auto channels = [&] { return at::empty_symint({rows.sym_size(1)}, rows.options()); };
  return {channels(), channels(), at::empty({}, rows.options().dtype(at::kDouble))};
}

at::Tensor masked_moments_backward_meta(const at::Tensor& grad_mean, const at::Tensor& grad_var,
                                        const at::Tensor& rows, const at::Tensor& mask,
                                        const at::Tensor& mean) {
  check_masked_moments_backward_args(grad_mean, grad_var, rows, mask, mean);
  return at::empty_symint(rows.sym_sizes(), rows.options());
}

void update_moments_meta(const at::Tensor& running_mean, const at::Tensor& running_var,
                         const at::Tensor& mean, const at::Tensor& var, const at::Tensor& count, double) {
  check_update_moments_args(running_mean, running_var, mean, var, count);
}

void check_channels(const char* op, const char* name, const at::Tensor& x, const char* other_name,
                    const at::Tensor& other, const c10::SymInt& channels) {
  check_same(op, name, x, other_name, other);
  TORCH_CHECK_VALUE(x.dim() == 1 && x.sym_size(0) == channels, op, ": ", name, " must be [", channels,
                    "] for ", other_name, " ", other.sym_sizes(), ", got ", x.sym_sizes());
}

}  // namespace

void check_masked_moments_args(const at::Tensor& rows, const at::Tensor& mask) {
  check_floating(kMaskedMoments, "rows", rows);
  TORCH_CHECK_VALUE(rows.dim() == 2, kMaskedMoments, ": rows must be [n, C], got ", rows.sym_sizes());
  TORCH_CHECK_VALUE(
      mask.scalar_type() == at::kBool && mask.dim() == 1 && mask.sym_size(0) == rows.sym_size(0),
      kMaskedMoments, ": mask must be bool [", rows.sym_size(0), "] for rows ", rows.sym_sizes(), ", got ",
      mask.scalar_type(), " ", mask.sym_sizes());
  check_device(kMaskedMoments, "mask", mask, "rows", rows);
}

void check_masked_moments_backward_args(const at::Tensor& grad_mean, const at::Tensor& grad_var,
                                        const at::Tensor& rows, const at::Tensor& mask,
                                        const at::Tensor& mean) {
  check_masked_moments_args(rows, mask);
  for (const auto& [name, tensor] :
       {std::pair("grad_mean", grad_mean), {"grad_var", grad_var}, {"mean", mean}})
    check_channels("masked_moments_backward", name, tensor, "rows", rows, rows.sym_size(1));
}

void check_update_moments_args(const at::Tensor& running_mean, const at::Tensor& running_var,
                               const at::Tensor& mean, const at::Tensor& var, const at::Tensor& count) {
  check_floating(kUpdateMoments, "running_mean", running_mean);
  TORCH_CHECK_VALUE(running_mean.dim() == 1, kUpdateMoments, ": running_mean must be [C], got ",
                    running_mean.sym_sizes());
  for (const auto& [name, tensor] : {std::pair("running_var", running_var), {"mean", mean}, {"var", var}})
    check_channels(kUpdateMoments, name, tensor, "running_mean", running_mean, running_mean.sym_size(0));
  TORCH_CHECK_VALUE(count.scalar_type() == at::kDouble && count.dim() == 0, kUpdateMoments,
                    ": count must be a float64 scalar, got ", count.scalar_type(), " ", count.sym_sizes());
  check_device(kUpdateMoments, "count", count, "running_mean", running_mean);
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> masked_moments(const at::Tensor& rows,
                                                              const at::Tensor& mask) {
  static const auto op = c10::Dispatcher::singleton()
                             .findSchemaOrThrow("modewise::masked_moments", "")
                             .typed<decltype(masked_moments)>();
  return op.call(rows, mask);
}

at::Tensor masked_moments_backward(const at::Tensor& grad_mean, const at::Tensor& grad_var,
                                   const at::Tensor& rows, const at::Tensor& mask, const at::Tensor& mean) {
  static const auto op = c10::Dispatcher::singleton()
                             .findSchemaOrThrow("modewise::masked_moments_backward", "")
                             .typed<decltype(masked_moments_backward)>();
  return op.call(grad_mean, grad_var, rows, mask, mean);
}

void update_moments(const at::Tensor& running_mean, const at::Tensor& running_var, const at::Tensor& mean,
                    const at::Tensor& var, const at::Tensor& count, double momentum) {
  static const auto op = c10::Dispatcher::singleton()
                             .findSchemaOrThrow("modewise::update_moments", "")
                             .typed<decltype(update_moments)>();
  op.call(running_mean, running_var, mean, var, count, momentum);
}

TORCH_LIBRARY_FRAGMENT(modewise, m) {
  m.def("masked_moments(Tensor rows, Tensor mask) -> (Tensor, Tensor, Tensor)");
  m.def(
      "masked_moments_backward(Tensor grad_mean, Tensor grad_var, Tensor rows, Tensor mask, Tensor mean) -> "
      "Tensor");
  m.def(
      "update_moments(Tensor(a!) running_mean, Tensor(b!) running_var, Tensor mean, Tensor var, Tensor "
      "count, "
      "float momentum) -> ()");
}

TORCH_LIBRARY_IMPL(modewise, Meta, m) {
  m.impl("masked_moments", masked_moments_meta);
  m.impl("masked_moments_backward", masked_moments_backward_meta);
  m.impl("update_moments", update_moments_meta);
}

}  // namespace modewise::ops
