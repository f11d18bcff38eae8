// Ensembles of classifiers: probabilities against those of their members, inputs of each member, error
// messages.

#include "modewise/models/class_ensemble.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/tensor.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "modewise/models/series_classification/series_ensemble.h"
#include "modewise/models/vision/config.h"
#include "modewise/models/vision/vision_classifier.h"

namespace modewise::models {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

template <class Config>
std::string member(const std::vector<std::string>& settings, int64_t training_samples = 0) {
  ClassMember<Config> one;
  one.training_samples = training_samples;
  Fields fields = fields_of(one);
  for (const std::string& setting : settings) fields.set("model." + setting);
  return one.to_toml();
}

template <class Config>
Config ensemble_of(const std::vector<std::string>& members) {
  Config config;
  fields_of(config).set("name=ensemble");
  config.ensemble.members = members;
  return config;
}

const SeriesShape kSeries = {2, 17, 3, true, 5};

std::shared_ptr<SeriesClassifier> series_ensemble() {
  return make_series_classifier(
      ensemble_of<SeriesModelConfig>({member<SeriesModelConfig>({"name=dlinear", "dlinear.kernel=3"}),
                                      member<SeriesModelConfig>({"name=nearest"}, 7),
                                      member<SeriesModelConfig>({"name=resnet", "convolution.width=4"})}),
      kSeries, 3);
}

TEST(ClassEnsemble, IsTheWeightedMeanOfItsMembersProbabilities) {
  at::manual_seed(1);
  const at::NoGradGuard no_grad;
  const auto model = series_ensemble();
  auto& ensemble = dynamic_cast<SeriesEnsemble&>(*model);
  ASSERT_EQ(ensemble.members(), 3);
  EXPECT_THAT(ensemble.weights(), ElementsAre(1.0 / 3, 1.0 / 3, 1.0 / 3));
  for (const at::Tensor& parameter : model->parameters()) EXPECT_FALSE(parameter.requires_grad());
  model->eval();
  at::Tensor valid = at::ones({4, 17}, at::kBool);
  valid.narrow(0, 1, 1).narrow(1, 9, 8).fill_(false);
  const ClassifierInput input = {at::randn({4, 2, 17}).masked_fill(valid.logical_not().unsqueeze(1), 0),
                                 valid};
  ensemble.set_weights({0.25, 0, 0.75});
  const auto scores = [&](Classifier& of) { return at::softmax(of.forward(input).to(at::kDouble), -1); };
  const at::Tensor mean = scores(ensemble.member(0)) * 0.25 + scores(ensemble.member(2)) * 0.75;
  EXPECT_LT((scores(*model) - mean).abs().max().item<double>(), 1e-15);
  EXPECT_EQ(model->forward(input).scalar_type(), at::kDouble);
}

TEST(ClassEnsemble, AMemberSeesValuesAsItWasTrainedOnThem) {
  at::manual_seed(2);
  const at::NoGradGuard no_grad;
  const auto model = series_ensemble();
  auto& ensemble = dynamic_cast<SeriesEnsemble&>(*model);
  model->eval();
  ensemble.set_weights({1, 0, 0});
  at::Tensor valid = at::ones({1, 17}, at::kBool);
  valid.narrow(1, 12, 5).fill_(false);
  const at::Tensor values = at::randn({1, 2, 17}).masked_fill(valid.logical_not().unsqueeze(1), 0);
  const at::Tensor as_it_is = model->forward({values, valid});
  ensemble.set_scale(0, {2, 0.5}, {1, -3});
  at::Tensor seen = values.clone();
  seen.select(1, 0).mul_(2).add_(1);
  seen.select(1, 1).mul_(0.5).sub_(3);
  seen = seen.masked_fill(valid.logical_not().unsqueeze(1), 0);  // zero padding
  const at::Tensor wanted = at::softmax(ensemble.member(0).forward({seen, valid}).to(at::kDouble), -1);
  EXPECT_LT((model->forward({values, valid}).exp() - wanted).abs().max().item<double>(), 1e-15);
  EXPECT_FALSE(at::equal(model->forward({values, valid}), as_it_is));
  ensemble.set_scale(0, {1, 1}, {0, 0});
  EXPECT_TRUE(at::equal(model->forward({values, valid}), as_it_is));
}

TEST(ClassEnsemble, OfVolumesKeepsTheirMasks) {
  const VisionShape shape = {{5, 7, 9}, 1, 2, true};
  const auto model = make_vision_classifier(
      ensemble_of<VisionModelConfig>(
          {member<VisionModelConfig>({"width=8", "hidden=8", "heads=2", "patch.size=2"}),
           member<VisionModelConfig>(
               {"name=transformer", "width=8", "hidden=8", "heads=2", "patch.size=4"})}),
      shape, 1);
  const at::NoGradGuard no_grad;
  model->eval();
  at::manual_seed(3);
  const ClassifierInput input = {at::randn({2, 5, 7, 9, 1}), at::randn({2, 5, 7, 9}).gt(-1)};
  const auto& members = dynamic_cast<ClassMembers&>(*model);
  const at::Tensor mean = (at::softmax(members.member(0).forward(input).to(at::kDouble), -1) +
                           at::softmax(members.member(1).forward(input).to(at::kDouble), -1)) /
                          2;
  EXPECT_LT((model->forward(input).exp() - mean).abs().max().item<double>(), 1e-15);
}

TEST(ClassEnsemble, MembersComeBackFromTheirText) {
  const std::string text =
      member<VisionModelConfig>({"name=vit", "width=24", "heads=3", "vit.from=/a 'folder'"}, 11);
  const auto again = ClassMember<VisionModelConfig>::from_toml(text, "text");
  EXPECT_EQ(again.to_toml(), text);
  EXPECT_EQ(again.training_samples, 11);
  EXPECT_EQ(again.model.width, 24);
  EXPECT_EQ(again.model.patch.embedding, "linear");  // the authors' value
  VisionModelConfig config = ensemble_of<VisionModelConfig>({text, text}), read;
  fields_of(read).load_toml(fields_of(config).to_toml(), "config");
  EXPECT_EQ(read.ensemble.members, config.ensemble.members);
}

std::string refusal(const std::vector<std::string>& members) {
  try {
    make_series_classifier(ensemble_of<SeriesModelConfig>(members), kSeries, 1);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::config);
    return error.what();
  }
  ADD_FAILURE() << "nothing was refused";
  return "";
}

TEST(ClassEnsemble, RefusesWhatIsNone) {
  EXPECT_EQ(refusal({}), "model: ensemble.members is empty");
  EXPECT_EQ(refusal({member<SeriesModelConfig>({"name=dlinear"}), "[model]\nname = 'ensemble'\n"}),
            "model: ensemble.members, member 2: an ensemble cannot contain an ensemble");
  EXPECT_THAT(refusal({"[model]\nwidth = 'x'\n"}), HasSubstr("model: ensemble.members, member 1"));
  EXPECT_EQ(refusal({member<SeriesModelConfig>({"patch.length=18", "patch.stride=1"})}),
            "model: ensemble.members, member 1: patch.length = 18 is longer than the series of 17 steps");
  SeriesModelConfig other;
  other.ensemble.picks = 3;
  try {
    validate(other, kSeries);
    ADD_FAILURE() << "nothing was refused";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("ensemble.picks"));
  }
}

}  // namespace
}  // namespace modewise::models
