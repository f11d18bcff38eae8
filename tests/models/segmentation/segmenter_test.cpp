// Segmenters against plain PyTorch implementations (vectors/make_segmenter_vectors.py), masks, and threads.

#include "modewise/models/segmentation/segmenter.h"

#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/tensor.h>
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "modewise/core/error.h"
#include "modewise/models/segmentation/config.h"
#include "modewise/nn/layers/dropout.h"
#include "tests/models/noise_oracle.h"

namespace modewise::models {
namespace {

using testing::HasSubstr;

struct RecordedSegmenter {
  nlohmann::json record;
  SegmentationShape shape;
  std::shared_ptr<Segmenter> model;
  SegmentationInput input;
};

SegmenterConfig config_of(const std::vector<std::string>& settings) {
  return configured<SegmenterConfig>(settings);
}

RecordedSegmenter load_segmenter(const std::string& name, at::ScalarType dtype) {
  RecordedSegmenter c;
  c.record = record_of("segmenters.json", name);
  const auto& r = c.record;
  c.shape = {r["times"], r["bands"], r["classes"], r["window"], r["missing"]};
  c.model = make_segmenter(config_of(r["settings"].get<std::vector<std::string>>()), c.shape, 1);
  c.model->train(r["training"].get<bool>());
  fill_with_noise(*c.model, r);
  c.model->to(dtype);
  const int64_t batch = r["batch"], side = c.shape.window, patch = r["patch"];
  c.input.image = (noise(1001, {batch, c.shape.times, side, side, c.shape.bands}) * 4).to(dtype);
  if (c.shape.missing) {
    c.input.valid = noise(1002, {batch, c.shape.times, side, side}).gt(-0.35);
    c.input.valid.narrow(2, 0, patch).narrow(3, 0, patch).fill_(false);
  }
  return c;
}

class SegmenterOracle : public testing::TestWithParam<const char*> {};

TEST_P(SegmenterOracle, OutputAgrees) {
  for (const auto dtype : {at::kDouble, at::kFloat}) {
    const RecordedSegmenter c = load_segmenter(GetParam(), dtype);
    const at::Tensor rows = c.model->forward(c.input).to(at::kDouble).flatten(0, -2);
    const auto places = c.record["rows"].get<std::vector<int64_t>>();
    const double limit = dtype == at::kDouble ? 1e-9 : 2e-4;
    for (size_t i = 0; i < places.size(); ++i) {
      const at::Tensor wanted = at::tensor(c.record["output"][i].get<std::vector<double>>(), at::kDouble);
      EXPECT_LE(largest(rows[places[i]] - wanted), limit * std::max(1.0, largest(wanted))) << places[i];
    }
    EXPECT_NEAR(rows.square().sum().item<double>() / c.record["square"].get<double>(), 1, limit);
  }
}

TEST_P(SegmenterOracle, GradientOfEveryParameterAgrees) {
  const RecordedSegmenter c = load_segmenter(GetParam(), at::kDouble);
  const at::Tensor out = c.model->forward(c.input);
  (out * noise(1003, out.sizes().vec())).sum().backward();
  expect_gradients_and_statistics(*c.model, c.record, 1004);
}

INSTANTIATE_TEST_SUITE_P(Segmenters, SegmenterOracle,
                         testing::Values("unet_evaluation", "unet_training", "unet_dates_missing",
                                         "hot_release", "hot_release_training", "hot_paper_sum",
                                         "hot_paper_product", "hot_dates_missing"),
                         [](const auto& param) { return std::string(param.param); });

struct Step {
  at::Tensor out;
  std::vector<at::Tensor> gradients;
};

Step training_step(const std::vector<std::string>& settings, const SegmentationShape& shape) {
  const auto model = make_segmenter(config_of(settings), shape, 7);
  model->train();
  nn::set_dropout_step(*model, 7, 3);
  SegmentationInput input{noise(1, {5, shape.times, shape.window, shape.window, shape.bands}).to(at::kFloat),
                          {}};
  if (shape.missing) input.valid = noise(2, {5, shape.times, shape.window, shape.window}).gt(-0.3);
  Step step{model->forward(input), {}};
  (step.out * noise(3, step.out.sizes().vec()).to(at::kFloat)).sum(-1).sum(-1).sum(-1).sum(0).backward();
  for (const at::Tensor& parameter : model->parameters()) step.gradients.push_back(parameter.grad());
  return step;
}

TEST(SegmenterConfig, PaperPresetIsThePapers) {
  const SegmenterConfig config = config_of({"preset=paper"});
  EXPECT_EQ(config.blocks, 6);  // Table 6
  EXPECT_EQ(config.attention.pooling, "sum");
  EXPECT_FALSE(config.head.norm);
  EXPECT_EQ(config_of({"preset=paper", "attention.combine=sum"}).attention.combined(), "mean");
  EXPECT_EQ(config_of({"preset=release"}).blocks, 4);
  EXPECT_TRUE(config_of({"preset=release"}).head.norm);
}

TEST(Segmenters, TrainWithTheSameBitsForAnyNumberOfThreadsAndOverRepeats) {
  const int before = at::get_num_threads();
  const std::vector<std::pair<std::vector<std::string>, SegmentationShape>> all = {
      {{"name=unet", "unet.width=4"}, {1, 5, 3, 64, false}},
      {{"name=unet", "unet.width=8"}, {2, 3, 2, 32, true}},
      {{"name=hot", "layers=2"}, {1, 13, 6, 20, true}},
      {{"name=hot", "layers=1", "attention.combine=sum"}, {3, 5, 3, 28, false}},
      {{"name=hot", "layers=1", "attention.kernel=linear"}, {1, 5, 3, 28, false}},
      {{"name=transformer", "layers=1"}, {1, 7, 2, 20, false}}};
  for (const auto& [settings, shape] : all) {
    at::set_num_threads(1);
    const Step one = training_step(settings, shape);
    for (const int threads : {2, 3}) {
      at::set_num_threads(threads);
      const Step again = training_step(settings, shape);
      EXPECT_TRUE(again.out.equal(one.out)) << settings[0] << " " << threads;
      for (size_t i = 0; i < one.gradients.size(); ++i)
        EXPECT_TRUE(again.gradients[i].equal(one.gradients[i])) << settings[0] << " " << i << " " << threads;
    }
  }
  at::set_num_threads(before);
}

TEST(Segmenters, NeverSeeWhatStandsUnderAPixelThatIsNotValid) {
  for (const char* name : {"hot", "transformer", "unet"})
    for (const bool missing : {false, true}) {
      const SegmentationShape shape{2, 3, 4, 32, missing};
      const auto model = make_segmenter(config_of({std::string("name=") + name}), shape, 1);
      model->eval();
      const at::NoGradGuard no_grad;
      SegmentationInput input{noise(1, {1, 2, 32, 32, 3}).to(at::kFloat), noise(2, {1, 2, 32, 32}).gt(-0.3)};
      const at::Tensor first = model->forward(input);
      input.image = input.image.masked_fill(input.valid.logical_not().unsqueeze(-1), std::nan(""));
      EXPECT_TRUE(model->forward(input).equal(first)) << name;
    }
}

TEST(Segmenters, ReadTheValidPartOfAWindowAsIfTheRestWereNotThere) {
  // The lower rows of patches are invalid: the upper ones give the same result as windows of smaller height.
  // Positions are rotary, so a mode with fewer positions has the same encoding.
  const auto settings = {std::string("name=hot"), std::string("patch.embedding=linear"),
                         std::string("head.skip=none")};
  const auto model = make_segmenter(config_of(settings), {1, 3, 4, 32, false}, 1);
  const auto small = make_segmenter(config_of(settings), {1, 3, 4, 16, false}, 1);
  model->eval();
  small->eval();
  const at::NoGradGuard no_grad;
  const at::Tensor image = noise(1, {1, 1, 32, 32, 3}).to(at::kFloat);
  at::Tensor valid = at::ones({1, 1, 32, 32}, at::kBool);
  valid.narrow(2, 16, 16).fill_(false);
  valid.narrow(3, 16, 16).fill_(false);
  const at::Tensor whole = model->forward({image, valid}).narrow(1, 0, 16).narrow(2, 0, 16);
  const at::Tensor part = small->forward({image.narrow(2, 0, 16).narrow(3, 0, 16).contiguous(), {}});
  EXPECT_LT(largest(whole - part), 1e-5);
}

std::string refusal(const std::vector<std::string>& settings, const SegmentationShape& shape) {
  try {
    make_segmenter(config_of(settings), shape, 1);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::config);
    return error.what();
  }
  return "";
}

TEST(Segmenters, SayWhatDoesNotFit) {
  EXPECT_THAT(refusal({"name=unet"}, {1, 3, 2, 48, false}),
              HasSubstr("window of 48 pixels must be a multiple of 32"));
  EXPECT_THAT(refusal({"name=hot"}, {1, 3, 2, 30, false}), HasSubstr("must be a multiple of 4"));
  EXPECT_THAT(refusal({"name=unet", "layers=3"}, {1, 3, 2, 64, false}),
              HasSubstr("layers = 3 has no effect"));
  EXPECT_THAT(refusal({"name=hot", "unet.width=8"}, {1, 3, 2, 64, false}),
              HasSubstr("unet.width = 8 has no effect"));
  EXPECT_THAT(refusal({"name=transformer", "attention.combine=sum"}, {1, 3, 2, 64, false}),
              HasSubstr("attention.combine = 'sum' has no effect"));
  EXPECT_THAT(refusal({"name=hot", "heads=3"}, {1, 3, 2, 64, false}), HasSubstr("multiple of heads"));
}

TEST(Segmenters, GiveMapsOfEachMode) {
  const auto model = make_segmenter(config_of({"name=hot", "layers=2"}), {3, 2, 2, 20, false}, 1);
  model->eval();
  const auto maps = model->attention({noise(1, {2, 3, 20, 20, 2}).to(at::kFloat), {}}).maps;
  ASSERT_EQ(maps.size(), 2u);
  EXPECT_EQ(maps[0].modes, (std::vector<int64_t>{0, 1, 2}));
  EXPECT_EQ(maps[0].factors[0].sizes(), (at::IntArrayRef{2, 4, 3, 3}));
  EXPECT_EQ(maps[0].factors[1].sizes(), (at::IntArrayRef{2, 4, 5, 5}));
}

}  // namespace
}  // namespace modewise::models
