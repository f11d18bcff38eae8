// Convolutions against libtorch's, and bit equality for any number of threads.

#include "modewise/nn/layers/convolution.h"

#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/conv1d.h>
#include <ATen/ops/conv2d.h>
#include <ATen/ops/conv3d.h>
#include <ATen/ops/max_pool2d.h>
#include <ATen/ops/upsample_nearest2d.h>
#include <c10/util/Exception.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include <array>
#include <cmath>
#include <string>

#include "modewise/nn/initializer.h"
#include "modewise/ops/dense/convolution.h"

namespace modewise::nn {
namespace {

double difference(const at::Tensor& a, const at::Tensor& b) {
  EXPECT_EQ(a.sizes(), b.sizes());
  return (a.to(at::kDouble) - b.to(at::kDouble)).abs().max().item<double>();
}

struct Sample {
  std::vector<int64_t> x, weight;
  int64_t stride, padding, dilation = 1;
};

const std::vector<Sample> samples = {
    {{3, 17, 5}, {7, 5, 3}, 2, 1},
    {{1, 33, 31, 13}, {17, 13, 7, 7}, 2, 3},
    {{5, 9, 7, 16}, {33, 16, 3, 3}, 1, 1},
    {{17, 5, 3, 7}, {2, 7, 1, 1}, 2, 0},
    {{3, 7, 5, 9, 3}, {5, 3, 3, 3, 3}, 1, 1},
    {{33, 3, 3, 2}, {3, 2, 3, 3}, 1, 1},
    {{5, 31, 3}, {7, 3, 3}, 1, 4, 5},
    {{3, 9, 7, 5}, {2, 5, 3, 3}, 2, 1, 2},
};

struct Result {
  at::Tensor out, to_x, to_weight, to_bias;
};

Result run(const Sample& sample, at::ScalarType dtype, bool own) {
  Initializer init(3);
  const auto leaf = [&](const std::vector<int64_t>& sizes) {
    return init.uniform(sizes, 1.0).to(dtype).requires_grad_();
  };
  const at::Tensor x = leaf(sample.x), weight = leaf(sample.weight), bias = leaf({sample.weight[0]});
  const size_t modes = sample.x.size() - 2;
  const std::vector<int64_t> stride(modes, sample.stride), padding(modes, sample.padding),
      dilation(modes, sample.dilation);
  at::Tensor out;
  if (own) {
    out = ops::convolution(x, weight, bias, stride, padding, dilation);
  } else {
    const at::Tensor first = x.movedim(-1, 1);
    out = (modes == 1   ? at::conv1d(first, weight, bias, stride, padding, dilation)
           : modes == 2 ? at::conv2d(first, weight, bias, stride, padding, dilation)
                        : at::conv3d(first, weight, bias, stride, padding, dilation))
              .movedim(1, -1);
  }
  const at::Tensor factor = init.uniform(out.sizes(), 1.0).to(dtype);
  const auto grads = torch::autograd::grad({(out * factor).sum()}, {x, weight, bias});
  return {out.detach(), grads[0], grads[1], grads[2]};
}

TEST(Convolution, IsLibtorchsWithChannelsLast) {
  for (const Sample& sample : samples) {
    const Result own = run(sample, at::kDouble, true), theirs = run(sample, at::kDouble, false);
    EXPECT_LT(difference(own.out, theirs.out), 1e-12);
    EXPECT_LT(difference(own.to_x, theirs.to_x), 1e-12);
    EXPECT_LT(difference(own.to_weight, theirs.to_weight), 1e-11);
    EXPECT_LT(difference(own.to_bias, theirs.to_bias), 1e-11);
  }
}

TEST(Convolution, HasTheSameBitsForAnyNumberOfThreadsAndOverRepeats) {
  const int before = at::get_num_threads();
  for (const Sample& sample : samples) {
    at::set_num_threads(1);
    const Result one = run(sample, at::kFloat, true);
    for (const int threads : {1, 2, 3, 4}) {
      at::set_num_threads(threads);
      const Result again = run(sample, at::kFloat, true);
      EXPECT_TRUE(again.out.equal(one.out)) << threads;
      EXPECT_TRUE(again.to_x.equal(one.to_x)) << threads;
      EXPECT_TRUE(again.to_weight.equal(one.to_weight)) << threads;
      EXPECT_TRUE(again.to_bias.equal(one.to_bias)) << threads;
      EXPECT_EQ(at::get_num_threads(), threads);
    }
  }
  at::set_num_threads(before);
}

TEST(Convolution, StartsAsHeEtAlSay) {
  Initializer init(1);
  const Convolution module(init, 2, 64, 128, 3);
  const at::Tensor weight = *module.named_parameters().find("weight");
  EXPECT_NEAR(weight.std().item<double>(), std::sqrt(2.0 / (128 * 9)), 5e-4);
}

/// The formula of a padded 3D convolution of x [N_1, N_2, N_3, C] for one output cell: `taps`
/// are the sizes of its kernel, `first` the cell of x below the first tap.
double cell_of(const at::Tensor& x, const at::Tensor& kernel, const std::array<int64_t, 3>& taps,
               const std::array<int64_t, 3>& first) {
  double sum = 0;
  const at::Tensor flat = kernel.reshape({x.size(3), taps[0], taps[1], taps[2]});
  for (int64_t i = 0; i < taps[0]; ++i)
    for (int64_t j = 0; j < taps[1]; ++j)
      for (int64_t k = 0; k < taps[2]; ++k) {
        const int64_t a = first[0] + i, b = first[1] + j, c = first[2] + k;
        if (a < 0 || b < 0 || c < 0 || a >= x.size(0) || b >= x.size(1) || c >= x.size(2)) continue;
        for (int64_t channel = 0; channel < x.size(3); ++channel)
          sum += x[a][b][c][channel].item<double>() * flat[channel][i][j][k].item<double>();
      }
  return sum;
}

TEST(Convolution, OfSlicesAndPlanesIsItsFormula) {
  struct Shape {
    KernelAxes axes;
    int64_t out, kernel, stride;
    std::vector<int64_t> flat;  // for each output channel, the axis along which its kernel has one tap
  };
  const std::vector<Shape> shapes = {{KernelAxes::slices, 2, 3, 1, {0, 0}},
                                     {KernelAxes::slices, 2, 3, 2, {0, 0}},
                                     {KernelAxes::planes, 7, 3, 2, {0, 0, 0, 1, 1, 2, 2}},
                                     {KernelAxes::planes, 5, 5, 1, {0, 0, 1, 1, 2}},
                                     {KernelAxes::planes, 3, 1, 2, {0, 1, 2}},
                                     {KernelAxes::planes, 2, 3, 1, {0, 1}}};
  for (const Shape& shape : shapes) {
    Initializer init(6);
    Convolution module(init, 3, 2, shape.out, shape.kernel, shape.stride, shape.kernel / 2, true, 2,
                       shape.axes);
    module.to(at::kDouble);
    const at::Tensor weight = *module.named_parameters().find("weight");
    const at::Tensor bias = *module.named_parameters().find("bias");
    const at::NoGradGuard no_grad;
    bias.copy_(init.uniform({shape.out}, 1.0));
    const at::Tensor x = init.uniform({1, 5, 4, 3, 2}, 1.0).to(at::kDouble), y = module.forward(x);
    const int64_t step = shape.stride, half = shape.kernel / 2;
    ASSERT_EQ(y.sizes().vec(), (std::vector<int64_t>{1, (5 + step - 1) / step, (4 + step - 1) / step,
                                                     (3 + step - 1) / step, shape.out}));
    for (int64_t channel = 0; channel < shape.out; ++channel) {
      std::array<int64_t, 3> taps = {shape.kernel, shape.kernel, shape.kernel};
      std::array<int64_t, 3> before = {half, half, half};
      const auto flat = static_cast<size_t>(shape.flat[static_cast<size_t>(channel)]);
      taps[flat] = 1;
      before[flat] = 0;
      for (int64_t a = 0; a < y.size(1); ++a)
        for (int64_t b = 0; b < y.size(2); ++b)
          for (int64_t c = 0; c < y.size(3); ++c)
            EXPECT_NEAR(y[0][a][b][c][channel].item<double>(),
                        bias[channel].item<double>() +
                            cell_of(x[0], weight[channel], taps,
                                    {a * step - before[0], b * step - before[1], c * step - before[2]}),
                        1e-12);
    }
  }
}

TEST(Convolution, OfPlanesNeedsVolumesAndPaddedKernels) {
  Initializer init(7);
  const auto refused = [&](int64_t modes, int64_t kernel, int64_t padding) {
    try {
      const Convolution module(init, modes, 1, 3, kernel, 1, padding, false, 2, KernelAxes::planes);
    } catch (const c10::ValueError& error) {
      return std::string(error.what_without_backtrace());
    }
    return std::string();
  };
  const std::string rule = "convolution: kernels over two axes need 3 modes and padding kernel / 2, got ";
  EXPECT_EQ(refused(2, 3, 1), rule + "2 modes, kernel 3 and padding 1");
  EXPECT_EQ(refused(3, 4, 2), rule + "3 modes, kernel 4 and padding 2");
  EXPECT_EQ(refused(3, 3, 0), rule + "3 modes, kernel 3 and padding 0");
  EXPECT_EQ(refused(3, 3, 1), "");
}

TEST(MaxPool, IsLibtorchsWithChannelsLast) {
  Initializer init(4);
  const at::Tensor x = init.uniform({2, 9, 7, 5}, 1.0);
  EXPECT_TRUE(
      max_pool(x, 3, 2, 1).equal(at::max_pool2d(x.movedim(-1, 1), {3, 3}, {2, 2}, {1, 1}).movedim(1, -1)));
}

TEST(RepeatPlaces, IsNearestNeighbourUpsampling) {
  Initializer init(5);
  const at::Tensor x = init.uniform({2, 3, 5, 2}, 1.0);
  EXPECT_TRUE(repeat_places(x, 2).equal(at::upsample_nearest2d(x.movedim(-1, 1), {6, 10}).movedim(1, -1)));
}

}  // namespace
}  // namespace modewise::nn
