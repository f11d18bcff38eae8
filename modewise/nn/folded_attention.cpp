#include "modewise/nn/folded_attention.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/zeros_like.h>

#include <cmath>
#include <utility>

namespace modewise::nn {
namespace {

/// A logit far below all others, and far from where float32 and bfloat16 end.
constexpr double refused = -1e4;

/// x with one more coordinate, 1.
at::Tensor with_ones(const at::Tensor& x) {
  return at::cat({x, at::ones_like(x.narrow(-1, 0, 1))}, -1);
}

}  // namespace

FoldedAttention::FoldedAttention(Initializer& init, int64_t width, int64_t heads, int64_t slots,
                                 ops::TensorAttentionOptions options)
    : heads_(heads), options_(std::move(options)) {
  query_ = register_module("query_proj", std::make_shared<Linear>(init, width, width));
  key_ = register_module("key_proj", std::make_shared<Linear>(init, width, width));
  value_ = register_module("value_proj", std::make_shared<Linear>(init, width, width));
  out_ = register_module("out_proj", std::make_shared<Linear>(init, width, width));
  const auto modes = static_cast<int64_t>(options_.fold.size());
  if (options_.form == "causal" && modes > 1)
    latents_ = register_parameter("latents", init.normal({modes - 1, heads, slots, width / heads}, 0.02));
  if (options_.form != "pooled" && options_.scale == 0)
    options_.scale = 1 / std::sqrt(static_cast<double>(width) / static_cast<double>(heads));
}

at::Tensor FoldedAttention::forward(const at::Tensor& x, const std::optional<at::Tensor>& mask) {
  const int64_t width = x.size(-1) / heads_;
  const auto split = [&](const Linear& layer) { return layer.forward(x).unflatten(-1, {heads_, width}); };
  at::Tensor q = split(*query_), k = split(*key_), v = split(*value_), latents = cast_like(latents_, x);
  if (mask) {
    // One more coordinate: 1 in the queries, in the keys 0 or what makes the logit refuse them. Every form
    // then masks alike, blocks' summaries too. Values get a 0, since libtorch's fast kernel, whose gradients
    // do not depend on threads, wants them as wide as keys.
    const at::Tensor zeros = at::zeros_like(k.narrow(-1, 0, 1));
    const at::Tensor barred =
        zeros.masked_fill(mask->logical_not().unsqueeze(-1).unsqueeze(-1), refused / options_.scale);
    q = with_ones(q);
    k = at::cat({k, barred}, -1);
    v = at::cat({v, zeros}, -1);
    if (latents.defined()) latents = with_ones(latents);
  }
  const at::Tensor attended = ops::tensor_attention(q, k, v, options_, latents).narrow(-1, 0, width);
  return out_->forward(attended.flatten(-2));
}

}  // namespace modewise::nn
