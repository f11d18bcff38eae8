// Registry of forecasters, with their checks of config and data shape.

#include <fmt/ranges.h>

#include <algorithm>

#include "modewise/core/error.h"
#include "modewise/models/forecasting/config.h"
#include "modewise/models/forecasting/cost.h"
#include "modewise/models/forecasting/ensemble.h"
#include "modewise/models/forecasting/ets.h"
#include "modewise/models/forecasting/forecaster.h"
#include "modewise/models/forecasting/itransformer.h"
#include "modewise/models/forecasting/linear_forecasters.h"
#include "modewise/models/forecasting/naive_forecasters.h"
#include "modewise/models/forecasting/patchtst.h"
#include "modewise/models/forecasting/ridge_forecaster.h"
#include "modewise/models/forecasting/theta_forecaster.h"
#include "modewise/models/forecasting/tide.h"
#include "modewise/models/forecasting/token_forecaster.h"

namespace modewise::models {
namespace {

void check_shape(const ForecastShape& shape, const std::string& source) {
  require(!shape.series.empty(), ErrorKind::config, "{}: a forecaster needs at least one series mode",
          source);
  for (int64_t size : shape.series)
    require(size >= 1, ErrorKind::config, "{}: a series mode must have at least size 1, got {}", source,
            size);
  require(shape.ordered.empty() || shape.ordered.size() == shape.series.size(), ErrorKind::config,
          "{}: {} series modes but {} entries in `ordered`", source, shape.series.size(),
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
          "{}: patch.stride = {} is larger than patch.length = {}: rows between patches would be skipped",
          source, config.patch.stride, config.patch.length);
}

void check_heads(const ForecasterConfig& config, const ForecastShape& /*shape*/, const std::string& source) {
  require(config.width % config.heads == 0, ErrorKind::config,
          "{}: width = {} must be a multiple of heads = {}", source, config.width, config.heads);
}

void check_token_model(const ForecasterConfig& config, const ForecastShape& shape,
                       const std::string& source) {
  check_patches(config, shape, source);
  validate_encoder(config, token_shape(config, shape), source);
}

void check_patchtst(const ForecasterConfig& config, const ForecastShape& shape, const std::string& source) {
  check_patches(config, shape, source);
  check_heads(config, shape, source);
}

void check_kernel(const ForecasterConfig& config, const ForecastShape& /*shape*/, const std::string& source) {
  require(config.dlinear.kernel % 2 == 1, ErrorKind::config, "{}: dlinear.kernel must be odd, got {}", source,
          config.dlinear.kernel);
}

void check_period(const ForecasterConfig& config, const ForecastShape& shape, const std::string& source) {
  require(config.season() <= shape.lookback, ErrorKind::config,
          "{}: period = {} is longer than the lookback of {} rows", source, config.season(), shape.lookback);
}

void check_ets(const ForecasterConfig& config, const ForecastShape& shape, const std::string& source) {
  if (config.ets.form == "auto") return;
  const SmoothingForm form = smoothing_form(config.ets.form, source);
  const int64_t period = config.season();
  require(!form.has_season() || (period > 1 && shape.lookback >= min_rows(form, period)), ErrorKind::config,
          "{}: ets.form = \"{}\" with period = {} needs a period of at least 2 and a lookback "
          "of at least {} rows, "
          "got {}",
          source, config.ets.form, period, min_rows(form, period), shape.lookback);
}

void check_tide(const ForecasterConfig& config, const ForecastShape& shape, const std::string& source) {
  // LayerNorm over two values keeps only their order, over one value nothing.
  const int64_t minimum = config.tide.norm ? 3 : 1;
  require(shape.known == 0 || config.known.width >= minimum, ErrorKind::config,
          "{}: future_covariates.width must be at least {} for tide with future covariates{}, got {}", source,
          minimum, config.tide.norm ? " with tide.norm" : "", config.known.width);
}

/// Only some models support future covariates; an ensemble does if its members do.
void check_known(const ForecasterConfig& config, const ForecastShape& shape, const std::string& source) {
  if (shape.known == 0 || config.name == "ensemble") return;
  std::vector<std::string> names;
  for (const ForecasterRow& row : forecasters())
    if (uses_future_covariates(row)) names.push_back(row.name);
  require(
      std::find(names.begin(), names.end(), config.name) != names.end(), ErrorKind::config,
      "{}: data.future_covariates and data.calendar need a model with future covariates ({}); '{}' has none",
      source, fmt::join(names, ", "), config.name);
}

void check_ensemble(const ForecasterConfig& config, const ForecastShape& shape, const std::string& source) {
  require(!config.ensemble.members.empty(), ErrorKind::config, "{}: ensemble.members is empty", source);
  for (size_t i = 0; i < config.ensemble.members.size(); ++i) {
    const std::string place = fmt::format("{}: ensemble.members, member {}", source, i + 1);
    const EnsembleMember member = EnsembleMember::from_toml(config.ensemble.members[i], place);
    require(member.model.name != "ensemble", ErrorKind::config, "{}: an ensemble cannot contain an ensemble",
            place);
    require(member.lookback <= shape.lookback, ErrorKind::config,
            "{}: its lookback of {} rows exceeds the ensemble's, {}", place, member.lookback, shape.lookback);
    ForecastShape of_member = shape;
    of_member.lookback = member.lookback;
    validate(member.model, of_member, place);
  }
}

void use_patchtst(ForecasterConfig& config) {
  config.width = 128;
  config.hidden = 256;
  config.blocks = 3;
  config.heads = 16;
  config.dropout = 0.2;
  config.feed_forward = "gelu";
}

void use_itransformer(ForecasterConfig& config) {
  config.width = 512;
  config.hidden = 512;
  config.heads = 8;
  config.feed_forward = "gelu";
}

/// Sizes within the authors' search range.
void use_tide(ForecasterConfig& config) {
  config.width = 256;
  config.hidden = 64;
  config.blocks = 2;
  config.dropout = 0.3;
  config.window.affine = true;
  config.known.width = 4;
}

void use_rlinear(ForecasterConfig& config) {
  config.window.affine = true;
}

void use_ridge(ForecasterConfig& config) {
  config.window.centre = "last";
  config.window.scale = "none";
}

template <ThetaForm kForm>
std::shared_ptr<Forecaster> make_theta(const ForecasterConfig& config, const ForecastShape& shape,
                                       nn::Initializer& /*init*/) {
  return std::make_shared<ThetaForecaster>(config, shape, kForm);
}

template <bool kDrift>
std::shared_ptr<Forecaster> make_seasonal(const ForecasterConfig& config, const ForecastShape& shape,
                                          nn::Initializer& /*init*/) {
  return std::make_shared<SeasonalForecaster>(shape, config.season(), kDrift);
}

std::shared_ptr<Forecaster> make_repeat(const ForecasterConfig& /*config*/, const ForecastShape& shape,
                                        nn::Initializer& /*init*/) {
  return std::make_shared<RepeatForecaster>(shape);
}

}  // namespace

const std::vector<ForecasterRow>& forecasters() {
  const SharedOptions tokens =
      joined({token_options(), {"window", "position", "future_covariates", "attention.query_key_norm"}});
  const SharedOptions dense =
      joined({tokens, {"attention.type", "attention.kernel"}, random_feature_options()});
  static const std::vector<ForecasterRow> rows = {
      {"hot", "hot", joined({tokens, {"attention"}}), make_model<TokenForecaster>, token_forecaster_cost,
       nullptr, check_token_model},
      {"transformer", "transformer", dense, make_model<TokenForecaster>, token_forecaster_cost, nullptr,
       check_token_model},
      {"spatial", "spatial", tokens, make_model<TokenForecaster>, token_forecaster_cost, nullptr,
       check_token_model},
      {"temporal", "temporal", tokens, make_model<TokenForecaster>, token_forecaster_cost, nullptr,
       check_token_model},
      {"patchtst",
       "",
       {"precision", "width", "hidden", "layers", "heads", "dropout", "window", "patch.length",
        "patch.stride", "attention.dropout", "head.dropout"},
       make_model<PatchTST>,
       patchtst_cost,
       use_patchtst,
       check_patchtst},
      {"itransformer",
       "",
       {"precision", "width", "hidden", "layers", "heads", "dropout", "window"},
       make_model<ITransformer>,
       itransformer_cost,
       use_itransformer,
       check_heads},
      {"tide",
       "",
       {"precision", "width", "hidden", "layers", "dropout", "window", "future_covariates"},
       make_model<Tide>,
       tide_cost,
       use_tide,
       check_tide},
      {"dlinear",
       "",
       {"individual", "weight_init", "window.cycle", "window.cycle_gain", "window.cycle_start"},
       make_model<DLinear>,
       dlinear_cost,
       nullptr,
       check_kernel},
      {"nlinear",
       "",
       {"individual", "weight_init", "window.cycle", "window.cycle_gain", "window.cycle_start"},
       make_model<LinearForecaster>,
       linear_forecaster_cost},
      {"rlinear",
       "",
       {"individual", "dropout", "window.affine", "window.cycle", "window.cycle_gain", "window.cycle_start"},
       make_model<LinearForecaster>,
       linear_forecaster_cost,
       use_rlinear},
      {"ridge", "", {"individual", "window.centre"}, make_model<RidgeForecaster>, nullptr, use_ridge},
      {"seasonal", "", {"period"}, make_seasonal<false>, nullptr, nullptr, check_period},
      {"seasonal-drift", "", {"period"}, make_seasonal<true>, nullptr, nullptr, check_period},
      {"theta", "", {"period"}, make_theta<ThetaForm::standard>},
      {"optimised-theta", "", {"period"}, make_theta<ThetaForm::optimised>},
      {"dynamic-theta", "", {"period"}, make_theta<ThetaForm::dynamic>},
      {"ets", "", {"period"}, make_model<EtsForecaster>, nullptr, nullptr, check_ets},
      {"repeat", "", {}, make_repeat},
      {"ensemble", "", {}, make_model<EnsembleForecaster>, forecaster_members_cost, nullptr, check_ensemble},
  };
  return rows;
}

bool uses_future_covariates(const ForecasterRow& row) {
  return row.has_option("future_covariates.width");
}

void validate(const ForecasterConfig& config, const ForecastShape& shape, const std::string& source) {
  check_options(forecasters(), config, source);
  check_shape(shape, source);
  check_known(config, shape, source);
  if (const auto check = row_of(forecasters(), config.name).check) check(config, shape, source);
}

std::shared_ptr<Forecaster> make_forecaster(const ForecasterConfig& config, const ForecastShape& shape,
                                            uint64_t seed) {
  validate(config, shape);
  nn::Initializer init(seed);
  return row_of(forecasters(), config.name).make(config, shape, init);
}

}  // namespace modewise::models
