#pragma once
// Forecaster interface: a module from a scaled lookback window to the following steps.
//
// Shapes: B samples, N_1…N_j series modes (variables; stations × variables; grid × grid), L lookback, H
// horizon, Q quantiles. Values of missing cells never affect the result: they are masked first.

#include <ATen/core/Tensor.h>
#include <torch/nn/module.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "modewise/models/attention_view.h"
#include "modewise/nn/layers/device.h"

namespace modewise::models {

struct ForecasterConfig;

/// The sizes a forecaster is built for.
struct ForecastShape {
  std::vector<int64_t> series;      // N_1…N_j
  std::vector<bool> ordered;        // whether a series mode has a meaningful order (a grid axis); empty: none
  int64_t lookback = 96;            // L, steps
  int64_t horizon = 96;             // H, steps
  int64_t quantiles = 0;            // Q; 0: point forecast
  bool missing = false;             // whether windows come with masks
  std::vector<double> levels = {};  // quantile levels, ascending; empty if unknown
  int64_t known = 0;                // K: future covariates per step
  int64_t known_modes = 0;  // i: covariates differ along the first i series modes, shared along others

  int64_t series_count() const;      // N_1 · … · N_j
  int64_t covariate_places() const;  // N_1 · … · N_i
};

struct ForecastInput {
  at::Tensor past;        // [B, N_1…N_j, L] scaled; values at missing cells are ignored
  at::Tensor observed;    // the same shape, bool; undefined when nothing is missing
  at::Tensor first_step;  // [B] int64: row of past[…, 0], counted from the data set's first row
  at::Tensor known = {};  // [B, N_1…N_i, K, L + H] future covariates; undefined if K is 0

  ForecastInput to(at::Device device) const {
    return {nn::placed(past, device), nn::placed(observed, device), nn::placed(first_step, device),
            nn::placed(known, device)};
  }
};

/// Data for models fitted in closed form or per series, not by gradient steps.
struct FittingRows {
  at::Tensor values;        // [N_1…N_j, T] float32 scaled, 0 where missing: training rows, then validation
  at::Tensor observed;      // the same shape, bool; undefined when nothing is missing
  at::Tensor mean, stddev;  // [N_1…N_j] float64: scaled · stddev + mean is in the data's units
  int64_t first = 0, last = 0;                // training rows [first, last)
  std::vector<int64_t> training, validation;  // first rows of the windows, ascending
  at::Tensor known = {};                      // [N_1…N_i, K, T] future covariates; undefined if K is 0
};

class Forecaster : public torch::nn::Module {
 public:
  explicit Forecaster(ForecastShape shape);

  /// [B, N_1…N_j, H], or [B, N_1…N_j, H, Q] with quantiles ascending; float32 (float64 for a float64 module).
  virtual at::Tensor forward(const ForecastInput& input) = 0;

  /// Attention maps; series modes first, time last.
  virtual AttentionView attention(const ForecastInput& input);

  /// Length in rows of the cycle to initialize from training data; 0 for models without one.
  virtual int64_t cycle_to_start() const { return 0; }
  /// Initializes the cycle: profile [cycle_to_start(), N_1…N_j], the scaled training data's mean at each
  /// phase minus its overall mean; row r of the data set has phase r mod cycle.
  virtual void start_cycle(const at::Tensor& profile);

  /// Fits the model to training and validation rows, before training; for models that need it.
  virtual void fit(const FittingRows& /*rows*/) {}
  /// Whether fit reads the windows of rows, those of all series of a panel if there are many.
  virtual bool fits_windows() const { return false; }
  /// Whether forecasts beyond the end of a series use a model refitted to all of its rows.
  virtual bool refits() const { return false; }
  /// Refits the refittable part to these rows; the rest stays.
  virtual void refit(const FittingRows& /*rows*/) {}

  /// Whether a series is forecast from its own rows alone, without learned weights: a panel gives such a
  /// model the whole history of each series.
  virtual bool local() const { return false; }

  const ForecastShape& shape() const { return shape_; }

 protected:
  /// Checks the input's shapes (data error) and sets missing cells to 0.
  at::Tensor checked_past(const ForecastInput& input) const;
  /// Checks the shape of the future covariates (data error) and returns them unchanged.
  at::Tensor checked_known(const ForecastInput& input) const;

 private:
  ForecastShape shape_;
};

/// Builds the model named in `config`; weights depend only on `seed`. An invalid config or shape is a config
/// error that names the option.
std::shared_ptr<Forecaster> make_forecaster(const ForecasterConfig& config, const ForecastShape& shape,
                                            uint64_t seed);
/// The same for a config that is valid for another shape: its options are not checked again, which takes
/// longer than to fit a local model to a short series.
std::shared_ptr<Forecaster> make_reshaped(const ForecasterConfig& config, const ForecastShape& shape,
                                          uint64_t seed);

/// Keys the dropout under `root` for the next forward pass; call it before each.
void set_dropout_step(torch::nn::Module& root, uint64_t seed, uint64_t step);

}  // namespace modewise::models
