#pragma once
// Options of the forecasters.

#include <cstdint>
#include <string>
#include <vector>

#include "modewise/core/fields.h"
#include "modewise/models/ensemble_config.h"
#include "modewise/models/model_choice.h"

namespace modewise::models {

class Forecaster;
enum class Projection;
struct ForecastShape;

/// Window normalization before the model and denormalization of its forecast (RevIN and variants).
struct WindowConfig {
  std::string centre = "auto";          // auto | mean | last | none: over observed cells
  std::string scale = "std";            // std | none
  bool affine = false;                  // learned weight and bias per series (RevIN)
  int64_t cycle = 0;                    // length of CycleNet's residual cycle; 0: none
  double cycle_gain = 5;                // cycle = gain × parameter: scales its learning rate under Adam
  std::string cycle_start = "profile";  // profile (of the training data) | zero
  void fields(Fields& fields);
};

/// Patching of the time axis into tokens.
struct PatchConfig {
  int64_t length = 16;
  int64_t stride = 8;
  std::string embedding = "linear";  // linear | relu (conv, ReLU) | relu_norm (conv, ReLU, LayerNorm)
  double dropout = 0;
  void fields(Fields& fields);
};

struct HeadConfig {
  std::string time = "flatten";  // flatten | mean | attention: pooling of the time tokens
  bool norm = true;              // LayerNorm before the last linear layer
  double dropout = 0;
  bool zero_start = false;    // zero initial weights: the first forecast is the window's centre
  std::string skip = "none";  // none | shared | individual: linear skip connection from the window
  void fields(Fields& fields);
};

/// Options of future covariates.
struct FutureCovariateConfig {
  int64_t width = 16;  // tide: projected width per step; hot: ReLU features of their effect
  void fields(Fields& fields);
};

struct ForecasterConfig : ModelChoice, EncoderConfig {
  static constexpr int64_t kUsualPeriod = 24;

  int64_t period = 0;       // season length in rows; 0: from the data's time step, else kUsualPeriod
  bool individual = false;  // separate weights per series: dlinear, nlinear, rlinear, ridge
  std::string weight_init = "random";  // dlinear, nlinear: random | average (weights 1/L)
  WindowConfig window;
  PatchConfig patch;
  HeadConfig head;
  FutureCovariateConfig known;
  OwnOptions own;  // of single models, declared in their files
  EnsembleConfig ensemble;

  ForecasterConfig();
  void fields(Fields& fields);

  int64_t season() const { return period > 0 ? period : kUsualPeriod; }

  /// Sets every option to the authors' values for model `new_name`, preset "default". Switching between hot,
  /// transformer, spatial and temporal, which differ only in their attention, keeps the options.
  void use_model(std::string new_name);
  /// Sets the options that differ between the released HOT code ("release"), its paper ("paper") and our
  /// defaults ("default").
  void use_preset(std::string new_preset);
};

/// Throws a config error for invalid or inconsistent values, values that do not match the shape, and a
/// changed option that the model does not have. `source` starts the message.
void validate(const ForecasterConfig& config, const ForecastShape& shape,
              const std::string& source = "model");

/// Throws a config error for patches that do not fit the lookback.
void check_patches(const ForecasterConfig& config, const ForecastShape& shape, const std::string& source);
/// Throws a config error if the heads do not divide the width.
void check_heads(const ForecasterConfig& config, const ForecastShape& shape, const std::string& source);

using ForecasterRow = ModelRow<ForecasterConfig, ForecastShape, Forecaster, Projection>;
/// Registry of all forecasters. The row of a model is in its file.
const std::vector<ForecasterRow>& forecasters();
/// Whether the model uses future covariates: data.future_covariates, data.calendar.
bool uses_future_covariates(const ForecasterRow& row);

}  // namespace modewise::models
