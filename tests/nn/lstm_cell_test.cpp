// The LSTM cell against libtorch's.

#include <ATen/TensorOperators.h>
#include <ATen/ops/lstm_cell.h>
#include <ATen/ops/randn.h>
#include <gtest/gtest.h>

#include <cmath>
#include <tuple>

#include "modewise/nn/layers/lstm_cell.h"

namespace modewise::nn {
namespace {

TEST(LstmCell, IsTorchsWithItsGradients) {
  Initializer init(5);
  LstmCell cell(init, 5, 7);
  cell.to(at::kDouble);
  std::vector<at::Tensor> inputs = {at::randn({3, 5}, at::kDouble), at::randn({3, 7}, at::kDouble),
                                    at::randn({3, 7}, at::kDouble)};
  for (at::Tensor& input : inputs) input.requires_grad_();
  const auto named = cell.named_parameters();
  for (const char* name : {"weight_ih", "weight_hh", "bias_ih", "bias_hh"}) inputs.push_back(named[name]);
  const at::Tensor weight = at::randn({3, 14}, at::kDouble);
  const auto gradients = [&](const at::Tensor& hidden, const at::Tensor& state) {
    for (at::Tensor& input : inputs) input.mutable_grad() = at::Tensor();
    ((hidden * weight.narrow(1, 0, 7)).sum() + (state * weight.narrow(1, 7, 7)).sum()).backward();
    std::vector<at::Tensor> out = {hidden.detach(), state.detach()};
    for (const at::Tensor& input : inputs) out.push_back(input.grad().clone());
    return out;
  };
  const LstmState ours = cell.forward(inputs[0], {inputs[1], inputs[2]});
  const auto found = gradients(ours.hidden, ours.cell);
  const auto [hidden, state] =
      at::lstm_cell(inputs[0], {inputs[1], inputs[2]}, inputs[3], inputs[4], inputs[5], inputs[6]);
  const auto wanted = gradients(hidden, state);
  for (size_t i = 0; i < found.size(); ++i)
    EXPECT_LT((found[i] - wanted[i]).abs().max().item<double>(), 1e-13) << i;
}

TEST(LstmCell, BeginsWithWeightsWithinOneOverTheRootOfItsWidth) {
  Initializer init(5);
  const LstmCell cell(init, 33, 16);
  for (const auto& p : cell.named_parameters()) {
    EXPECT_LE(p.value().abs().max().item<double>(), 0.25) << p.key();
    EXPECT_GT(p.value().abs().max().item<double>(), 0.2) << p.key();
  }
}

}  // namespace
}  // namespace modewise::nn
