#include "modewise/core/error.h"
#include "modewise/models/forecast/config.h"
#include "modewise/models/forecast/forecaster.h"
#include "modewise/models/forecast/itransformer.h"
#include "modewise/models/forecast/linear_forecasters.h"
#include "modewise/models/forecast/naive_forecasters.h"
#include "modewise/models/forecast/patchtst.h"
#include "modewise/models/forecast/token_forecaster.h"

namespace modewise::models {

std::shared_ptr<Forecaster> make_forecaster(const ForecasterConfig& config, const ForecastShape& shape,
                                            uint64_t seed) {
  validate(config, shape);
  nn::Initializer init(seed);
  const std::string& name = config.name;
  if (name == "repeat") return std::make_shared<RepeatForecaster>(shape);
  if (name == "seasonal") return std::make_shared<SeasonalForecaster>(shape, config.baseline.period);
  if (name == "dlinear") return std::make_shared<DLinear>(config, shape, init);
  if (name == "nlinear" || name == "rlinear") return std::make_shared<LinearForecaster>(config, shape, init);
  if (name == "patchtst") return std::make_shared<PatchTST>(config, shape, init);
  if (name == "itransformer") return std::make_shared<ITransformer>(config, shape, init);
  return std::make_shared<TokenForecaster>(config, shape, init);
}

}  // namespace modewise::models
