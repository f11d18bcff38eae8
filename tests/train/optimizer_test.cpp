#include "modewise/train/loop/optimizer.h"

#include <ATen/Parallel.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include "modewise/core/file.h"
#include "modewise/core/random.h"

namespace modewise::train {
namespace {

using nlohmann::json;

at::Tensor parameter(const json& values, at::IntArrayRef shape) {
  return at::tensor(values.get<std::vector<float>>()).reshape(shape).requires_grad_();
}

void expect_near(const at::Tensor& got, const json& wanted, const std::string& what) {
  const auto values = wanted.get<std::vector<float>>();
  const float* data = got.const_data_ptr<float>();
  for (size_t i = 0; i < values.size(); ++i)
    EXPECT_NEAR(data[i], values[i], 1e-6 + 2e-6 * std::abs(values[i])) << what << " element " << i;
}

TEST(Optimizer, FollowsTorchOptimForSixSteps) {
  const json cases = json::parse(read_file(MODEWISE_SOURCE_DIR "/tests/train/vectors/optimizer.json"));
  ASSERT_EQ(cases.size(), 8U);
  for (const json& c : cases) {
    SCOPED_TRACE(c["name"].get<std::string>() + " decay " + c["weight_decay"].dump() + " betas " +
                 c["betas"].dump());
    OptimizerConfig config;
    config.name = c["name"];
    config.weight_decay = c["weight_decay"];
    config.betas = c["betas"].get<std::vector<double>>();
    config.epsilon = c["epsilon"];
    const at::Tensor matrix = parameter(c["start"][0], {3, 5}), bias = parameter(c["start"][1], {5});
    Optimizer optimizer({{"matrix", matrix}, {"bias", bias}}, config);
    for (size_t step = 0; step < 6; ++step) {
      matrix.mutable_grad() = parameter(c["gradients"][step][0], {3, 5}).detach();
      bias.mutable_grad() = parameter(c["gradients"][step][1], {5}).detach();
      optimizer.step({0.01 / (1.0 + static_cast<double>(step)), config.betas[0]});
      expect_near(matrix.detach(), c["after"][step][0], "matrix");
      expect_near(bias.detach(), c["after"][step][1], "bias");
    }
    const auto state = optimizer.state();
    ASSERT_EQ(state.size(), 4U);
    EXPECT_EQ(state[0].name, "first_moment.matrix");
    EXPECT_EQ(state[3].name, "second_moment.bias");
    for (size_t i = 0; i < 4; ++i) expect_near(state[i].tensor, c["moments"][i / 2][i % 2], state[i].name);
  }
}

TEST(Optimizer, ReadsGradientsOfAnyStrideAndScalesThem) {
  OptimizerConfig config;
  const at::Tensor a = at::zeros({3, 4}).requires_grad_(), b = at::zeros({3, 4}).requires_grad_();
  Optimizer first({{"a", a}}, config), second({{"b", b}}, config);
  std::vector<float> values;
  for (int i = 0; i < 12; ++i) values.push_back(static_cast<float>(i) - 5);
  const at::Tensor gradient = at::tensor(values).reshape({4, 3});
  a.mutable_grad() = gradient.t();
  b.mutable_grad() = gradient.t().contiguous() * 0.25;
  first.step({0.1, 0.9}, 0.25);
  second.step({0.1, 0.9});
  EXPECT_TRUE(at::equal(a, b));
}

TEST(Optimizer, DecaysNormsAndBiasesOnlyWhenAsked) {
  for (const bool decay_norms : {false, true}) {
    OptimizerConfig config;
    config.decay_norms = decay_norms;
    config.weight_decay = 0.5;
    const at::Tensor bias = at::tensor({1.0f, -2.0f}).requires_grad_();
    Optimizer optimizer({{"bias", bias}}, config);
    bias.mutable_grad() = at::zeros({2});
    optimizer.step({0.1, 0.9});
    EXPECT_FLOAT_EQ(bias[1].item<float>(), decay_norms ? -2.0f * 0.95f : -2.0f);
  }
}

TEST(Optimizer, LeavesAParameterWithoutGradientAlone) {
  const at::Tensor weight = at::tensor({1.0f, -2.0f}).reshape({1, 2}).requires_grad_();
  Optimizer optimizer({{"weight", weight}}, {});
  optimizer.step({0.1, 0.9});
  EXPECT_EQ(weight[0][1].item<float>(), -2.0f);
  EXPECT_EQ(optimizer.steps_made(), 1);
}

TEST(Optimizer, GivesTheSameBitsForAnyNumberOfThreads) {
  const int before = at::get_num_threads();
  std::vector<at::Tensor> results;
  for (const int threads : {1, 2, 3, 4}) {
    at::set_num_threads(threads);
    at::Tensor weight = at::zeros({401, 331}), gradient = at::zeros({401, 331});
    for (int64_t i = 0; i < weight.numel(); ++i) {
      const RandomStream stream{5, RandomSite{1}, 0};
      weight.mutable_data_ptr<float>()[i] = static_cast<float>(stream.uniform(2 * static_cast<uint64_t>(i)));
      gradient.mutable_data_ptr<float>()[i] =
          static_cast<float>(stream.uniform(2 * static_cast<uint64_t>(i) + 1));
    }
    weight.requires_grad_();
    Optimizer optimizer({{"weight", weight}}, {});
    for (int step = 0; step < 3; ++step) {
      weight.mutable_grad() = gradient;
      optimizer.step({0.01, 0.9}, 0.7);
    }
    results.push_back(weight.detach());
  }
  at::set_num_threads(before);
  for (const at::Tensor& result : results) EXPECT_TRUE(at::equal(result, results[0]));
}

TEST(Optimizer, ForgetsGradients) {
  const at::Tensor weight = at::zeros({2}).requires_grad_();
  weight.mutable_grad() = at::zeros({2});
  Optimizer({{"weight", weight}}, {}).clear_gradients();
  EXPECT_FALSE(weight.grad().defined());
}

}  // namespace
}  // namespace modewise::train
