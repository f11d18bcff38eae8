// Fields of all data configs: names, ranges, choices and paths.

#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "modewise/core/integer_bounds.h"
#include "modewise/data/forecasting/config.h"
#include "modewise/data/image_classification/config.h"
#include "modewise/data/language_modeling/config.h"
#include "modewise/data/segmentation/config.h"
#include "modewise/data/series_classification/config.h"
#include "modewise/data/volume_classification/config.h"
#include "tests/data/scratch.h"

namespace modewise::data {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// "name", "name 0…1" for a range, "name a|b" for a choice, "name path".
template <class Config>
std::vector<std::string> fields_in(Config config) {
  std::vector<std::string> out;
  const Fields fields = fields_of(config);
  for (const Field& field : fields.list()) {
    const auto& [min, max, one_of, is_path] = field.rule;
    std::string text = field.path;
    if (std::isfinite(min) || std::isfinite(max))
      text += fmt::format(" {}…{}", min, max == kAnyInteger ? "2^63" : fmt::format("{}", max));
    if (!one_of.empty()) text += fmt::format(" {}", fmt::join(one_of, "|"));
    if (is_path == always) text += " path";
    out.push_back(text);
  }
  return out;
}

TEST(Config, HoldsTheseFieldsAndRanges) {
  EXPECT_THAT(
      fields_in(ForecastDataConfig()),
      ElementsAre(
          "path path", "format auto|csv|text|npy|npz|folder", "simulate |lorenz96|logistic|seasonal",
          "simulate_rows 1…1000000000", "simulate_seed 0…2^63", "columns", "drop", "future_covariates",
          "static_covariates", "calendar auto|hour|weekday|day|yearday|month",
          "calendar_encoding cyclic|scaled", "categories", "time", "time_column", "time_format", "time_zone",
          "id", "panel auto|yes|no", "split_windows 1…1000", "test_windows -1…1000", "dates strict|rows",
          "calendar_days auto|all|business|observed", "orient auto|columns|rows|periods", "resample",
          "resample_by mean|sum|last", "delimiter", "header auto|yes|no", "header_rows 1…20",
          "decimal auto|.|,", "thousands auto|none|,|.|'|space", "magnitudes", "skip_lines", "missing_texts",
          "missing_values", "start", "step", "array", "time_axis -64…63", "mode_names", "ordered_modes",
          "missing_fraction 0…1", "missing_seed 0…2^63", "split auto|ratio|solar|ett_hour|ett_minute|dates",
          "split_ratios 0…1", "split_dates", "lorenz96.sites 4…100000", "lorenz96.fast 1…1000",
          "lorenz96.forcing -100…100", "lorenz96.coupling -10…10", "lorenz96.amplitude_ratio 0.1…100",
          "lorenz96.time_ratio 0.1…100", "lorenz96.sample_step 1e-06…100", "lorenz96.substeps 1…100000",
          "lorenz96.variables slow_and_mean|all", "lorenz96.noise 0…100", "logistic.sites 3…1000000",
          "logistic.rate 0…4", "logistic.coupling 0…1", "logistic.noise 0…100",
          "seasonal.variables 1…1000000", "seasonal.periods 1.001…inf", "seasonal.amplitudes",
          "seasonal.trend", "seasonal.noise 0…inf", "seasonal.memory -0.999…0.999"));
  EXPECT_THAT(fields_in(CollectionConfig()),
              ElementsAre("path", "train path", "test path", "label", "index", "header auto|yes|no",
                          "decimal auto|.|,", "thousands auto|none|,|.|'|space", "magnitudes",
                          "protocol official|paper|tslib", "validation_share 0.01…0.9", "split_seed 0…2^63",
                          "normalize variable|sample|none", "length 0…inf", "motifs.samples 8…1000000",
                          "motifs.steps 64…16777216", "motifs.variables 1…1024", "motifs.noise 0…1000",
                          "motifs.width 0…8388608", "motifs.shape chirp|tone"));
  EXPECT_THAT(fields_in(SeriesAugmentConfig()),
              ElementsAre("noise 0…100", "scale 0…1", "shift 0…16777216", "erase 0…0.9"));
  EXPECT_THAT(fields_in(TextConfig()),
              ElementsAre("path", "validation path", "test path", "text_field", "allow_binary",
                          "separator auto|endoftext|blank|none", "begin_token auto|yes|no", "end_token",
                          "split auto|documents|cut", "split_ratios 0…1", "split_seed 0…2^63", "shift",
                          "recall.pairs 1…1048576", "recall.length 4…67108864", "recall.distance 0…inf",
                          "recall.questions 0…inf", "recall.repeated", "recall.vocabulary 2…1048576",
                          "recall.samples 1…1073741824", "recall.held_back 1…16777216"));
  EXPECT_THAT(fields_in(SegmentationDataConfig()),
              ElementsAre("path path", "masks path", "layout auto|ssl4eo|folder|scene",
                          "axes auto|hw|hwc|chw|thwc|tchw", "image_suffix", "mask_suffix", "bands 0…65535",
                          "nodata", "classes auto|nlcd|cdl|list", "class_ids", "class_names", "class_colors",
                          "ignore", "ignore_unlisted", "scale standard|divide|none", "divide 1e-12…inf",
                          "split auto|ssl4eo|folders|random|blocks", "validation 0…0.9", "test 0…0.9",
                          "split_seed 0…2^63", "blocks 1…1000", "guard 0…10000", "window 0…4096",
                          "stride 0…65536", "centre 0…65536", "cache_mb 0…1000000", "augment.crop 0.05…1",
                          "augment.stretch 1…4", "augment.flip", "augment.rotate90"));
  EXPECT_THAT(fields_in(VolumeConfig()),
              ElementsAre("path path", "format auto|medmnist|npz|npy|nifti", "images", "labels",
                          "channels auto|none|first|last", "file_column", "label_column", "split_column",
                          "group_column", "strict", "classes", "counts strict|any", "split_ratios 0…1",
                          "validation_share 0…0.9", "split_seed 0…2^63", "validation_seed 0…2^63",
                          "skip_broken 0…inf", "allow_size", "orientation RAS|stored", "size 1…4096",
                          "spacing 0…1000", "missing_values", "intensity auto|unit|range|volume|none",
                          "intensity_range"));
  EXPECT_THAT(
      fields_in(AugmentConfig()),
      ElementsAre("flip_axes 0…15", "rotate90_axes 0…2", "shift 0…1024", "rotate -1…180", "scale 0…0.9",
                  "stretch 0…0.9", "interpolation auto|linear|nearest", "shape_transform", "contrast 0…1",
                  "brightness 0…1000000", "noise 0…1000000", "erase 0…1"));
}

TEST(Config, TakesTheNamesOfBuiltInDataForWhatTheyAre) {
  TextConfig text;
  CollectionConfig collection;
  VolumeConfig volumes;
  const auto absolute = [](auto& config, std::string& field, const std::string& value) {
    field = value;
    fields_of(config).make_paths_absolute();
    return field.starts_with('/');
  };
  EXPECT_FALSE(absolute(text, text.path, "recall"));
  EXPECT_TRUE(absolute(text, text.path, "recalls"));
  EXPECT_FALSE(absolute(collection, collection.path, "motifs"));
  EXPECT_TRUE(absolute(collection, collection.path, "motif"));
  EXPECT_FALSE(absolute(volumes, volumes.labels, "csv"));  // an array of the NPZ
  for (const char* file : {"a.csv", "a.tsv", "a.npy", "a/b"})
    EXPECT_TRUE(absolute(volumes, volumes.labels, file));
  ImageConfig images;
  EXPECT_FALSE(absolute(images, images.labels, "none"));
  EXPECT_TRUE(absolute(images, images.labels, "some.txt"));
}

template <class Config>
std::string refused(const Config& config) {
  return error_of(ErrorKind::config, [&] { config.validate("f.toml"); });
}

TEST(Config, OfScenesMustFitTogether) {
  SegmentationDataConfig config;
  config.validation = config.test = 0.5;
  EXPECT_EQ(refused(config), "f.toml: data.validation = 0.5 and data.test = 0.5 leave nothing to train on");
  config.test = 0.4;
  EXPECT_NO_THROW(config.validate(""));
  for (auto* list : {&config.class_names, &config.class_colors}) {
    *list = {"x"};
    EXPECT_THAT(refused(config), HasSubstr("need data.classes = \"list\", got \"auto\""));
    list->clear();
  }
  config.class_ids = {1};
  EXPECT_THAT(refused(config), HasSubstr("need data.classes = \"list\""));
  config.classes = "list";
  EXPECT_NO_THROW(config.validate(""));
  config.class_ids = {};
  EXPECT_EQ(refused(config), "f.toml: data.classes = \"list\" needs data.class_ids");
  config.classes = "auto";
  for (const size_t count : {1, 3}) {
    config.blocks.assign(count, 4);
    EXPECT_EQ(refused(config),
              fmt::format("f.toml: data.blocks must be rows and columns, got {} numbers", count));
  }
  config.blocks = {4, 5};
  for (const char* number : {"auto", "none", "-9999", "0.5"}) {
    config.nodata = number;
    EXPECT_NO_THROW(config.validate("")) << number;
  }
  for (const char* other : {"", "7x", "any"}) {
    config.nodata = other;
    EXPECT_EQ(refused(config),
              fmt::format("f.toml: data.nodata must be auto, none or a number, got '{}'", other));
  }
}

TEST(Config, OfTextMustFitTogether) {
  TextConfig config;
  config.path = "x";
  config.split_ratios = {0.5, 0.5};
  EXPECT_THAT(refused(config), HasSubstr("must be three numbers (training, validation, test), got 2"));
  for (const auto& ratios : {std::vector<double>{0, 0.5, 0.5}, {0.5, 0.3, 0.21}}) {
    config.split_ratios = ratios;
    EXPECT_THAT(refused(config), HasSubstr("must begin with a number above 0 and sum to at most 1, got "));
  }
  config.split_ratios = {0.7, 0.1, 0.2};  // the sum exceeds 1 by a rounding error
  EXPECT_NO_THROW(config.validate(""));
  config.path = "recall";
  RecallConfig& recall = config.recall;
  recall.pairs = {};
  EXPECT_EQ(refused(config), "f.toml: data.recall.pairs is empty");
  recall.pairs = {2, 5, 3};
  recall.vocabulary = 4;
  recall.distance = 7;
  recall.questions = 0;
  EXPECT_EQ(refused(config),
            "f.toml: data.recall: 5 pairs need as many different keys, but the vocabulary is 4");
  recall.vocabulary = 5;
  recall.length = 27;  // 5 pairs, 7 tokens, the marker, 5 queries with values: 28
  EXPECT_EQ(
      refused(config),
      "f.toml: data.recall: 5 pairs, a distance of 7 and 5 queries need 28 tokens, but the length is 27");
  recall.length = 28;
  EXPECT_NO_THROW(config.validate(""));
  recall.repeated = false;
  recall.questions = 9;
  EXPECT_EQ(recall.asked(5), 5);
  EXPECT_EQ(recall.asked(12), 9);
  recall.repeated = true;
  EXPECT_EQ(recall.asked(5), 9);
}

}  // namespace
}  // namespace modewise::data
