#pragma once
// Every option of every forecaster.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "modewise/core/fields.h"
#include "modewise/models/ensemble_config.h"
#include "modewise/models/model_choice.h"

namespace modewise::models {

class Forecaster;
struct ForecastShape;

/// How a window is normalised before a model sees it, and its forecast brought back (RevIN and relatives).
struct WindowConfig {
  std::string centre = "mean";          // mean | last | none: over observed cells
  std::string scale = "std";      // std | none
  bool affine = false;                  // learned weight and bias a series (RevIN)
  int64_t cycle = 0;                    // rows of CycleNet's residual cycle; 0 is none
  double cycle_gain = 5;                // the profile is gain × parameter: its learning rate under Adam
  std::string cycle_start = "profile";  // profile (of the training data) | zero
  void fields(Fields& fields);
};

/// How the time axis is cut into tokens.
struct PatchConfig {
  int64_t length = 16;
  int64_t stride = 8;
  std::string embedding = "linear";  // linear | relu (conv, ReLU) | relu_norm (conv, ReLU, LayerNorm)
  double dropout = 0;
  void fields(Fields& fields);
};

struct HeadConfig {
  std::string time = "flatten";  // flatten | mean | attention: what becomes of the time tokens
  bool norm = true;              // LayerNorm before the last linear map
  double dropout = 0;
  bool zero_start = false;    // weights 0 at the start: the first forecast is the window's centre
  std::string skip = "none";  // none | shared | individual: a linear map of the window beside the model
  void fields(Fields& fields);
};

/// What becomes of the columns that are known ahead.
struct FutureCovariateConfig {
  int64_t width = 16;  // of tide: what a step's are projected to; of hot: ReLUs of their effect
  void fields(Fields& fields);
};

struct TideConfig {
  int64_t step_width = 8;  // p: numbers a step that the decoder makes
  bool norm = true;        // layer normalisation behind each residual block but the last
  void fields(Fields& fields);
};

struct BaselineConfig {
  static constexpr int64_t kUsualPeriod = 24;

  int64_t period = 0;       // rows of a season; 0: from the data's step, kUsualPeriod where it tells none
  int64_t kernel = 25;      // of `dlinear`'s moving average, rows, odd
  bool individual = false;  // own weights a series: dlinear, nlinear, rlinear, ridge
  std::string start = "random";  // random | average: weights 1/L, of dlinear and nlinear
  double ridge = 0;              // of ridge: penalty, 0: chosen on validation
  std::string form = "auto";     // of ets: auto | "ANN", "AAdA", "MAM" …
  void fields(Fields& fields);

  int64_t season() const { return period > 0 ? period : kUsualPeriod; }
};

struct ForecasterConfig : ModelChoice, EncoderConfig {
  WindowConfig window;
  PatchConfig patch;
  HeadConfig head;
  FutureCovariateConfig known;
  TideConfig tide;
  BaselineConfig baseline;
  EnsembleConfig ensemble;

  void fields(Fields& fields);

  /// Sets every option to what the authors of model `new_name` use, preset "default". Between hot,
  /// transformer, spatial and temporal, which differ in their attention alone, the options stay as they are.
  void use_model(std::string new_name);
  /// Sets the options in which the released HOT code and its paper differ ("release", "paper"), or ours
  /// ("default").
  void use_preset(std::string new_preset);
};

/// Throws a config error for a value outside its rule, for values that do not fit together or do not fit the
/// shape, and for an option changed that the chosen model does not have. `source` opens the message.
void validate(const ForecasterConfig& config, const ForecastShape& shape,
              const std::string& source = "model");

using ForecasterRow = ModelRow<ForecasterConfig, ForecastShape, Forecaster>;
/// Every forecaster.
const std::vector<ForecasterRow>& forecasters();
/// Whether the model looks at columns that are known ahead: data.future_covariates, data.calendar.
bool uses_future_covariates(const ForecasterRow& row);
/// Whether `name` is hot or one of its siblings with another attention: transformer, spatial, temporal.
bool is_token_model(std::string_view name);

}  // namespace modewise::models
