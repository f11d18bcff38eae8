// Reference kernels are the implementation of devices without kernels: on the `meta` device none of their
// tensors may stay on the CPU. (Exceptions: the dropout mask is drawn on the CPU and moved; libtorch's
// convolution, the reference of convolution, does not run on `meta` without Python.)

#include <ATen/ops/empty.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>

#include "modewise/ops/reference/reference.h"
#include "tests/device_watch.h"

namespace modewise::ops {
namespace {

at::Tensor meta(at::IntArrayRef sizes, at::ScalarType type = at::kFloat) {
  return at::empty(sizes, at::TensorOptions(type).device(at::kMeta));
}

at::Tensor flags(at::IntArrayRef sizes) {
  return meta(sizes, at::kBool);
}

PartialBlocks partial_blocks() {
  return {meta({2, 3, 4}), meta({2, 2, 3, 1}), meta({2, 2, 3, 1}), meta({2, 2, 3, 4}), meta({2, 2, 3, 5})};
}

std::map<std::string, std::function<void()>> calls() {
  const at::Tensor x = meta({2, 3, 5, 4}), rows = meta({7, 4});
  const at::Tensor q = meta({2, 7, 4, 4}), k = meta({2, 7, 2, 4}), v = meta({2, 7, 2, 5});
  const RotaryEmbedding code = {meta({2, 2}, at::kDouble), {1.5}, {}};
  const RotaryEmbedding placed = {meta({1, 2}, at::kDouble), {}, meta({7}, at::kLong)};
  return {
      {"mode_product",
       [=] {
         reference::mode_product(x, meta({2, 2, 6, 3}), 0);
       }},
      {"mode_contract", [=] { reference::mode_contract(x, x, 1, 2); }},
      {"mode_pool",
       [=] {
         for (const Pooling pooling : {Pooling::sum, Pooling::mean}) {
           reference::mode_pool(x, pooling, {});
           reference::mode_pool(x, pooling, flags({2, 3, 5}));
           reference::mode_pool_backward({{meta({2, 3, 4}), meta({2, 5, 4})}}, x.sizes(), pooling, {});
         }
       }},
      {"mode_scores",
       [=] {
         reference::mode_scores(meta({2, 3, 4}), meta({2, 3, 4}), 2, flags({2, 3}), flags({3, 3}));
       }},
      {"rotary",
       [=] {
         reference::rotary(q, meta({7, 2}, at::kDouble), 1.5, false);
       }},
      {"layer_norm", [=] { reference::layer_norm(x, meta({4}), meta({4}), 1e-5); }},
      {"rms_norm", [=] { reference::rms_norm(x, meta({4}), 1e-5); }},
      {"dropout_add", [=] { reference::dropout_add(x, x, 0, {}); }},
      {"swiglu", [=] { reference::swiglu(x); }},
      {"elementary",
       [=] {
         for (const char* function : {"exp", "log", "sqrt", "sin", "cos", "tanh", "gelu", "gelu_slope"})
           reference::elementary(x, function);
       }},
      {"feed_forward",
       [=] {
         reference::feed_forward(x, {meta({6, 4}), meta({5, 6}), meta({6, 4}), {}, {}}, 0, {});
         reference::feed_forward(x, {meta({6, 4}), meta({5, 6}), {}, meta({6}), meta({5})}, 0, {});
       }},
      {"summary_attention",
       [=] {
         reference::summary_attention(q, k, v, meta({1, 2, 3, 4}), {{0, 2}, 3, 0, 0.5}, code);
         reference::summary_attention(q, k, v, {}, {{0}, 3, 2, 0.5}, placed);
       }},
      {"linear",
       [=] {
         reference::linear(x, meta({6, 4}), meta({6}));
       }},
      {"dot_product_attention",
       [=] {
         reference::dot_product_attention(q, k, v, {}, true, 0.5);
         reference::dot_product_attention(q, k, v, flags({7, 7}), false, 0.5);
       }},
      {"matmul",
       [=] {
         reference::matmul(x, meta({4, 6}));
       }},
      {"language_loss",
       [=] {
         reference::language_loss(rows, meta({9, 4}), meta({7}, at::kLong), true, true);
         reference::token_losses(rows, meta({9, 4}), meta({7}, at::kLong));
       }},
      {"batch_norm",
       [=] {
         const auto [out, mean, var] = reference::batch_norm(x, meta({4}), meta({4}), 1e-5);
         reference::batch_norm_backward(out, x, mean, var, meta({4}), 1e-5);
       }},
      {"masked_moments",
       [=] {
         const auto [mean, var, count] = reference::masked_moments(rows, flags({7}));
         reference::update_moments(meta({4}), meta({4}), mean, var, count, 0.1);
       }},
      {"sum_of_squares", [=] { reference::sum_of_squares(x); }},
      {"adam_step",
       [=] {
         reference::adam_step(rows, rows, meta({7, 4}), meta({7, 4}), {});
       }},
      {"summary_step",
       [=] {
         const KeyRows ring = {meta({2, 3, 2, 4}), meta({2, 3, 2, 5})};
         reference::summary_step(q, k, v, k, ring, ring, {{ring, 1, 0.5}}, partial_blocks(), code,
                                 {0, 3, 0.5, true});
       }},
      {"gradients of matrices and norms",
       [=] {
         const at::Tensor statistics = meta({2, 3, 5});
         reference::linear_backward(meta({2, 3, 5, 6}), x, meta({6, 4}), true, true, true);
         reference::swiglu_backward(meta({2, 3, 5, 2}), x);
         reference::layer_norm_backward(x, x, statistics, statistics, meta({4}), x);
         reference::rms_norm_backward(x, x, statistics, meta({4}));
         reference::masked_moments_backward(meta({4}), meta({4}), rows, flags({7}));
         reference::feed_forward_backward(meta({7, 5}), rows, meta({7, 12}),
                                          {meta({6, 4}), meta({5, 6}), meta({6, 4}), {}, {}}, 0, {},
                                          {true, true, true, true, true, true});
       }},
      {"gradients of attention", [=] {
         const at::Tensor grad = meta({2, 7, 4, 5}), scores = meta({2, 2, 3, 3});
         reference::dot_product_attention_backward(grad, q, k, v, flags({7, 7}), false, 0.5);
         reference::summary_attention_backward(grad, q, k, v, meta({1, 2, 3, 4}), {{0, 2}, 3, 0, 0.5}, code);
         reference::synthesized_attention_backward(
             grad, grad, {meta({2, 7, 4, 3}), meta({1, 7, 4, 3}), {}, {}}, 7, flags({2, 7}), false);
         reference::mode_scores_backward(scores, scores, meta({2, 3, 4}), meta({2, 3, 4}), 2);
       }}};
}

TEST(References, RunOnTheDeviceOfTheirArguments) {
  for (const auto& [name, call] : calls()) {
    SCOPED_TRACE(name);
    const DeviceWatch watch(at::kMeta);
    EXPECT_NO_THROW(call());
    EXPECT_GT(watch.calls(), 0);
    EXPECT_EQ(fmt::format("{}", fmt::join(watch.faults(), "\n")), "");
  }
}

}  // namespace
}  // namespace modewise::ops
