// Saved configs of runs older than some config keys.

#include "modewise/models/saved_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>

#include "modewise/core/error.h"
#include "modewise/models/forecasting/config.h"
#include "modewise/models/forecasting/ensemble.h"
#include "modewise/models/forecasting/forecaster.h"
#include "modewise/models/segmentation/config.h"
#include "modewise/models/segmentation/segmenter.h"
#include "modewise/models/vision/config.h"
#include "modewise/models/vision/vision_classifier.h"

namespace modewise::models {
namespace {

template <class Config>
struct Root {
  Config model;
  void fields(Fields& f) { f.group("model", model); }
};

/// The saved config of a run older than the keys: all other keys, with the pooling of the paper preset then.
template <class Config>
std::string old_text(const std::vector<std::string>& settings) {
  Root<Config> root;
  Fields fields = fields_of(root);
  for (const std::string& one : settings) fields.set("model." + one);
  std::string text = fields.to_toml();
  text = std::regex_replace(
      text, std::regex("\n(norm|normalize_sum|feature_draw|features_redraw_every) = [^\n]*"), "");
  if (root.model.preset == "paper")
    text = std::regex_replace(text, std::regex("pooling = 'sum'"), "pooling = 'mean'");
  return text;
}

template <class Config>
Config opened(const std::string& text) {
  Root<Config> root;
  Fields fields = fields_of(root);
  load_saved_toml(fields, text, "config.toml");
  return root.model;
}

TEST(SavedConfig, KeysThatItLacksMeanWhatActedThen) {
  const auto hot =
      opened<ForecasterConfig>(old_text<ForecasterConfig>({"preset=paper", "attention.combine=sum"}));
  EXPECT_TRUE(hot.head.norm);
  EXPECT_EQ(hot.attention.combined(), "sum");
  EXPECT_EQ(hot.attention.pooling, "mean");
  EXPECT_EQ(hot.attention.feature_draw, "seed");  // has no effect
  const auto linear = opened<ForecasterConfig>(old_text<ForecasterConfig>({"attention.kernel=linear"}));
  EXPECT_EQ(linear.attention.feature_draw, "fixed");
  EXPECT_EQ(linear.attention.features_redraw_every, 0);
  const auto volumes = opened<VisionModelConfig>(old_text<VisionModelConfig>({"preset=paper"}));
  EXPECT_TRUE(volumes.head.norm);
  const auto scenes = opened<SegmenterConfig>(
      old_text<SegmenterConfig>({"preset=paper", "layers=4", "attention.combine=sum"}));
  EXPECT_TRUE(scenes.head.norm);
  EXPECT_EQ(scenes.blocks, 4);
  EXPECT_EQ(scenes.attention.combined(), "sum");
}

TEST(SavedConfig, OfEveryModelAndPresetIsValid) {
  ForecastShape series;
  series.series = {3};
  for (const char* preset : {"default", "release", "paper"}) {
    const std::string set = std::string("preset=") + preset;
    for (const char* name : {"name=hot", "name=transformer", "name=spatial", "name=temporal"})
      EXPECT_NO_THROW(validate(opened<ForecasterConfig>(old_text<ForecasterConfig>({name, set})), series))
          << name << set;
    for (const char* name : {"name=hot", "name=transformer", "name=divided", "name=pooling-attention"})
      EXPECT_NO_THROW(
          validate(opened<VisionModelConfig>(old_text<VisionModelConfig>({name, set})), VisionShape{}))
          << name << set;
    for (const char* name : {"name=hot", "name=transformer"})
      EXPECT_NO_THROW(
          validate(opened<SegmenterConfig>(old_text<SegmenterConfig>({name, set})), SegmentationShape{}))
          << name << set;
  }
  for (const ForecasterRow& row : forecasters()) {
    if (row.name == "ensemble") continue;
    EXPECT_NO_THROW(
        validate(opened<ForecasterConfig>(old_text<ForecasterConfig>({"name=" + row.name})), series))
        << row.name;
  }
  for (const VisionModelRow& row : vision_models()) {
    if (row.name == "ensemble") continue;
    EXPECT_NO_THROW(
        validate(opened<VisionModelConfig>(old_text<VisionModelConfig>({"name=" + row.name})), VisionShape{}))
        << row.name;
  }
}

TEST(SavedConfig, KeysThatItHasStay) {
  for (const std::vector<std::string>& settings :
       {std::vector<std::string>{"preset=paper", "attention.combine=sum"},
        {"preset=paper", "head.norm=true", "attention.normalize_sum=false"},
        {"attention.kernel=linear", "attention.features_redraw_every=7"},
        {"attention.kernel=linear", "attention.feature_draw=fixed"}}) {
    Root<ForecasterConfig> root;
    Fields fields = fields_of(root);
    for (const std::string& one : settings) fields.set("model." + one);
    ForecasterConfig again = opened<ForecasterConfig>(fields.to_toml());
    EXPECT_EQ(fields_of(again).to_toml(), fields_of(root.model).to_toml());
  }
}

TEST(SavedConfig, OfAnEnsemblesMembersIsReadAlike) {
  const std::string text = "lookback = 96\n" + old_text<ForecasterConfig>({"preset=paper"});
  const EnsembleMember member = EnsembleMember::from_toml(text, "member");
  EXPECT_TRUE(member.model.head.norm);
  EXPECT_EQ(member.model.attention.pooling, "mean");
}

TEST(SavedConfig, NamesWhereItIsNoToml) {
  Root<ForecasterConfig> root;
  Fields fields = fields_of(root);
  EXPECT_THAT([&] { load_saved_toml(fields, "a = ", "run/config.toml"); },
              testing::ThrowsMessage<Error>(testing::HasSubstr("run/config.toml:1:")));
}

}  // namespace
}  // namespace modewise::models
