// Initial weights: every parameter uses its own draw, in order, with the scale of its formula.

#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <cmath>

#include "modewise/nn/attention/language_attention.h"
#include "modewise/nn/attention/pooling_attention.h"
#include "modewise/nn/attention/sequence_attention.h"
#include "modewise/nn/embedding/grid_patches.h"
#include "modewise/nn/embedding/patch_embedding.h"
#include "modewise/nn/embedding/positions.h"
#include "modewise/nn/embedding/series_linear.h"
#include "modewise/nn/embedding/time_head.h"
#include "modewise/nn/embedding/window_normalization.h"
#include "modewise/nn/layers/batch_norm.h"
#include "modewise/nn/layers/block.h"
#include "modewise/nn/layers/convolution.h"
#include "modewise/nn/layers/linear.h"

namespace modewise::nn {
namespace {

enum class Start { uniform, normal, constant };
struct Wanted {
  const char* name;
  std::vector<int64_t> sizes;
  Start start;
  double value;  // bound, standard deviation, or constant
};

/// Expected parameters of a module built from seed 7.
void expect_parameters(const torch::nn::Module& module, const std::vector<Wanted>& wanted) {
  Initializer same(7);
  const auto parameters = module.named_parameters();
  EXPECT_EQ(parameters.size(), wanted.size());
  for (const auto& [name, sizes, start, value] : wanted) {
    const at::Tensor* found = parameters.find(name);
    ASSERT_NE(found, nullptr) << name;
    const at::Tensor expected = start == Start::uniform  ? same.uniform(sizes, value)
                                : start == Start::normal ? same.normal(sizes, value)
                                                         : at::full(sizes, value, at::kFloat);
    EXPECT_TRUE(found->equal(expected)) << name;
  }
}

template <class Module, class... Options>
void expect_starts(const std::vector<Wanted>& wanted, const Options&... options) {
  Initializer init(7);
  expect_parameters(Module(init, options...), wanted);
}

void expect_form_starts(const std::vector<Wanted>& wanted, const SequenceAttentionOptions& options) {
  Initializer init(7);
  expect_parameters(*make_sequence_attention(init, options), wanted);
}

constexpr Start u = Start::uniform, n = Start::normal, c = Start::constant;

TEST(FirstWeights, OfLinearMaps) {
  const double bound = 1 / std::sqrt(3.0);
  expect_starts<Linear>({{"weight", {5, 3}, u, bound}, {"bias", {5}, u, bound}}, 3, 5);
  expect_starts<Linear>({{"weight", {5, 3}, u, bound}}, 3, 5, false);
  expect_starts<Linear>({{"weight", {5, 3}, n, 0.25}}, 3, 5, 0.25);
  expect_starts<SeriesLinear>({{"weight", {2, 5, 3}, u, bound}, {"bias", {2, 5}, u, bound}}, 2, 3, 5);
  expect_starts<SeriesLinear>({{"weight", {5, 3}, u, bound}, {"bias", {5}, u, bound}}, 0, 3, 5);
  expect_starts<ModeEmbedding>({{"weight", {30}, n, 0.02}}, std::vector<int64_t>{2, 7, 3},
                               std::vector<int64_t>{0, 2}, 5, 0.02);
}

TEST(FirstWeights, OfConvolutionsAndPatches) {
  // √(2 / (out · kernel²)), fan-out.
  expect_starts<Convolution>({{"weight", {4, 3, 5, 5}, n, std::sqrt(2.0 / 100)}}, 2, 3, 4, 5);
  expect_starts<Convolution>({{"weight", {4, 3, 5}, n, std::sqrt(0.5 / 20)}, {"bias", {4}, c, 0}}, 1, 3, 4, 5,
                             1, 0, true, 0.5);
  double bound = 1 / std::sqrt(8.0);
  expect_starts<PatchEmbedding>({{"0.weight", {6, 2, 4}, u, bound},
                                 {"0.bias", {6}, u, bound},
                                 {"2.weight", {6}, c, 1},
                                 {"2.bias", {6}, c, 0}},
                                4, 2, 6, PatchActivation::relu_norm, true);
  expect_starts<PatchEmbedding>({{"0.weight", {6, 1, 4}, u, 0.5}, {"0.bias", {6}, u, 0.5}}, 4, 2, 6,
                                PatchActivation::relu, false);
  bound = 1 / std::sqrt(2.0 * 6);
  expect_starts<GridPatches>({{"conv.0.weight", {5, 2, 2, 3}, u, bound},
                              {"conv.0.bias", {5}, u, bound},
                              {"conv.2.weight", {5}, c, 1},
                              {"conv.2.bias", {5}, c, 0}},
                             2, std::vector<int64_t>{2, 3}, 5, PatchActivation::relu_norm);
  // Widths 12 · 2 / 8, 12 · 4 / 8 and 12, each with kernel 3 over two modes.
  expect_starts<GridStem>({{"conv.0.weight", {3, 2, 3, 3}, n, std::sqrt(2.0 / 27)},
                           {"conv.1.weight", {6, 3, 3, 3}, n, std::sqrt(2.0 / 54)},
                           {"conv.2.weight", {12, 6, 3, 3}, n, std::sqrt(2.0 / 108)},
                           {"norm.0.weight", {3}, c, 1},
                           {"norm.0.bias", {3}, c, 0},
                           {"norm.1.weight", {6}, c, 1},
                           {"norm.1.bias", {6}, c, 0},
                           {"norm.2.weight", {12}, c, 1},
                           {"norm.2.bias", {12}, c, 0}},
                          2, 2, 8, 12);
  expect_starts<GridPooling>(
      {{"weight", {9, 4}, u, 1 / std::sqrt(9.0)}, {"norm.weight", {4}, c, 1}, {"norm.bias", {4}, c, 0}}, 4, 2,
      1);
}

TEST(FirstWeights, OfAttentionAndHeads) {
  const double bound = 1 / std::sqrt(12.0);
  std::vector<Wanted> maps;
  for (const char* name : {"query_proj", "key_proj", "value_proj", "out_proj"}) {
    static std::vector<std::string> names;
    names.reserve(64);
    maps.push_back({names.emplace_back(std::string(name) + ".weight").c_str(), {12, 12}, u, bound});
    maps.push_back({names.emplace_back(std::string(name) + ".bias").c_str(), {12}, u, bound});
  }
  const auto with = [&](const std::vector<Wanted>& more) {
    std::vector<Wanted> all = maps;
    all.insert(all.end(), more.begin(), more.end());
    return all;
  };
  SequenceAttentionOptions options = {.width = 12, .heads = 3, .tokens = 20, .type = "causal"};
  options.fold = {0, 3, 2}, options.summary_tokens = 5;
  expect_form_starts(with({{"latents", {2, 3, 5, 4}, n, 0.02}}), options);
  options.fold = {0};
  expect_form_starts(maps, options);
  options.type = "linformer";
  const double spread = 1 / std::sqrt(20.0);
  expect_form_starts(with({{"key_map", {5, 20}, n, spread}, {"value_map", {5, 20}, n, spread}}), options);
  options.type = "nystroemformer";
  expect_form_starts(with({{"kernel", {3, 33}, u, 1 / std::sqrt(33.0)}}), options);
  options.own["kernel"] = 0;
  expect_form_starts(maps, options);
  for (const char* type : {"full", "axial", "pooled", "window", "random", "topk", "performer"}) {
    options.type = type;
    expect_form_starts(maps, options);
  }
  options.type = "reformer";
  maps.erase(maps.begin() + 2, maps.begin() + 4);  // its queries are also its keys
  expect_form_starts(maps, options);
  expect_starts<TimeHead>({{"2.weight", {3, 24}, u, 1 / std::sqrt(24.0)},
                           {"2.bias", {3}, u, 1 / std::sqrt(24.0)},
                           {"0.weight", {6}, c, 1},
                           {"0.bias", {6}, c, 0}},
                          TimePooling::flatten, 4, 6, 2, 3, 0.0);
  const double half = 1 / std::sqrt(6.0);
  expect_starts<TimeHead>({{"2.weight", {3, 6}, u, half},
                           {"2.bias", {3}, u, half},
                           {"score.weight", {2, 6}, u, half},
                           {"0.weight", {6}, c, 1},
                           {"0.bias", {6}, c, 0}},
                          TimePooling::attention, 4, 6, 2, 3, 0.0);
}

TEST(FirstWeights, OfWindowsChangeNothing) {
  const WindowNormalization window({2, 3}, {.affine = true, .cycle = 4});
  const auto parameters = window.named_parameters();
  EXPECT_TRUE(parameters["affine_weight"].equal(at::ones({6})));
  EXPECT_TRUE(parameters["affine_bias"].equal(at::zeros({6})));
  EXPECT_TRUE(parameters["cycle"].equal(at::zeros({24})));
}

TEST(Initializer, NumbersDropoutsFromSixteen) {
  Initializer init(1);
  EXPECT_EQ(init.dropout_site(), 16U);
  EXPECT_EQ(init.dropout_site(), 17U);
}

TEST(SeriesLinear, CanBeSet) {
  Initializer init(1);
  SeriesLinear linear(init, 2, 3, 5);
  linear.set_weights(0.5);
  EXPECT_TRUE(linear.named_parameters()["weight"].equal(at::full({2, 5, 3}, 0.5, at::kFloat)));
  EXPECT_GT(linear.named_parameters()["bias"].abs().min().item<float>(), 0);
  linear.set_to_zero();
  for (const at::Tensor& parameter : linear.parameters()) EXPECT_EQ(parameter.abs().max().item<float>(), 0);
  Linear plain(init, 3, 5);
  plain.set_to_zero();
  for (const at::Tensor& parameter : plain.parameters()) EXPECT_EQ(parameter.abs().max().item<float>(), 0);
}

}  // namespace
}  // namespace modewise::nn
