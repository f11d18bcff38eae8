// Registry of series classifiers, with their checks of config and series shape.

#include "modewise/core/error.h"
#include "modewise/models/series_classification/baselines.h"
#include "modewise/models/series_classification/config.h"
#include "modewise/models/series_classification/convolutions.h"
#include "modewise/models/series_classification/cost.h"
#include "modewise/models/series_classification/minirocket.h"
#include "modewise/models/series_classification/patch_classifier.h"
#include "modewise/models/series_classification/series_ensemble.h"
#include "modewise/models/series_classification/shapelet_forest.h"

namespace modewise::models {
namespace {

void check_patches(const SeriesModelConfig& config, const SeriesShape& shape, const std::string& source) {
  require(config.width % config.heads == 0, ErrorKind::config,
          "{}: width = {} must be a multiple of heads = {}", source, config.width, config.heads);
  require(config.patch.stride <= config.patch.length, ErrorKind::config,
          "{}: patch.stride = {} skips steps between patches of patch.length = {}", source,
          config.patch.stride, config.patch.length);
  require(config.patch.length <= shape.length, ErrorKind::config,
          "{}: patch.length = {} is longer than the series of {} steps{}", source, config.patch.length,
          shape.length,
          source == "model" ? ": set model.patch.length to at most that, and model.patch.stride to at most "
                              "model.patch.length"
                            : "");
  config.attention.validate(source, config.tokens(shape.length));
}

void check_kernel(const SeriesModelConfig& config, const SeriesShape& /*shape*/, const std::string& source) {
  require(config.dlinear.kernel % 2 == 1, ErrorKind::config, "{}: dlinear.kernel must be odd, got {}", source,
          config.dlinear.kernel);
}

void check_forest(const SeriesModelConfig& config, const SeriesShape& /*shape*/, const std::string& source) {
  require(config.shapelet_forest.shortest <= config.shapelet_forest.longest, ErrorKind::config,
          "{}: shapelet-forest.shortest = {} is above shapelet-forest.longest = {}", source,
          config.shapelet_forest.shortest, config.shapelet_forest.longest);
}

void check_rocket(const SeriesModelConfig& /*config*/, const SeriesShape& shape, const std::string& source) {
  require(shape.length >= kRocketTaps, ErrorKind::config,
          "{}: minirocket's kernels are {} steps long, but the series have {}", source, kRocketTaps,
          shape.length);
}

std::shared_ptr<SeriesClassifier> make_nearest(const SeriesModelConfig& /*config*/, const SeriesShape& shape,
                                               nn::Initializer& /*init*/) {
  return std::make_shared<NearestNeighbor>(shape);
}

}  // namespace

const std::vector<SeriesModelRow>& series_models() {
  static const std::vector<SeriesModelRow> rows = {
      {"patchtst",
       "",
       {"precision", "width", "hidden", "layers", "heads", "dropout", "patch", "attention", "head"},
       make_model<PatchClassifier>,
       patch_classifier_cost,
       nullptr,
       check_patches},
      {"nearest", "", {}, make_nearest, nearest_neighbor_cost},
      {"dlinear", "", {}, make_model<LinearClassifier>, linear_classifier_cost, nullptr, check_kernel},
      {"tcn",
       "",
       {"precision", "dropout", "convolution"},
       make_model<TemporalConvolutions>,
       temporal_convolutions_cost},
      {"resnet",
       "",
       {"precision", "convolution"},
       make_model<SeriesResidualNetwork>,
       series_residual_network_cost},
      {"shapelet-forest", "", {}, make_model<ShapeletForest>, shapelet_forest_cost, nullptr, check_forest},
      {"minirocket", "", {}, make_model<MiniRocket>, minirocket_cost, nullptr, check_rocket},
      {"ensemble",
       "",
       {},
       make_model<SeriesEnsemble>,
       members_cost<series_cost>,
       nullptr,
       check_members<SeriesModelConfig, SeriesShape>},
  };
  return rows;
}

bool learns_in_steps(const SeriesModelConfig& config) {
  return config.name != "nearest" && config.name != "shapelet-forest" && config.name != "minirocket";
}

void validate(const SeriesModelConfig& config, const SeriesShape& shape, const std::string& source) {
  SeriesModelConfig plain;
  plain.name = config.name;
  check_options(series_models(), config, plain, source);
  require(shape.variables >= 1 && shape.length >= 1 && shape.classes >= 2, ErrorKind::config,
          "{}: a classifier needs series and at least 2 classes, got {}", source, shape.classes);
  if (const auto check = row_of(series_models(), config.name).check) check(config, shape, source);
}

std::shared_ptr<SeriesClassifier> make_series_classifier(const SeriesModelConfig& config,
                                                         const SeriesShape& shape, uint64_t seed) {
  validate(config, shape);
  nn::Initializer init(seed);
  return row_of(series_models(), config.name).make(config, shape, init);
}

}  // namespace modewise::models
