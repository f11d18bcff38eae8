// Whether a config makes sense for a shape, and whether the chosen model has the options that were changed.

#include <algorithm>
#include <string_view>

#include "modewise/core/error.h"
#include "modewise/models/forecast/config.h"
#include "modewise/models/forecast/forecaster.h"
#include "modewise/models/forecast/token_forecaster.h"

namespace modewise::models {
namespace {

bool is_one_of(std::string_view value, std::initializer_list<std::string_view> list) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

/// Whether model `name` has the option `path` (of a ForecasterConfig alone).
bool forecaster_has(std::string_view name, std::string_view path) {
  if (path == "name") return true;
  if (path.starts_with("window.cycle")) return name != "seasonal" && name != "repeat";  // these learn nothing
  if (is_token_model(name)) {
    if (path.starts_with("baseline.")) return false;
    const bool of_factors = is_one_of(
        path, {"attention.combine", "attention.pooling", "attention.share_modes", "attention.attend_modes",
               "attention.kernel", "attention.features", "attention.feature_map"});
    const bool of_features =
        is_one_of(path, {"attention.kernel", "attention.features", "attention.feature_map"});
    return name == "hot" || !of_factors || (name == "transformer" && of_features);
  }
  if (name == "patchtst")
    return is_one_of(
        path, {"precision", "width", "hidden", "blocks", "heads", "dropout", "window.centre", "window.scale",
               "window.affine", "patch.length", "patch.stride", "attention.dropout", "head.dropout"});
  if (name == "itransformer")
    return is_one_of(path, {"precision", "width", "hidden", "blocks", "heads", "dropout", "window.centre",
                            "window.scale", "window.affine"});
  if (name == "dlinear") return is_one_of(path, {"baseline.kernel", "baseline.individual", "baseline.start"});
  if (name == "nlinear") return is_one_of(path, {"baseline.individual", "baseline.start"});
  if (name == "rlinear") return is_one_of(path, {"baseline.individual", "dropout", "window.affine"});
  if (name == "seasonal") return path == "baseline.period";
  return false;
}

void check_shape(const ForecastShape& shape, const std::string& source) {
  require(!shape.series.empty(), ErrorKind::config, "{}: a forecaster needs at least one series mode",
          source);
  for (int64_t size : shape.series)
    require(size >= 1, ErrorKind::config, "{}: a series mode must hold at least one place, got {}", source,
            size);
  require(shape.ordered.empty() || shape.ordered.size() == shape.series.size(), ErrorKind::config,
          "{}: {} series modes but {} statements of their order", source, shape.series.size(),
          shape.ordered.size());
  require(shape.lookback >= 1, ErrorKind::config, "{}: lookback must be at least 1, got {}", source,
          shape.lookback);
  require(shape.horizon >= 1, ErrorKind::config, "{}: horizon must be at least 1, got {}", source,
          shape.horizon);
  require(shape.quantiles >= 0, ErrorKind::config, "{}: the number of quantiles must be at least 0, got {}",
          source, shape.quantiles);
}

void check_patches(const ForecasterConfig& config, const ForecastShape& shape, const std::string& source) {
  require(config.patch.length <= shape.lookback, ErrorKind::config,
          "{}: patch.length = {} is longer than the lookback of {} rows", source, config.patch.length,
          shape.lookback);
  require(config.patch.stride <= config.patch.length, ErrorKind::config,
          "{}: patch.stride = {} is larger than patch.length = {}: rows between patches would be lost",
          source, config.patch.stride, config.patch.length);
}

void check_heads(const ForecasterConfig& config, const std::string& source) {
  require(config.width % config.heads == 0, ErrorKind::config,
          "{}: width = {} must be a multiple of heads = {}", source, config.width, config.heads);
}

void check_token_model(const ForecasterConfig& config, const ForecastShape& shape,
                       const std::string& source) {
  check_patches(config, shape, source);
  validate_encoder(config, token_shape(config, shape), source);
}

}  // namespace

void validate(const ForecasterConfig& config, const ForecastShape& shape, const std::string& source) {
  check_options(config, is_token_model(config.name), forecaster_names(), forecaster_has, source);
  check_shape(shape, source);
  if (is_token_model(config.name)) check_token_model(config, shape, source);
  if (config.name == "patchtst") {
    check_patches(config, shape, source);
    check_heads(config, source);
  }
  if (config.name == "itransformer") check_heads(config, source);
  if (config.name == "dlinear")
    require(config.baseline.kernel % 2 == 1, ErrorKind::config, "{}: baseline.kernel must be odd, got {}",
            source, config.baseline.kernel);
  if (config.name == "seasonal")
    require(config.baseline.period <= shape.lookback, ErrorKind::config,
            "{}: baseline.period = {} is longer than the lookback of {} rows", source, config.baseline.period,
            shape.lookback);
}

}  // namespace modewise::models
