#include "modewise/ops/attention/mode_pool.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/empty.h>
#include <torch/library.h>

#include "modewise/ops/arguments.h"
#include "modewise/ops/attention/mode_pool_checks.h"

namespace modewise::ops {

Pooling pooling_from(const char* op, c10::string_view name) {
  TORCH_CHECK_VALUE(name == "sum" || name == "mean", op, ": pooling must be sum or mean, got ", name);
  return name == "sum" ? Pooling::sum : Pooling::mean;
}

c10::string_view name_of(Pooling pooling) {
  return pooling == Pooling::sum ? "sum" : "mean";
}

void check_mode_pool_args(const at::Tensor& x, const std::optional<at::Tensor>& token_mask) {
  check_tokens("mode_pool", "x", x);
  check_token_mask("mode_pool", token_mask, x);
}

void check_mode_pool_backward_args(at::TensorList grads, c10::SymIntArrayRef sizes,
                                   const std::optional<at::Tensor>& token_mask) {
  TORCH_CHECK_VALUE(grads.size() + 2 == sizes.size(),  // the dispatcher needs at least one
                    "mode_pool_backward: grads must be one per mode of x ", sizes, ", got ", grads.size());
  for (size_t i = 0; i < grads.size(); ++i) {
    const auto got = grads[i].sym_sizes();
    check_device("mode_pool_backward", "each gradient", grads[i], "the first", grads[0]);
    TORCH_CHECK_VALUE(
        got.size() == 3 && got[0] == sizes[0] && got[1] == sizes[i + 1] && got[2] == sizes.back(),
        "mode_pool_backward: the gradient of mode ", i, " must be [B, N_i, D] of x ", sizes, ", got ", got);
  }
  if (token_mask) check_device("mode_pool_backward", "token_mask", *token_mask, "the gradients", grads[0]);
}

namespace {

std::vector<at::Tensor> mode_pool_meta(const at::Tensor& x, c10::string_view pooling,
                                       const std::optional<at::Tensor>& token_mask) {
  check_mode_pool_args(x, token_mask);
  pooling_from("mode_pool", pooling);
  std::vector<at::Tensor> pooled;
  for (int64_t i = 1; i < x.dim() - 1; ++i)
    pooled.push_back(at::empty_symint({x.sym_size(0), x.sym_size(i), x.sym_size(-1)}, x.options()));
  return pooled;
}

at::Tensor mode_pool_backward_meta(at::TensorList grads, c10::SymIntArrayRef sizes, c10::string_view,
                                   const std::optional<at::Tensor>& token_mask) {
  check_mode_pool_backward_args(grads, sizes, token_mask);
  return at::empty_symint(sizes, grads[0].options());
}

}  // namespace

std::vector<at::Tensor> mode_pool(const at::Tensor& x, Pooling pooling,
                                  const std::optional<at::Tensor>& token_mask) {
  static const auto op = c10::Dispatcher::singleton()
                             .findSchemaOrThrow("modewise::mode_pool", "")
                             .typed<std::vector<at::Tensor>(const at::Tensor&, c10::string_view,
                                                            const std::optional<at::Tensor>&)>();
  return op.call(x, name_of(pooling), token_mask);
}

at::Tensor mode_pool_backward(at::TensorList grads, c10::SymIntArrayRef sizes, c10::string_view pooling,
                              const std::optional<at::Tensor>& token_mask) {
  static const auto op = c10::Dispatcher::singleton()
                             .findSchemaOrThrow("modewise::mode_pool_backward", "")
                             .typed<decltype(mode_pool_backward)>();
  return op.call(grads, sizes, pooling, token_mask);
}

TORCH_LIBRARY_FRAGMENT(modewise, m) {
  m.def("mode_pool(Tensor x, str pooling, Tensor? token_mask=None) -> Tensor[]");
  m.def("mode_pool_backward(Tensor[] grads, SymInt[] sizes, str pooling, Tensor? token_mask=None) -> Tensor");
}

TORCH_LIBRARY_IMPL(modewise, Meta, m) {
  m.impl("mode_pool", mode_pool_meta);
  m.impl("mode_pool_backward", mode_pool_backward_meta);
}

}  // namespace modewise::ops
