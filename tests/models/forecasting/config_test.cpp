#include "modewise/models/forecasting/config.h"

#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "modewise/core/error.h"
#include "modewise/models/forecasting/forecaster.h"

namespace modewise::models {
namespace {

using testing::HasSubstr;

std::string rejection(const std::vector<std::string>& settings, ForecastShape shape = {}) {
  if (shape.series.empty()) shape.series = {3};
  ForecasterConfig config;
  Fields fields = fields_of(config);
  for (const auto& setting : settings) fields.set(setting);
  try {
    validate(config, shape, "run.toml");
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::config);
    return error.what();
  }
  return "";
}

TEST(ForecasterConfig, EveryModelIsValidAsItsAuthorsHaveIt) {
  for (const auto& name : names_of(forecasters()))
    EXPECT_EQ(rejection({"name=" + name}), name == "ensemble" ? "run.toml: ensemble.members is empty" : "")
        << name;
  for (const char* preset : {"default", "release", "paper"})
    EXPECT_EQ(rejection({std::string("preset=") + preset}), "") << preset;
}

TEST(ForecasterConfig, PresetsSetTheOptionsInWhichReleaseAndPaperDiffer) {
  ForecasterConfig config;
  Fields fields = fields_of(config);
  fields.set("preset=release");
  EXPECT_EQ(config.feed_forward, "swiglu");
  EXPECT_EQ(config.patch.embedding, "relu_norm");
  EXPECT_TRUE(config.attention.query_key_norm);
  EXPECT_EQ(config.attention.pooling, "sum");
  EXPECT_EQ(config.head.time, "mean");
  EXPECT_TRUE(config.head.norm);
  EXPECT_FALSE(config.attention.normalize_sum);
  EXPECT_EQ(config.width, 128);
  fields.set("preset=paper");
  EXPECT_EQ(config.feed_forward, "gelu");
  EXPECT_EQ(config.patch.embedding, "relu");
  EXPECT_FALSE(config.attention.query_key_norm);
  EXPECT_EQ(config.attention.pooling, "sum");  // g_pool of section 4.2
  EXPECT_FALSE(config.head.norm);              // section 4.3: one linear layer after the mean
  EXPECT_EQ(config.attention.combined(), "product");
  fields.set("attention.combine=sum");
  EXPECT_EQ(config.attention.combined(), "mean");  // Eq. 4
  fields.set("attention.normalize_sum=false");
  EXPECT_EQ(config.attention.combined(), "sum");
}

TEST(ForecasterConfig, SavedConfigReadsBackAsItself) {
  ForecasterConfig config;
  Fields fields = fields_of(config);
  fields.set("name=spatial");
  fields.set("preset=paper");
  fields.set("width=32");
  ForecasterConfig again;
  fields_of(again).load_toml(fields.to_toml(), "saved");
  EXPECT_EQ(fields_of(again).to_toml(), fields.to_toml());
  EXPECT_EQ(again.width, 32);
  EXPECT_EQ(again.feed_forward, "gelu");
}

/// The names of the models that have the option (tests/models/model_choice_test.cpp states some).
std::string owners_of(std::string_view option) {
  std::vector<std::string> names;
  for (const ForecasterRow& row : forecasters())
    if (row.has_option(option)) names.push_back(row.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

TEST(ForecasterConfig, AnOptionThatTheModelDoesNotHaveIsRefused) {
  EXPECT_EQ(rejection({"name=dlinear", "width=32"}),
            "run.toml: width = 32 has no effect: model 'dlinear' has no such option (it is an option of " +
                owners_of("width") + ")");
  EXPECT_THAT(rejection({"name=transformer", "attention.combine=sum"}), HasSubstr("attention.combine"));
  EXPECT_THAT(rejection({"name=patchtst", "position.mode_embeddings=false"}),
              HasSubstr("position.mode_embeddings"));
  EXPECT_THAT(rejection({"name=repeat", "precision=bf16"}), HasSubstr("precision"));
  EXPECT_THAT(rejection({"name=dlinear", "preset=release"}), HasSubstr("preset"));
  for (const char* name : {"name=repeat", "name=seasonal"})
    EXPECT_THAT(rejection({name, "window.cycle=24"}),
                HasSubstr("it is an option of " + owners_of("window.cycle") + ")"));
  EXPECT_THAT(rejection({"period=12"}), HasSubstr("option of seasonal"));
  EXPECT_THAT(rejection({"attention.features=16"}), HasSubstr("no effect with attention.kernel"));
  EXPECT_THAT(rejection({"attention.feature_map=regularised"}), HasSubstr("no effect with attention.kernel"));
  EXPECT_THAT(rejection({"attention.feature_draw=fixed"}), HasSubstr("no effect with attention.kernel"));
  EXPECT_THAT(rejection({"attention.features_redraw_every=5"}), HasSubstr("no effect with attention.kernel"));
  EXPECT_THAT(rejection({"attention.kernel=linear", "attention.feature_draw=fixed",
                         "attention.features_redraw_every=5"}),
              HasSubstr("needs attention.feature_draw = \"seed\", got \"fixed\""));
  EXPECT_THAT(rejection({"name=transformer", "attention.normalize_sum=true"}),
              HasSubstr("attention.normalize_sum = true has no effect: model 'transformer'"));
  EXPECT_EQ(rejection({"attention.kernel=linear", "attention.feature_map=regularised"}), "");
  EXPECT_EQ(rejection({"name=transformer", "attention.kernel=linear", "attention.feature_map=regularised"}),
            "");
  EXPECT_THAT(rejection({"name=spatial", "attention.feature_map=regularised"}),
              HasSubstr("attention.feature_map"));
  EXPECT_THAT(rejection({"attention.kernel=linear", "attention.dropout=0.1"}),
              HasSubstr("never forms the weights"));
}

TEST(ForecasterConfig, ValuesThatDoNotFitTogetherAreRefused) {
  ForecastShape shape;
  shape.series = {2, 3};
  EXPECT_THAT(rejection({"width=60", "heads=8"}), HasSubstr("width = 60 must be a multiple of heads = 8"));
  EXPECT_THAT(rejection({"width=12", "heads=4"}), HasSubstr("even head width"));
  EXPECT_EQ(rejection({"width=12", "heads=4", "position.rotary=none"}), "");
  EXPECT_THAT(rejection({"patch.length=100"}), HasSubstr("longer than the lookback of 96"));
  EXPECT_THAT(rejection({"patch.length=4"}), HasSubstr("patch.stride = 8 is larger than patch.length = 4"));
  EXPECT_THAT(rejection({"attention.attend_modes=[0,3]"}, shape),
              HasSubstr("contains 3, but the tokens have modes 0 to 2"));
  EXPECT_THAT(rejection({"attention.attend_modes=[1,1]"}), HasSubstr("contains 1 twice"));
  EXPECT_EQ(rejection({R"(attention.mode_masks=["none","band:2","causal"])"}, shape), "");
  EXPECT_THAT(rejection({R"(attention.mode_masks=["none","causal"])"}, shape),
              HasSubstr("attention.mode_masks has 2 masks, but the tokens have 3 modes (time last)"));
  EXPECT_THAT(rejection({R"(attention.mode_masks=["none","none","band:-1"])"}, shape),
              HasSubstr("expected none, causal or band:W (positions at most W apart), got \"band:-1\""));
  EXPECT_THAT(
      rejection({R"(attention.mode_masks=["none","none","causal"])", "attention.kernel=linear"}, shape),
      HasSubstr("attention.mode_masks need attention.kernel = \"softmax\""));
  EXPECT_THAT(rejection({"name=dlinear", "dlinear.kernel=4"}), HasSubstr("must be odd"));
  EXPECT_THAT(rejection({"name=seasonal", "period=97"}), HasSubstr("longer than the lookback"));
}

TEST(ForecasterConfig, OnlySomeModelsUseFutureCovariates) {
  ForecastShape shape;
  shape.known = 2;
  for (const char* name : {"hot", "transformer", "spatial", "temporal", "tide", "timesnet", "autoformer",
                           "fedformer", "nonstationary"})
    EXPECT_EQ(rejection({std::string("name=") + name}, shape), "") << name;
  EXPECT_EQ(rejection({"name=dlinear"}, shape),
            "run.toml: data.future_covariates and data.calendar need a model with future covariates (" +
                owners_of("future_covariates.width") +
                ", timesnet, autoformer, fedformer, nonstationary); 'dlinear' has none");
  for (const char* name : {"repeat", "ridge", "ets", "patchtst", "itransformer", "crossformer", "scinet"})
    EXPECT_THAT(rejection({std::string("name=") + name}, shape),
                HasSubstr(std::string("'") + name + "' has none"))
        << name;
  EXPECT_EQ(rejection({"name=tide", "future_covariates.width=2"}, shape),
            "run.toml: future_covariates.width must be at least 3 for tide with future covariates with "
            "tide.norm, got 2");
  EXPECT_THAT(rejection({"name=tide", "future_covariates.width=0", "tide.norm=false"}, shape),
              HasSubstr("future_covariates.width must be at least 1 for tide with future covariates, got 0"));
  EXPECT_EQ(rejection({"name=tide", "future_covariates.width=0"}), "");
  EXPECT_THAT(rejection({"tide.step_width=4"}), HasSubstr("it is an option of tide)"));
}

TEST(ForecasterConfig, ShapesThatMakeNoSenseAreRefused) {
  ForecastShape shape;
  shape.series = {3};
  shape.horizon = 0;
  EXPECT_THAT(rejection({}, shape), HasSubstr("horizon must be at least 1, got 0"));
  shape.horizon = 5;
  shape.lookback = -1;
  EXPECT_THAT(rejection({}, shape), HasSubstr("lookback must be at least 1"));
  shape.lookback = 96;
  shape.series = {3, 0};
  EXPECT_THAT(rejection({}, shape), HasSubstr("at least size 1"));
  shape.series = {3};
  shape.ordered = {true, false};
  EXPECT_THAT(rejection({}, shape), HasSubstr("1 series modes but 2 entries in `ordered`"));
}

}  // namespace
}  // namespace modewise::models
