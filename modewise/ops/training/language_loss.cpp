#include "modewise/ops/training/language_loss.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/empty.h>
#include <torch/library.h>

#include "modewise/ops/accumulate_type.h"
#include "modewise/ops/arguments.h"
#include "modewise/ops/training/language_loss_checks.h"

namespace modewise::ops {
namespace {

constexpr auto kLanguageLoss = "language_loss";
constexpr auto kTokenLosses = "token_losses";

using Triple = std::tuple<at::Tensor, at::Tensor, at::Tensor>;

at::TensorOptions wide_options(const at::Tensor& hidden) {
  return hidden.options().dtype(accumulate_type(hidden.scalar_type()));
}

Triple language_loss_gradients_meta(const at::Tensor& hidden, const at::Tensor& head,
                                    const at::Tensor& targets, int64_t chunk, bool hidden_wanted,
                                    bool head_wanted) {
  check_language_loss_args(kLanguageLoss, hidden, head, targets, chunk);
  const auto like = [](const at::Tensor& x, bool wanted) {
    return wanted ? at::empty_symint(x.sym_sizes(), x.options()) : at::empty({0}, x.options());
  };
  return {at::empty({}, wide_options(hidden)), like(hidden, hidden_wanted), like(head, head_wanted)};
}

at::Tensor language_loss_composite(const at::Tensor& hidden, const at::Tensor& head,
                                   const at::Tensor& targets, int64_t chunk) {
  return std::get<0>(language_loss_gradients(hidden, head, targets, chunk, false, false));
}

at::Tensor token_losses_meta(const at::Tensor& hidden, const at::Tensor& head, const at::Tensor& targets,
                             int64_t chunk) {
  check_language_loss_args(kTokenLosses, hidden, head, targets, chunk);
  return at::empty_symint(targets.sym_sizes(), wide_options(hidden));
}

}  // namespace

void check_language_loss_args(const char* op, const at::Tensor& hidden, const at::Tensor& head,
                              const at::Tensor& targets, int64_t chunk) {
  check_floating(op, "hidden", hidden);
  check_floating(op, "head", head);
  check_device(op, "head", head, "hidden", hidden);
  check_device(op, "targets", targets, "hidden", hidden);
  TORCH_CHECK_VALUE(hidden.dim() >= 1 && head.dim() == 2 && head.sym_size(1) == hidden.sym_size(-1), op,
                    ": head must be [V, D] for hidden [..., D], got ", head.sym_sizes(), " and ",
                    hidden.sym_sizes());
  TORCH_CHECK_VALUE(targets.scalar_type() == at::kLong &&
                        targets.sym_sizes() == hidden.sym_sizes().slice(0, hidden.dim() - 1),
                    op, ": targets must be int64 ", hidden.sym_sizes().slice(0, hidden.dim() - 1),
                    " for hidden ", hidden.sym_sizes(), ", got ", targets.scalar_type(), " ",
                    targets.sym_sizes());
  check_integer(op, "chunk", chunk, 0);
}

Triple language_loss_gradients(const at::Tensor& hidden, const at::Tensor& head, const at::Tensor& targets,
                               int64_t chunk, bool hidden_wanted, bool head_wanted) {
  static const auto op = c10::Dispatcher::singleton()
                             .findSchemaOrThrow("modewise::language_loss_gradients", "")
                             .typed<decltype(language_loss_gradients)>();
  return op.call(hidden, head, targets, chunk, hidden_wanted, head_wanted);
}

at::Tensor language_loss(const at::Tensor& hidden, const at::Tensor& head, const at::Tensor& targets,
                         int64_t chunk) {
  static const auto op = c10::Dispatcher::singleton()
                             .findSchemaOrThrow("modewise::language_loss", "")
                             .typed<decltype(language_loss)>();
  return op.call(hidden, head, targets, chunk);
}

at::Tensor token_losses(const at::Tensor& hidden, const at::Tensor& head, const at::Tensor& targets,
                        int64_t chunk) {
  static const auto op = c10::Dispatcher::singleton()
                             .findSchemaOrThrow("modewise::token_losses", "")
                             .typed<decltype(token_losses)>();
  return op.call(hidden, head, targets, chunk);
}

TORCH_LIBRARY_FRAGMENT(modewise, m) {
  m.def("language_loss(Tensor hidden, Tensor head, Tensor targets, int chunk=0) -> Tensor");
  m.def(
      "language_loss_gradients(Tensor hidden, Tensor head, Tensor targets, int chunk, bool hidden_wanted, "
      "bool head_wanted) -> (Tensor, Tensor, Tensor)");
  m.def("token_losses(Tensor hidden, Tensor head, Tensor targets, int chunk=0) -> Tensor");
}

// Without autograd only the loss is computed; the autograd kernel also requests the gradients.
TORCH_LIBRARY_IMPL(modewise, CompositeExplicitAutograd, m) {
  m.impl("language_loss", language_loss_composite);
}

TORCH_LIBRARY_IMPL(modewise, Meta, m) {
  m.impl("language_loss_gradients", language_loss_gradients_meta);
  m.impl("token_losses", token_losses_meta);
}

}  // namespace modewise::ops
