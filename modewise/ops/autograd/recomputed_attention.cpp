#include "modewise/ops/autograd/recomputed_attention.h"

#include <ATen/core/LegacyTypeDispatch.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/custom_class.h>

#include <utility>

#include "modewise/ops/reference/gradients.h"

namespace modewise::ops {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// Carries the body to the backward pass.
struct Body final : torch::CustomClassHolder {
  AttentionBody attend;
  explicit Body(AttentionBody body) : attend(std::move(body)) {}
};

struct RecomputedAttention : torch::autograd::Function<RecomputedAttention> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& q, const at::Tensor& k,
                            const at::Tensor& v, const AttentionBody& body) {
    const at::AutoDispatchBelowADInplaceOrView below;
    context->save_for_backward({q, k, v});
    context->saved_data["body"] = c10::IValue::make_capsule(c10::make_intrusive<Body>(body));
    return body(q, k, v);
  }
  static variable_list backward(AutogradContext* context, const variable_list& grads) {
    const auto body = c10::static_intrusive_pointer_cast<Body>(context->saved_data["body"].toCapsule());
    auto out = reference::gradients(
        [&](const reference::Tensors& in) -> reference::Tensors {
          return {body->attend(in[0], in[1], in[2])};
        },
        context->get_saved_variables(), {grads[0]});
    return {out[0], out[1], out[2], {}};
  }
};

}  // namespace

at::Tensor recomputed_attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                                const AttentionBody& body) {
  return RecomputedAttention::apply(q, k, v, body);
}

}  // namespace modewise::ops
