#include "modewise/ops/dense/feed_forward.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/empty.h>
#include <torch/library.h>

#include "modewise/ops/arguments.h"
#include "modewise/ops/dense/feed_forward_checks.h"
#include "modewise/ops/training/dropout_add_checks.h"

namespace modewise::ops {
namespace {

using Maybe = std::optional<at::Tensor>;
using Pair = std::tuple<at::Tensor, at::Tensor>;

c10::SymDimVector ending_in(c10::SymIntArrayRef sizes, const c10::SymInt& last) {
  c10::SymDimVector out(sizes.begin(), sizes.end());
  out.back() = last;
  return out;
}

c10::SymDimVector kept_sizes(const at::Tensor& x, const FeedForwardWeights& weights) {
  const c10::SymInt hidden = weights.first.sym_size(0);
  return ending_in(x.sym_sizes(), weights.gate.defined() ? hidden * 2 : hidden);
}

void check_beside_first(const char* name, const at::Tensor& weight, const at::Tensor& first) {
  check_same("feed_forward", name, weight, "first", first);
}

/// Operator entry points with the tensors as separate schema arguments.
at::Tensor feed_forward_op(const at::Tensor& x, const at::Tensor& first, const at::Tensor& second,
                           const Maybe& gate, const Maybe& first_bias, const Maybe& second_bias, double p,
                           int64_t seed, int64_t step, int64_t site) {
  static const auto op = c10::Dispatcher::singleton()
                             .findSchemaOrThrow("modewise::feed_forward", "")
                             .typed<decltype(feed_forward_op)>();
  return op.call(x, first, second, gate, first_bias, second_bias, p, seed, step, site);
}

Pair feed_forward_kept_op(const at::Tensor& x, const at::Tensor& first, const at::Tensor& second,
                          const Maybe& gate, const Maybe& first_bias, const Maybe& second_bias, double p,
                          int64_t seed, int64_t step, int64_t site) {
  static const auto op = c10::Dispatcher::singleton()
                             .findSchemaOrThrow("modewise::feed_forward_kept", "")
                             .typed<decltype(feed_forward_kept_op)>();
  return op.call(x, first, second, gate, first_bias, second_bias, p, seed, step, site);
}

FeedForwardGradients feed_forward_backward_op(const at::Tensor& grad, const at::Tensor& x, const Maybe& kept,
                                              const at::Tensor& first, const at::Tensor& second,
                                              const Maybe& gate, const Maybe& first_bias, double p,
                                              int64_t seed, int64_t step, int64_t site,
                                              FeedForwardWanted wanted) {
  static const auto op = c10::Dispatcher::singleton()
                             .findSchemaOrThrow("modewise::feed_forward_backward", "")
                             .typed<decltype(feed_forward_backward_op)>();
  return op.call(grad, x, kept, first, second, gate, first_bias, p, seed, step, site, wanted);
}

at::Tensor feed_forward_meta(const at::Tensor& x, const at::Tensor& first, const at::Tensor& second,
                             const Maybe& gate, const Maybe& first_bias, const Maybe& second_bias, double p,
                             int64_t, int64_t step, int64_t site) {
  check_feed_forward_args(x, feed_forward_weights(first, second, gate, first_bias, second_bias), p);
  check_dropout_place("feed_forward", step, site);
  return at::empty_symint(ending_in(x.sym_sizes(), second.sym_size(0)), x.options());
}

Pair feed_forward_kept_meta(const at::Tensor& x, const at::Tensor& first, const at::Tensor& second,
                            const Maybe& gate, const Maybe& first_bias, const Maybe& second_bias, double p,
                            int64_t, int64_t step, int64_t site) {
  const auto weights = feed_forward_weights(first, second, gate, first_bias, second_bias);
  check_feed_forward_args(x, weights, p);
  check_dropout_place("feed_forward", step, site);
  return {at::empty_symint(ending_in(x.sym_sizes(), second.sym_size(0)), x.options()),
          at::empty_symint(kept_sizes(x, weights), x.options())};
}

FeedForwardGradients feed_forward_backward_meta(const at::Tensor& grad, const at::Tensor& x,
                                                const Maybe& kept, const at::Tensor& first,
                                                const at::Tensor& second, const Maybe& gate,
                                                const Maybe& first_bias, double p, int64_t, int64_t step,
                                                int64_t site, FeedForwardWanted wanted) {
  check_dropout_place("feed_forward_backward", step, site);
  check_feed_forward_backward_args(grad, x, kept, feed_forward_weights(first, second, gate, first_bias, {}),
                                   p);
  const auto like = [&](int at, c10::SymIntArrayRef sizes, const at::Tensor& of) {
    if (!wanted[static_cast<size_t>(at)]) return at::empty({0}, of.options());
    return at::empty_symint(sizes, of.options());
  };
  return {like(0, x.sym_sizes(), x),           like(1, first.sym_sizes(), first),
          like(2, second.sym_sizes(), second), like(3, first.sym_sizes(), first),
          like(4, {first.sym_size(0)}, first), like(5, {second.sym_size(0)}, first)};
}

}  // namespace

void check_feed_forward_args(const at::Tensor& x, const FeedForwardWeights& weights, double p) {
  const auto& [first, second, gate, first_bias, second_bias] = weights;
  check_floating("feed_forward", "x", x);
  check_floating("feed_forward", "first", first);
  check_device("feed_forward", "first", first, "x", x);
  TORCH_CHECK_VALUE(x.dim() >= 1 && first.dim() == 2 && first.sym_size(1) == x.sym_size(-1),
                    "feed_forward: first must be [M, ", x.dim() >= 1 ? x.sym_size(-1) : c10::SymInt(1),
                    "] for x ", x.sym_sizes(), ", got ", first.sym_sizes());
  check_beside_first("second", second, first);
  TORCH_CHECK_VALUE(second.dim() == 2 && second.sym_size(1) == first.sym_size(0),
                    "feed_forward: second must be [N, ", first.sym_size(0), "] for first ", first.sym_sizes(),
                    ", got ", second.sym_sizes());
  if (gate.defined()) {
    check_beside_first("gate", gate, first);
    TORCH_CHECK_VALUE(gate.sym_sizes() == first.sym_sizes(),
                      "feed_forward: gate must have the shape of first ", first.sym_sizes(), ", got ",
                      gate.sym_sizes());
  }
  const auto check_bias = [&](const char* name, const at::Tensor& bias, const char* of,
                              const at::Tensor& weight) {
    if (!bias.defined()) return;
    check_beside_first(name, bias, weights.first);
    TORCH_CHECK_VALUE(bias.dim() == 1 && bias.sym_size(0) == weight.sym_size(0), "feed_forward: ", name,
                      " must be [", weight.sym_size(0), "] for ", of, " ", weight.sym_sizes(), ", got ",
                      bias.sym_sizes());
  };
  check_bias("first_bias", first_bias, "first", first);
  check_bias("second_bias", second_bias, "second", second);
  check_dropout("feed_forward", p);
}

void check_feed_forward_backward_args(const at::Tensor& grad, const at::Tensor& x, const Maybe& kept,
                                      const FeedForwardWeights& weights, double p) {
  check_feed_forward_args(x, weights, p);
  const auto check = [&](const char* name, const at::Tensor& tensor, const c10::SymDimVector& sizes) {
    check_same("feed_forward_backward", name, tensor, "x", x);
    TORCH_CHECK_VALUE(tensor.sym_sizes() == c10::SymIntArrayRef(sizes), "feed_forward_backward: ", name,
                      " must be ", c10::SymIntArrayRef(sizes), " for x ", x.sym_sizes(), ", got ",
                      tensor.sym_sizes());
  };
  check("grad", grad, ending_in(x.sym_sizes(), weights.second.sym_size(0)));
  if (kept) check("kept", *kept, kept_sizes(x, weights));
}

at::Tensor feed_forward(const at::Tensor& x, const FeedForwardWeights& weights, double p, DropoutKey key) {
  return feed_forward_op(x, weights.first, weights.second, optional(weights.gate),
                         optional(weights.first_bias), optional(weights.second_bias), p,
                         static_cast<int64_t>(key.seed), static_cast<int64_t>(key.step), key.site);
}

Pair feed_forward_kept(const at::Tensor& x, const FeedForwardWeights& weights, double p, DropoutKey key) {
  return feed_forward_kept_op(x, weights.first, weights.second, optional(weights.gate),
                              optional(weights.first_bias), optional(weights.second_bias), p,
                              static_cast<int64_t>(key.seed), static_cast<int64_t>(key.step), key.site);
}

FeedForwardGradients feed_forward_backward(const at::Tensor& grad, const at::Tensor& x,
                                           const at::Tensor& kept, const FeedForwardWeights& weights,
                                           double p, DropoutKey key, FeedForwardWanted wanted) {
  return feed_forward_backward_op(grad, x, optional(kept), weights.first, weights.second,
                                  optional(weights.gate), optional(weights.first_bias), p,
                                  static_cast<int64_t>(key.seed), static_cast<int64_t>(key.step), key.site,
                                  wanted);
}

TORCH_LIBRARY_FRAGMENT(modewise, m) {
  m.def(
      "feed_forward(Tensor x, Tensor first, Tensor second, Tensor? gate=None, Tensor? first_bias=None, "
      "Tensor? second_bias=None, float p=0.0, int seed=0, int step=0, int site=0) -> Tensor");
  m.def(
      "feed_forward_kept(Tensor x, Tensor first, Tensor second, Tensor? gate, Tensor? first_bias, "
      "Tensor? second_bias, float p, int seed, int step, int site) -> (Tensor, Tensor)");
  m.def(
      "feed_forward_backward(Tensor grad, Tensor x, Tensor? kept, Tensor first, Tensor second, Tensor? gate, "
      "Tensor? first_bias, float p, int seed, int step, int site, bool[6] wanted) -> "
      "(Tensor, Tensor, Tensor, Tensor, Tensor, Tensor)");
}

TORCH_LIBRARY_IMPL(modewise, Meta, m) {
  m.impl("feed_forward", feed_forward_meta);
  m.impl("feed_forward_kept", feed_forward_kept_meta);
  m.impl("feed_forward_backward", feed_forward_backward_meta);
}

}  // namespace modewise::ops
