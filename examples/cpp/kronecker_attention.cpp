// Kronecker attention of a token tensor, compared with the formula that forms the full matrix.

#include "modewise/ops/attention/kronecker_attention.h"

#include <ATen/ATen.h>

#include <cmath>
#include <cstdio>

namespace {

/// softmax(q kᵀ / √d) [B, H, N_i, N_i] of one mode: x [B, N_i, D] summed over the other modes, rows `mode` of
/// the joint weights.
at::Tensor factor(const at::Tensor& x, const modewise::ops::KroneckerAttentionWeights& weights, int64_t mode,
                  int64_t heads) {
  const int64_t width = x.size(2);
  const auto project = [&](const at::Tensor& weight) {
    const at::Tensor own = weight.narrow(0, mode * width, width);
    return at::matmul(x, own.t()).view({x.size(0), x.size(1), heads, width / heads}).transpose(1, 2);
  };
  const at::Tensor scores = at::matmul(project(weights.query_weight), project(weights.key_weight).mT());
  return at::softmax(scores / std::sqrt(static_cast<double>(width / heads)), -1);
}

}  // namespace

int main() {
  at::manual_seed(0);
  const int64_t samples = 2, variables = 7, hours = 24, width = 32, heads = 4;
  const at::Tensor x = at::randn({samples, variables, hours, width});
  const at::Tensor value = at::randn({samples, variables, hours, width}).requires_grad_();
  modewise::ops::KroneckerAttentionWeights weights;
  weights.query_weight = at::randn({2 * width, width}) / 20;
  weights.key_weight = at::randn({2 * width, width}) / 20;
  modewise::ops::KroneckerAttentionOptions options;
  options.heads = heads;

  const at::Tensor out = modewise::ops::kronecker_attention(x, value, weights, options);

  // (S_1 ⊗ S_2) [B, H, 168, 168] times the values of all 168 tokens.
  const at::Tensor over_variables = factor(x.sum(2), weights, 0, heads);
  const at::Tensor over_hours = factor(x.sum(1), weights, 1, heads);
  const int64_t tokens = variables * hours;
  const at::Tensor matrix =
      at::einsum("bhij,bhkl->bhikjl", {over_variables, over_hours}).reshape({samples, heads, tokens, tokens});
  const at::Tensor values = value.view({samples, tokens, heads, width / heads}).transpose(1, 2);
  const at::Tensor wanted = at::matmul(matrix, values).transpose(1, 2).reshape(x.sizes());

  std::printf(
      "%lld x %lld = %lld tokens: factors of %lld and %lld weights a head, the full matrix has %lld\n",
      static_cast<long long>(variables), static_cast<long long>(hours), static_cast<long long>(tokens),
      static_cast<long long>(over_variables[0][0].numel()), static_cast<long long>(over_hours[0][0].numel()),
      static_cast<long long>(matrix[0][0].numel()));
  const double difference = (out - wanted).abs().max().item<double>();
  std::printf("largest value %.3f, largest difference from the formula %.1e\n",
              wanted.abs().max().item<double>(), difference);

  const at::Tensor direction = at::randn_like(out);
  (out * direction).sum().backward();
  const at::Tensor gradient = value.grad().clone();
  value.mutable_grad().zero_();
  (wanted * direction).sum().backward();
  std::printf("gradient of the values: largest difference %.1e\n",
              (gradient - value.grad()).abs().max().item<double>());
  return 0;
}
