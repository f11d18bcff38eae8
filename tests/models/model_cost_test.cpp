// Cost of models by formula against the built models: each weight of a linear layer or convolution, and each
// scale of a normalisation, is multiplied once at every position where its layer is applied.

#include <gtest/gtest.h>

#include <functional>

#include "modewise/models/class_ensemble.h"
#include "modewise/models/language_modeling/cost.h"
#include "modewise/models/language_modeling/language_model.h"
#include "modewise/models/segmentation/cost.h"
#include "modewise/models/series_classification/cost.h"
#include "modewise/models/vision/cost.h"
#include "tests/models/noise_oracle.h"

namespace modewise::models {
namespace {

int64_t parameters_of(const torch::nn::Module& module) {
  int64_t count = 0;
  for (const at::Tensor& parameter : module.parameters()) count += parameter.numel();
  return count;
}

/// Number of positions at which the layer of parameter `name` is applied; 0 without multiplications.
using Places = std::function<double(const std::string& name)>;

/// Weights and normalisation scales times their positions; biases are only added.
double weights_times_places(const torch::nn::Module& module, const Places& places) {
  double sum = 0;
  for (const auto& item : module.named_parameters())
    if (!item.key().ends_with("bias")) sum += static_cast<double>(item.value().numel()) * places(item.key());
  return sum;
}

bool holds(const std::string& name, const char* part) {
  return name.find(part) != std::string::npos;
}

class VolumeParameters : public testing::TestWithParam<std::vector<std::string>> {};

TEST_P(VolumeParameters, AreThoseOfTheBuiltModel) {
  std::vector<std::string> settings = GetParam();
  const bool tokens = !settings.front().starts_with("name=resnet");
  if (tokens) settings.insert(settings.end(), {"width=24", "hidden=20", "layers=2", "heads=2"});
  if (!tokens) settings.push_back("resnet.width=4");
  const auto config = configured<VisionModelConfig>(settings);
  const VisionShape shape{{17, 9, 12}, 2, 3, false};
  EXPECT_EQ(vision_classifier_cost(config, shape).parameters(),
            parameters_of(*make_vision_classifier(config, shape, 1)));
}

INSTANTIATE_TEST_SUITE_P(
    Every, VolumeParameters,
    testing::Values(std::vector<std::string>{"name=hot"},
                    std::vector<std::string>{"name=hot", "patch.embedding=relu_norm", "patch.size=[4, 3, 5]",
                                             "head.pooling=flatten"},
                    std::vector<std::string>{"name=transformer", "patch.size=8"},
                    std::vector<std::string>{"name=divided", "head.pooling=mean"},
                    std::vector<std::string>{"name=pooling-attention", "patch.embedding=linear"},
                    std::vector<std::string>{"preset=paper"},
                    std::vector<std::string>{"name=vit", "patch.size=5"},
                    std::vector<std::string>{"name=resnet18"}, std::vector<std::string>{"name=resnet50"},
                    std::vector<std::string>{"name=resnet18", "resnet.convolution=acs"},
                    std::vector<std::string>{"name=resnet50", "resnet.convolution=2.5d"}));

TEST(VolumeCost, OfViTIsThePapers) {
  // ViT-B/16 on 224² with 1000 classes, without the pre-logits layer: "86M"; by hand 86,567,656.
  const auto config = configured<VisionModelConfig>(
      {"name=vit", "width=768", "hidden=3072", "layers=12", "heads=12", "patch.size=16"});
  EXPECT_EQ(vision_classifier_cost(config, {{224, 224}, 3, 1000, false}).parameters(), 86567656);
}

TEST(VolumeCost, OfAResidualNetworkCountsEachStageAtItsPlaces) {
  for (const char* convolution : {"3d", "2.5d", "acs"}) {
    const auto config = configured<VisionModelConfig>(
        {"name=resnet18", "resnet.width=4", std::string("resnet.convolution=") + convolution});
    const VisionShape shape{{8, 8, 8}, 2, 3, false};
    const auto model = make_vision_classifier(config, shape, 1);
    const double wanted = weights_times_places(*model, [](const std::string& name) {
      if (holds(name, "layer2")) return 64.0;
      if (holds(name, "layer3")) return 8.0;
      return holds(name, "layer4") || name.starts_with("linear") ? 1.0 : 512.0;
    });
    EXPECT_DOUBLE_EQ(vision_classifier_cost(config, shape).multiply_adds(), wanted) << convolution;
  }
}

TEST(SegmenterCost, OfAUNetCountsEachStageAtItsPlaces) {
  const auto config = configured<SegmenterConfig>({"name=unet", "unet.width=8"});
  const SegmentationShape shape{2, 3, 4, 64, true};
  const auto model = make_segmenter(config, shape, 1);
  const double wanted = weights_times_places(*model, [](const std::string& name) {
    double side = name.starts_with("segmentation_head") ? 64 : 32;
    for (int i = 1; i <= 4; ++i)
      if (holds(name, ("layer" + std::to_string(i)).c_str())) side = 32 >> i;
    for (int i = 0; i < 5; ++i)
      if (holds(name, ("blocks." + std::to_string(i) + ".").c_str())) side = 4 << i;
    return side * side;
  });
  EXPECT_EQ(segmenter_cost(config, shape).parameters(), parameters_of(*model));
  EXPECT_DOUBLE_EQ(segmenter_cost(config, shape).multiply_adds(), wanted);
}

TEST(SegmenterCost, OfTokensHasTheParametersOfTheBuiltModel) {
  for (const char* name : {"hot", "transformer"})
    for (const char* time : {"mode", "stack"})
      for (const char* skip : {"none", "pixel"}) {
        const auto config =
            configured<SegmenterConfig>({"name=" + std::string(name), "time=" + std::string(time),
                                         "head.skip=" + std::string(skip), "width=24", "heads=2"});
        const SegmentationShape shape{3, 5, 4, 16, true};
        const auto model = make_segmenter(config, shape, 1);
        const nn::ModelCost cost = segmenter_cost(config, shape);
        EXPECT_EQ(cost.parameters(), parameters_of(*model)) << name << " " << time << " " << skip;
        EXPECT_EQ(cost.tokens, scene_tokens(config, shape).sizes);
      }
}

TEST(SeriesCost, HasTheParametersOfTheBuiltModel) {
  for (const std::vector<std::string>& settings : std::vector<std::vector<std::string>>{
           {"name=patchtst"},
           {"name=patchtst", "patch.channels=independent", "head.pooling=flatten"},
           {"name=patchtst", "attention.type=summary", "attention.fold=[0, 3, 2]",
            "attention.summary_tokens=2"},
           {"name=patchtst", "attention.type=axial", "attention.order=1"},
           {"name=patchtst", "attention.type=window", "attention.window=3"},
           {"name=patchtst", "attention.type=linformer", "attention.projected=3"},
           {"name=patchtst", "attention.type=performer"},
           {"name=patchtst", "attention.type=nystroemformer", "attention.kernel=5"},
           {"name=patchtst", "attention.type=reformer", "attention.chunk=3"},
           {"name=dlinear"},
           {"name=tcn", "convolution.width=5"},
           {"name=resnet", "convolution.width=5"},
           {"name=shapelet-forest"},
           {"name=minirocket"},
           {"name=nearest"}})
    for (const bool padded : {false, true}) {
      const SeriesShape shape{3, 77, 4, padded && settings.front() != "name=nearest", 10};
      const auto config = configured<SeriesModelConfig>(settings);
      EXPECT_EQ(series_cost(config, shape).parameters(),
                parameters_of(*make_series_classifier(config, shape, 1)))
          << settings.front() << " " << settings.back();
    }
}

TEST(EnsembleCost, IsThatOfItsMembers) {
  ClassMember<SeriesModelConfig> linear{0, configured<SeriesModelConfig>({"name=dlinear"})},
      nearest{31, configured<SeriesModelConfig>({"name=nearest"})};
  auto both = configured<SeriesModelConfig>({"name=ensemble"});
  both.ensemble.members = {linear.to_toml(), nearest.to_toml()};
  SeriesShape shape = {3, 33, 2, false, 7};
  const nn::ModelCost of_linear = series_cost(linear.model, shape), all = series_cost(both, shape);
  EXPECT_EQ(all.parameters(), of_linear.parameters());
  EXPECT_EQ(all.multiply_adds(), of_linear.multiply_adds() + 31 * 3 * 33);
  EXPECT_EQ(all.activation_bytes, 0);
}

TEST(SeriesCost, CountsEachLayerAtItsPlaces) {
  const SeriesShape shape{3, 77, 4, false, 10};
  const auto count = [&](const char* name, const Places& places) {
    const auto config = configured<SeriesModelConfig>({"name=" + std::string(name), "convolution.width=5"});
    EXPECT_DOUBLE_EQ(series_cost(config, shape).multiply_adds(),
                     weights_times_places(*make_series_classifier(config, shape, 1), places))
        << name;
  };
  count("resnet", [](const std::string& at) { return at.starts_with("linear") ? 1.0 : 77.0; });
  // Kernel 7: the last step depends on 7 steps after the third level's first convolution and on 13 before it,
  // which depend on 31 and 37 of the second level's, and those on all of the first's.
  count("tcn", [](const std::string& at) {
    if (at.ends_with("length")) return 0.0;
    if (holds(at, "levels.0.conv1")) return 77.0;
    if (holds(at, "levels.0.")) return 37.0;
    if (holds(at, "levels.1.conv1")) return 31.0;
    if (holds(at, "levels.1.conv2")) return 13.0;
    return holds(at, "levels.2.conv1") ? 7.0 : 1.0;
  });
  // 9 tokens of 16 steps by 8; the head scores and weighs them.
  const auto config = configured<SeriesModelConfig>({"patch.length=16", "patch.stride=8"});
  const double wanted =
      weights_times_places(*make_series_classifier(config, shape, 1),
                           [](const std::string& at) {
                             return holds(at, "positions") ? 0.0 : at == "head.2.weight" ? 1.0 : 9.0;
                           }) +
      2 * 2 * 9 * 9 * 64 + 9 * 64;
  EXPECT_DOUBLE_EQ(series_cost(config, shape).multiply_adds(), wanted);
  EXPECT_EQ(series_cost(config, shape).tokens, std::vector<int64_t>{9});
}

TEST(SeriesCost, SaysTheShareOfTheWeights) {
  const SeriesShape shape{1, 136, 2, false, 10};  // 16 tokens
  const auto share = [&](const std::vector<std::string>& settings) {
    return series_cost(configured<SeriesModelConfig>(settings), shape).weight_share;
  };
  EXPECT_DOUBLE_EQ(share({}), 1);
  EXPECT_DOUBLE_EQ(share({"attention.type=axial"}), 0.5);
  EXPECT_DOUBLE_EQ(share({"attention.type=axial", "attention.order=1"}), 0.5);
  EXPECT_DOUBLE_EQ(share({"attention.type=axial", "attention.order=1", "attention.fold=[4]"}), 0.25);
  EXPECT_DOUBLE_EQ(share({"attention.type=axial", "attention.fold=[4, 2, 2]"}), 0.5);
  EXPECT_DOUBLE_EQ(share({"attention.type=axial", "attention.fold=[2, 4]", "attention.order=2"}), 0.375);
}

TEST(LanguageCost, CountsEachLayerAtEveryTokenAndThePairsOfItsAttention) {
  for (const bool tied : {false, true}) {
    auto config = configured<LanguageModelConfig>({"width=24", "hidden=40", "layers=2", "heads=4",
                                                   "kv_heads=2", "context=10", "vocabulary=50",
                                                   "attention.type=summary", "attention.fold=[0, 3]",
                                                   "attention.window=4", "attention.summary_tokens=2"});
    config.tied = tied;
    const auto model = make_language_model(config, 1);
    // Windows of 1, 2, 3, 4 …: 34 pairs; two summary tokens of each of the 0, 0, 0, 1, 1, 1, 2, 2, 2, 3
    // earlier blocks: 24; two latents over the three tokens of three blocks: 18.
    const double pairs = 34 + 24 + 18;
    const double wanted = weights_times_places(*model,
                                               [&](const std::string& name) {
                                                 if (holds(name, "latents")) return 0.0;
                                                 return holds(name, "embed_tokens") && !tied ? 0.0 : 10.0;
                                               }) +
                          2 * (2 * pairs * 24 + 10 * 40);
    const nn::ModelCost cost = language_cost(config);
    EXPECT_EQ(cost.parameters(), parameters_of(*model));
    EXPECT_DOUBLE_EQ(cost.multiply_adds(), wanted);
  }
}

}  // namespace
}  // namespace modewise::models
