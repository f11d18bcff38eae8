// TCN, which computes only the receptive field of the last step, against the full network: every dilated
// convolution at every step, sample by sample, in float64.

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/conv1d.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/tensor.h>
#include <gtest/gtest.h>

#include <map>
#include <ostream>

#include "modewise/models/series_classification/config.h"
#include "modewise/models/series_classification/convolutions.h"
#include "tests/models/noise_oracle.h"

namespace modewise::models {
namespace {

using Tensors = std::map<std::string, at::Tensor>;

Tensors parameters_of(const torch::nn::Module& model) {
  Tensors out;
  for (const auto& item : model.named_parameters()) out[item.key()] = item.value();
  return out;
}

/// Causal convolution of x [1, C, T] with zero padding on the left.
at::Tensor dilated(const at::Tensor& x, const Tensors& all, const std::string& name, int64_t dilation) {
  const at::Tensor direction = all.at(name + ".direction");
  const at::Tensor scale = all.at(name + ".length") / direction.square().sum({1, 2}).sqrt();
  const int64_t before = (direction.size(2) - 1) * dilation;
  return at::conv1d(at::constant_pad_nd(x, {before, 0}), direction * scale.view({-1, 1, 1}),
                    all.at(name + ".bias"), 1, at::IntArrayRef{0}, dilation);
}

at::Tensor mapped(const at::Tensor& x, const Tensors& all, const std::string& name) {
  return x.matmul(all.at(name + ".weight").t()) + all.at(name + ".bias");
}

/// The logits [K] of one sample [V, T].
at::Tensor whole_network(const at::Tensor& values, const Tensors& all) {
  at::Tensor x = values.unsqueeze(0);
  for (int64_t level = 0; all.contains("levels." + std::to_string(level) + ".conv1.bias"); ++level) {
    const std::string name = "levels." + std::to_string(level);
    const at::Tensor first = at::relu(dilated(x, all, name + ".conv1", int64_t{1} << level));
    const at::Tensor second = at::relu(dilated(first, all, name + ".conv2", int64_t{1} << level));
    const bool as_wide = !all.contains(name + ".shortcut.weight");
    const at::Tensor beside =
        as_wide ? x : mapped(x.transpose(1, 2), all, name + ".shortcut").transpose(1, 2);
    x = at::relu(second + beside);
  }
  return mapped(x.select(2, -1).squeeze(0), all, "linear");
}

/// Samples of these lengths within `steps` steps; no mask if all are full length.
ClassifierInput samples_of(const std::vector<int64_t>& lengths, int64_t variables, int64_t steps) {
  const at::Tensor values = noise(3, {std::ssize(lengths), variables, steps}).to(at::kDouble) * 3;
  const at::Tensor ends = at::tensor(lengths, at::kLong);
  if (ends.min().item<int64_t>() == steps) return {values, {}};
  return {values, at::arange(steps).unsqueeze(0).lt(ends.unsqueeze(1))};
}

struct TemporalSample {
  std::vector<std::string> settings;
  int64_t variables;
  std::vector<int64_t> lengths;
  int64_t steps;
};

void PrintTo(const TemporalSample& c, std::ostream* out) {
  for (const std::string& setting : c.settings) *out << setting << " ";
  *out << c.variables << " variables, lengths";
  for (const int64_t length : c.lengths) *out << " " << length;
  *out << " of " << c.steps;
}

class TemporalConvolutionsOf : public testing::TestWithParam<TemporalSample> {};

TEST_P(TemporalConvolutionsOf, AreTheWholeNetworkWithItsGradients) {
  const TemporalSample& c = GetParam();
  auto config = configured<SeriesModelConfig>(c.settings);
  config.name = "tcn", config.dropout = 0;
  const ClassifierInput input = samples_of(c.lengths, c.variables, c.steps);
  const auto model = make_series_classifier(config, {c.variables, c.steps, 3, input.valid.defined(), 4}, 7);
  model->to(at::kDouble);
  const Tensors all = parameters_of(*model);
  {
    const at::NoGradGuard no_grad;  // biases are initially 0
    for (const auto& [name, value] : all)
      if (name.ends_with("bias")) value.copy_(noise(5, value.sizes().vec()).to(at::kDouble));
  }
  at::Tensor values = input.values.clone().set_requires_grad(true);
  std::vector<at::Tensor> rows;
  for (size_t i = 0; i < c.lengths.size(); ++i)
    rows.push_back(whole_network(values[static_cast<int64_t>(i)].narrow(1, 0, c.lengths[i]), all));
  const at::Tensor wanted = at::stack(rows), weights = noise(9, wanted.sizes().vec()).to(at::kDouble);
  (wanted * weights).sum().backward();
  Tensors gradients;
  for (const auto& [name, value] : all) gradients[name] = value.grad().clone();
  model->zero_grad();

  const at::Tensor values_again = input.values.clone().set_requires_grad(true);
  const at::Tensor out = model->forward({values_again, input.valid});
  EXPECT_LT(largest(out - wanted), 1e-12 * largest(wanted));
  (out * weights).sum().backward();
  EXPECT_LT(largest(values_again.grad() - values.grad()), 1e-12 * largest(values.grad()));
  for (const auto& [name, value] : all)
    EXPECT_LT(largest(value.grad() - gradients[name]), 1e-12 * (largest(gradients[name]) + 1)) << name;
}

INSTANTIATE_TEST_SUITE_P(
    Lengths, TemporalConvolutionsOf,
    testing::Values(TemporalSample{{"convolution.width=5"}, 2, {33, 33}, 33},
                    TemporalSample{{"convolution.width=5"}, 5, {64}, 64},  // identity shortcut
                    TemporalSample{{"convolution.width=3", "tcn.kernel=2"}, 1, {65, 65}, 65},
                    TemporalSample{{"convolution.width=3", "tcn.kernel=3"}, 2, {17}, 17},
                    TemporalSample{{"convolution.width=3", "tcn.kernel=9"}, 2, {5, 5}, 5},
                    TemporalSample{{"convolution.width=3"}, 2, {1, 1}, 1},
                    // The receptive field of the last step: 37 of the 65 steps, and more than the series has.
                    TemporalSample{{"convolution.width=3", "tcn.levels=2"}, 2, {65, 65}, 65},
                    TemporalSample{{"convolution.width=3", "tcn.levels=7"}, 2, {17, 17}, 17},
                    TemporalSample{{"convolution.width=5"}, 2, {33, 17, 5, 1, 32}, 33},
                    TemporalSample{{"convolution.width=5", "tcn.kernel=2"}, 3, {63, 31, 2, 64}, 65},
                    TemporalSample{{"convolution.width=5", "tcn.levels=1"}, 5, {31, 3, 8}, 31},
                    TemporalSample{{"convolution.width=2", "tcn.levels=8"}, 1, {7, 17, 3}, 17}));

TEST(TemporalConvolutions, AreComputedWhereTheLastStepSeesThem) {
  SeriesTcnConfig config;
  config.kernel = 7;
  int64_t first = 0, second = 0;
  for (const TemporalSteps& steps : temporal_steps(config, 16384))
    first += steps.first, second += steps.second;
  EXPECT_LE(first, 2 * 16384);
  EXPECT_LE(second, 16384 + 11);
  config.levels = 2;  // 1 + 6 + 6 steps 2 apart cover 37
  const auto few = temporal_steps(config, 16384);
  EXPECT_EQ(few[0].first, 31);
  EXPECT_EQ(few[0].second, 13);
  EXPECT_EQ(few[1].first, 7);
  EXPECT_EQ(few[1].second, 1);
}

}  // namespace
}  // namespace modewise::models
