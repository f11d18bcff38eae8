// Every classifier of series, and what its config and the series must be.

#include <fmt/ranges.h>

#include "modewise/core/error.h"
#include "modewise/models/labelled_series/baselines.h"
#include "modewise/models/labelled_series/config.h"
#include "modewise/models/labelled_series/convolutions.h"
#include "modewise/models/labelled_series/patch_classifier.h"

namespace modewise::models {
namespace {

void check_fold(const SeriesAttentionConfig& a, int64_t tokens, const std::string& source) {
  a.validate(source);
  double cells = 1;
  for (const int64_t size : a.fold) cells *= static_cast<double>(size);
  const bool grows = a.fold.empty() || a.fold.front() == 0;
  require(grows || cells >= static_cast<double>(tokens), ErrorKind::config,
          "{}: attention.fold [{}] holds {} tokens, but the series has {}; a first size of 0 grows with it",
          source, fmt::join(a.fold, ", "), cells, tokens);
}

void check_patches(const SeriesModelConfig& config, const SeriesShape& shape, const std::string& source) {
  require(config.width % config.heads == 0, ErrorKind::config,
          "{}: width = {} must be a multiple of heads = {}", source, config.width, config.heads);
  require(config.patch.stride <= config.patch.length, ErrorKind::config,
          "{}: patch.stride = {} leaves steps out between patches of patch.length = {}", source,
          config.patch.stride, config.patch.length);
  require(config.patch.length <= shape.length, ErrorKind::config,
          "{}: patch.length = {} is longer than the series of {} steps", source, config.patch.length,
          shape.length);
  check_fold(config.attention, config.tokens(shape.length), source);
  require(
      config.attention.form != "pooled" || !shape.padded, ErrorKind::config,
      "{}: attention.form = \"pooled\" has weights that all fibres share, so that it cannot leave out the "
      "padding of shorter cases; axial, causal and full can",
      source);
}

std::shared_ptr<SeriesClassifier> make_nearest(const SeriesModelConfig& /*config*/, const SeriesShape& shape,
                                               nn::Initializer& /*init*/) {
  return std::make_shared<NearestCase>(shape);
}

}  // namespace

const std::vector<SeriesModelRow>& series_models() {
  static const std::vector<SeriesModelRow> rows = {
      {"patchtst",
       "",
       {.without = {"convolution.*", "linear.*"}},
       make_model<PatchClassifier>,
       nullptr,
       check_patches},
      {"nearest", "", {.only = {}}, make_nearest},
      {"dlinear", "", {.only = {"linear.*"}}, make_model<LinearClassifier>},
      {"tcn", "", {.only = {"precision", "dropout", "convolution.*"}}, make_model<TemporalConvolutions>},
      {"resnet", "", {.only = {"precision", "convolution.width"}}, make_model<SeriesResidualNetwork>},
  };
  return rows;
}

void validate(const SeriesModelConfig& config, const SeriesShape& shape, const std::string& source) {
  SeriesModelConfig plain;
  plain.name = config.name;
  check_options(series_models(), config, plain, source);
  require(shape.variables >= 1 && shape.length >= 1 && shape.classes >= 2, ErrorKind::config,
          "{}: a classifier needs series and at least 2 classes, got {}", source, shape.classes);
  require(config.linear.kernel % 2 == 1, ErrorKind::config, "{}: linear.kernel must be odd, got {}", source,
          config.linear.kernel);
  if (const auto check = row_of(series_models(), config.name).check) check(config, shape, source);
}

std::shared_ptr<SeriesClassifier> make_series_classifier(const SeriesModelConfig& config,
                                                         const SeriesShape& shape, uint64_t seed) {
  validate(config, shape);
  nn::Initializer init(seed);
  return row_of(series_models(), config.name).make(config, shape, init);
}

}  // namespace modewise::models
