#include "modewise/ops/attention/mode_scores.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/empty.h>
#include <torch/library.h>

#include "modewise/ops/arguments.h"

namespace modewise::ops {

namespace {

void check_rows(const char* op, const char* name, const at::Tensor& x, int64_t heads) {
  check_floating(op, name, x);
  TORCH_CHECK_VALUE(x.dim() == 3, op, ": ", name, " must be [B, N, H·d], got ", x.sym_sizes());
  check_heads(op, x, heads);
}

}  // namespace

void check_mode_scores_args(const at::Tensor& q, const at::Tensor& k, int64_t heads,
                            const std::optional<at::Tensor>& key_mask,
                            const std::optional<at::Tensor>& mode_mask) {
  constexpr auto kOp = "mode_scores";
  check_rows(kOp, "q", q, heads);
  check_same(kOp, "k", k, "q", q);
  TORCH_CHECK_VALUE(k.dim() == 3 && k.sym_size(0) == q.sym_size(0) && k.sym_size(2) == q.sym_size(2), kOp,
                    ": k must be [", q.sym_size(0), ", M, ", q.sym_size(2), "] for q ", q.sym_sizes(),
                    ", got ", k.sym_sizes());
  if (key_mask) {
    TORCH_CHECK_VALUE(key_mask->scalar_type() == at::kBool, kOp, ": key_mask must be bool, got ",
                      key_mask->scalar_type());
    check_device(kOp, "key_mask", *key_mask, "q", q);
    const bool shared = key_mask->dim() == 2;
    TORCH_CHECK_VALUE((shared || (key_mask->dim() == 3 && key_mask->sym_size(1) == heads)) &&
                          key_mask->sym_size(0) == k.sym_size(0) && key_mask->sym_size(-1) == k.sym_size(1),
                      kOp, ": key_mask must be [B, M] or [B, ", heads, ", M] for k ", k.sym_sizes(), ", got ",
                      key_mask->sym_sizes());
  }
  if (mode_mask) {
    TORCH_CHECK_VALUE(mode_mask->scalar_type() == at::kBool, kOp, ": mode_mask must be bool, got ",
                      mode_mask->scalar_type());
    check_device(kOp, "mode_mask", *mode_mask, "q", q);
    TORCH_CHECK_VALUE(mode_mask->dim() == 2 && mode_mask->sym_size(0) == q.sym_size(1) &&
                          mode_mask->sym_size(1) == k.sym_size(1),
                      kOp, ": mode_mask must be [", q.sym_size(1), ", ", k.sym_size(1), "] for q ",
                      q.sym_sizes(), ", got ", mode_mask->sym_sizes());
  }
}

namespace {

at::Tensor mode_scores_meta(const at::Tensor& q, const at::Tensor& k, int64_t heads,
                            const std::optional<at::Tensor>& key_mask,
                            const std::optional<at::Tensor>& mode_mask) {
  check_mode_scores_args(q, k, heads, key_mask, mode_mask);
  return at::empty_symint({q.sym_size(0), heads, q.sym_size(1), k.sym_size(1)}, q.options());
}

std::tuple<at::Tensor, at::Tensor> mode_scores_backward_meta(const at::Tensor&, const at::Tensor&,
                                                             const at::Tensor& q, const at::Tensor& k,
                                                             int64_t heads) {
  check_mode_scores_args(q, k, heads, {}, {});
  return {at::empty_symint(q.sym_sizes(), q.options()), at::empty_symint(k.sym_sizes(), k.options())};
}

}  // namespace

at::Tensor mode_scores(const at::Tensor& q, const at::Tensor& k, int64_t heads,
                       const std::optional<at::Tensor>& key_mask,
                       const std::optional<at::Tensor>& mode_mask) {
  static const auto op = c10::Dispatcher::singleton()
                             .findSchemaOrThrow("modewise::mode_scores", "")
                             .typed<decltype(mode_scores)>();
  return op.call(q, k, heads, key_mask, mode_mask);
}

std::tuple<at::Tensor, at::Tensor> mode_scores_backward(const at::Tensor& grad, const at::Tensor& scores,
                                                        const at::Tensor& q, const at::Tensor& k,
                                                        int64_t heads) {
  static const auto op = c10::Dispatcher::singleton()
                             .findSchemaOrThrow("modewise::mode_scores_backward", "")
                             .typed<decltype(mode_scores_backward)>();
  return op.call(grad, scores, q, k, heads);
}

TORCH_LIBRARY_FRAGMENT(modewise, m) {
  m.def(
      "mode_scores(Tensor q, Tensor k, int heads, Tensor? key_mask=None, Tensor? mode_mask=None) -> Tensor");
  m.def(
      "mode_scores_backward(Tensor grad, Tensor scores, Tensor q, Tensor k, int heads) -> (Tensor, Tensor)");
}

TORCH_LIBRARY_IMPL(modewise, Meta, m) {
  m.impl("mode_scores", mode_scores_meta);
  m.impl("mode_scores_backward", mode_scores_backward_meta);
}

}  // namespace modewise::ops
