// Options of each model, and the error message for options that it does not have.

#include "modewise/models/model_choice.h"

#include <gmock/gmock.h>

#include <set>

#include "modewise/models/captioning/captioner.h"
#include "modewise/models/captioning/config.h"
#include "modewise/models/forecasting/config.h"
#include "modewise/models/forecasting/cost.h"
#include "modewise/models/forecasting/forecaster.h"
#include "modewise/models/segmentation/config.h"
#include "modewise/models/segmentation/segmenter.h"
#include "modewise/models/series_classification/config.h"
#include "modewise/models/series_classification/series_classifier.h"
#include "modewise/models/vision/config.h"
#include "modewise/models/vision/vision_classifier.h"
#include "tests/error_of.h"

namespace modewise::models {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

struct Small {
  std::string name = "a";
  int64_t width = 4, window_size = 1, window_step = 2, kernel = 3;

  void fields(Fields& f) {
    f.add("name", name, "");
    f.add("width", width, "");
    f.add("window.size", window_size, "");
    f.add("window.step", window_step, "");
    f.add("b.kernel", kernel, "");
  }
};

using Row = ModelRow<Small, int, int>;

TEST(ModelOptions, AreItsOwnAndTheSharedOnesThatItLists) {
  const Row row{"b", "", {"width", "window"}};
  for (const char* option : {"name", "width", "window.size", "window.step", "b.kernel"})
    EXPECT_TRUE(row.has_option(option)) << option;
  for (const char* option : {"widths", "wid", "windows.size", "width2.size", "bb.kernel", "c.kernel"})
    EXPECT_FALSE(row.has_option(option)) << option;
  const Row bare{"b-2", "", {}};
  EXPECT_TRUE(bare.has_option("name"));
  EXPECT_TRUE(bare.has_option("b-2.kernel"));
  EXPECT_FALSE(bare.has_option("width"));
  EXPECT_FALSE(bare.has_option("b.kernel"));
}

TEST(ModelOptions, OfSeveralListsAreJoined) {
  EXPECT_THAT(joined({{"width", "window"}, {}, {"heads"}}), ElementsAre("width", "window", "heads"));
}

TEST(ModelOptions, OfOtherModelsAreRefusedWithTheirOwners) {
  const std::vector<Row> rows = {{"a", "", {"width"}}, {"b", "", {"window"}}, {"c", "", {"window.step"}}};
  const auto check = [&](const Small& config) {
    Small plain;
    plain.name = config.name;
    check_options(rows, config, plain, "file.toml");
  };
  const auto message = [&](const Small& config) {
    return error_of(ErrorKind::config, [&] { check(config); });
  };
  Small config;
  config.width = 5;
  EXPECT_NO_THROW(check(config));
  config.window_step = 3;
  EXPECT_EQ(
      message(config),
      "file.toml: window.step = 3 has no effect: model 'a' has no such option (it is an option of b, c)");
  config.name = "b";
  EXPECT_EQ(message(config),
            "file.toml: width = 5 has no effect: model 'b' has no such option (it is an option of a)");
  config.width = 4;
  config.kernel = 5;
  EXPECT_NO_THROW(check(config));
  config.name = "c";
  EXPECT_EQ(message(config),
            "file.toml: b.kernel = 5 has no effect: model 'c' has no such option (it is an option of b)");
}

/// Errors in the lists of a registry: options that do not exist, that no model has, and nested under a
/// model's name but had by others.
template <class Config, class Row>
std::vector<std::string> faults_of(const std::vector<Row>& rows) {
  Config config;
  const Fields fields = fields_of(config);
  std::vector<std::string> faults;
  for (const Row& row : rows)
    for (const std::string_view shared : row.shared)
      if (std::ranges::none_of(fields.list(), [&](const Field& f) { return lies_in(f.path, shared); }))
        faults.push_back(row.name + " lists an unknown option: " + std::string(shared));
  for (const Field& field : fields.list()) {
    std::vector<std::string> owners, under;
    for (const Row& row : rows) {
      if (row.has_option(field.path)) owners.push_back(row.name);
      if (field.path != "name" && lies_in(field.path, row.name)) under.push_back(row.name);
    }
    if (owners.empty()) faults.push_back("an option of no model: " + field.path);
    if (!under.empty() && owners != under) faults.push_back("an option of several models: " + field.path);
  }
  return faults;
}

TEST(ModelOptions, OfEveryRegistryExistAndHaveAModel) {
  EXPECT_THAT(faults_of<ForecasterConfig>(forecasters()), IsEmpty());
  // Of the token encoder's options these have no effect on images.
  const std::string embeddings = "an option of no model: position.mode_embeddings",
                    type = "an option of no model: attention.type";
  EXPECT_THAT(faults_of<VisionModelConfig>(vision_models()), ElementsAre(embeddings));
  EXPECT_THAT(faults_of<SegmenterConfig>(segmenters()), ElementsAre(embeddings, type));
  EXPECT_THAT(faults_of<SeriesModelConfig>(series_models()), IsEmpty());
  EXPECT_THAT(faults_of<CaptionModelConfig>(captioners()), IsEmpty());
}

/// The names of the models that have the option.
template <class Row>
std::vector<std::string> owners_of(const std::vector<Row>& rows, std::string_view option) {
  std::vector<std::string> names;
  for (const Row& row : rows)
    if (row.has_option(option)) names.push_back(row.name);
  return names;
}

TEST(ModelOptions, AreOfTheModelsThatUseThem) {
  // Of these models, so that another one needs no line here.
  const std::set<std::string> stated = {
      "hot",   "transformer", "spatial",  "temporal",       "patchtst", "itransformer",    "tide",
      "ridge", "dlinear",     "seasonal", "seasonal-drift", "theta",    "optimised-theta", "dynamic-theta",
      "ets",   "nlinear",     "rlinear",  "repeat",         "ensemble"};
  const auto of = [&](std::string_view option) {
    std::vector<std::string> names = owners_of(forecasters(), option);
    std::erase_if(names, [&](const std::string& name) { return !stated.contains(name); });
    return names;
  };
  EXPECT_THAT(of("attention.combine"), ElementsAre("hot"));
  EXPECT_THAT(of("attention.kernel"), ElementsAre("hot", "transformer"));
  EXPECT_THAT(of("future_covariates.width"),
              ElementsAre("hot", "transformer", "spatial", "temporal", "tide"));
  EXPECT_THAT(of("width"),
              ElementsAre("hot", "transformer", "spatial", "temporal", "patchtst", "itransformer", "tide"));
  EXPECT_THAT(of("window.cycle"), ElementsAre("hot", "transformer", "spatial", "temporal", "patchtst",
                                              "itransformer", "tide", "dlinear", "nlinear", "rlinear"));
  EXPECT_THAT(of("dlinear.kernel"), ElementsAre("dlinear"));
  EXPECT_THAT(of("ridge.penalty"), ElementsAre("ridge"));
  EXPECT_THAT(of("individual"), ElementsAre("dlinear", "nlinear", "rlinear", "ridge"));
  EXPECT_THAT(of("weight_init"), ElementsAre("dlinear", "nlinear"));
  EXPECT_THAT(of("period"),
              ElementsAre("seasonal", "seasonal-drift", "theta", "optimised-theta", "dynamic-theta", "ets"));
  EXPECT_THAT(owners_of(vision_models(), "position.rotary"), ElementsAre("hot", "transformer", "divided"));
  EXPECT_THAT(owners_of(vision_models(), "resnet.width"), ElementsAre("resnet18", "resnet50"));
  EXPECT_THAT(owners_of(vision_models(), "resnet.convolution"), ElementsAre("resnet18", "resnet50"));
  EXPECT_THAT(owners_of(segmenters(), "attention.kernel"), ElementsAre("hot"));
  EXPECT_THAT(owners_of(segmenters(), "time"), ElementsAre("hot", "transformer", "unet"));
  EXPECT_THAT(owners_of(series_models(), "tcn.kernel"), ElementsAre("tcn"));
  EXPECT_THAT(owners_of(series_models(), "convolution.width"), ElementsAre("tcn", "resnet"));
  EXPECT_THAT(owners_of(captioners(), "decoder.attention"), ElementsAre("transformer"));
}

}  // namespace
}  // namespace modewise::models
