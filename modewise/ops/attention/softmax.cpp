#include "modewise/ops/attention/softmax.h"

#include <ATen/TensorOperators.h>
#include <ATen/TensorSubclassLikeUtils.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/softmax.h>
#include <torch/csrc/autograd/custom_function.h>

#include <limits>
#include <vector>

#include "modewise/ops/arguments.h"
#include "modewise/ops/dense/elementary.h"
#include "modewise/ops/dense/matmul.h"

namespace modewise::ops {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

struct Softmax : torch::autograd::Function<Softmax> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x) {
    const at::AutoDispatchBelowADInplaceOrView below;
    const auto out = at::softmax(x, -1);
    context->save_for_backward({out});
    return out;
  }
  static variable_list backward(AutogradContext* context, const variable_list& grads) {
    const at::Tensor out = context->get_saved_variables()[0], weighted = grads[0] * out;
    return {weighted - out * weighted.sum(-1, true)};
  }
};

}  // namespace

at::Tensor softmax(const at::Tensor& x) {
  return Softmax::apply(x);
}

WeightedCells average_along_mode(const WeightedCells& x, int64_t mode, const at::Tensor& logits,
                                 const at::Tensor& kept) {
  const int64_t heads = known_size(x.log_weight, -1), axis = mode + 1;
  const auto for_all_lines = [&](at::Tensor matrix) {  // [B, H, M, N] -> [B, 1 …, H, M, N]
    for (int64_t i = 0; i < x.value.dim() - 3; ++i) matrix = matrix.unsqueeze(1);
    return matrix.to(x.value.scalar_type());
  };
  const at::Tensor weighted = for_all_lines(logits) + x.log_weight.movedim(axis, -1).unsqueeze(-2);
  const at::Tensor largest = weighted.detach().amax(-1, true), none = largest.isfinite().logical_not();
  const at::Tensor shift = largest.masked_fill(none, 0), weights = elementary(weighted - shift, "exp");
  const at::Tensor ones = at::ones({known_size(weights, -1), 1}, weights.options());
  const at::Tensor total = ops::matmul(weights, ones).masked_fill(none, 1);
  const at::Tensor shares = kept.defined() ? weights / total * for_all_lines(kept) : weights / total;
  const at::Tensor value = x.value.unflatten(-1, {heads, known_size(x.value, -1) / heads}).movedim(axis, -2);
  const at::Tensor log_weight =
      (elementary(total, "log") + shift).masked_fill(none, -std::numeric_limits<double>::infinity());
  return {ops::matmul(shares, value).movedim(-2, axis).flatten(-2), log_weight.squeeze(-1).movedim(-1, axis)};
}

at::Tensor samples_of_tiny_weight(const at::Tensor& weight, const std::function<at::Tensor()>& reachable) {
  constexpr double kTinyWeight = 1e-12;
  if (weight.is_meta() || at::isTensorSubclassLike(weight)) return {};
  const at::Tensor tiny = weight.detach().lt(kTinyWeight);
  if (!tiny.any().item<bool>()) return {};
  const at::Tensor samples = tiny.logical_and(reachable()).flatten(1).any(1);
  return samples.any().item<bool>() ? samples : at::Tensor();
}

at::Tensor by_sample(const at::Tensor& mask, const std::function<at::Tensor(const at::Tensor&)>& chosen,
                     const std::function<at::Tensor(const at::Tensor&)>& rest) {
  const at::Tensor first = mask.nonzero().squeeze(-1), second = mask.logical_not().nonzero().squeeze(-1);
  std::vector<at::Tensor> out = {chosen(first)};
  if (second.size(0) > 0) out.push_back(rest(second));
  return at::cat(out).index_select(0, at::cat({first, second}).argsort());
}

}  // namespace modewise::ops
