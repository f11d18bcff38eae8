#pragma once
// What every forecaster is: a module from a window of the past, scaled, to the steps after it.
//
// Shapes: B samples, N_1…N_j series modes (variables; stations × variables; grid × grid), L lookback, H
// horizon, Q quantiles. A cell that is not observed never reaches the result: its value is replaced before
// anything else.

#include <ATen/core/Tensor.h>
#include <torch/nn/module.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "modewise/models/attention_view.h"

namespace modewise::models {

struct ForecasterConfig;

/// The sizes a forecaster is built for.
struct ForecastShape {
  std::vector<int64_t> series;  // N_1…N_j
  std::vector<bool>
      ordered;  // whether neighbours along a series mode are near each other (a grid axis); empty: none
  int64_t lookback = 96;            // L, steps
  int64_t horizon = 96;             // H, steps
  int64_t quantiles = 0;            // Q; 0 is a point forecast
  bool missing = false;             // whether windows come with masks
  std::vector<double> levels = {};  // of the Q quantiles, ascending; empty where they are not known
  int64_t known = 0;                // K: what is known ahead, numbers a step
  int64_t known_modes = 0;  // i: they differ along the first i series modes, and are shared along the others

  int64_t series_count() const;  // N_1 · … · N_j
};

struct ForecastInput {
  at::Tensor past;        // [B, N_1…N_j, L] scaled; what stands under a missing cell does not matter
  at::Tensor observed;    // the same shape, bool; undefined when nothing is missing
  at::Tensor first_step;  // [B] int64: row of past[…, 0], counted from the data set's first row
  at::Tensor known = {};  // [B, N_1…N_i, K, L + H] of lookback and horizon; undefined where K is 0
};

/// What a model is fitted to at once, where it is not trained by steps.
struct FittingRows {
  at::Tensor values;    // [N_1…N_j, T] float32 scaled, 0 where missing: training rows, then validation
  at::Tensor observed;  // the same shape, bool; undefined when nothing is missing
  at::Tensor mean, stddev;   // [N_1…N_j] float64: scaled · deviation + mean is in the data's units
  int64_t first = 0, last = 0;  // rows [first, last) are those of training
  std::vector<int64_t> training, validation;  // first rows of the windows, ascending
  at::Tensor known = {};                      // [N_1…N_i, K, T] known ahead; undefined where K is 0
};

class Forecaster : public torch::nn::Module {
 public:
  explicit Forecaster(ForecastShape shape);

  /// [B, N_1…N_j, H], or [B, N_1…N_j, H, Q] with quantiles ascending; float32 (float64 for a float64 module).
  virtual at::Tensor forward(const ForecastInput& input) = 0;

  /// What it attends to; series modes first, time last.
  virtual AttentionView attention(const ForecastInput& input);

  /// Rows of the periodic profile that wants to start from training data; 0 for models without one.
  virtual int64_t cycle_to_start() const { return 0; }
  /// Starts it: profile [cycle_to_start(), N_1…N_j], the scaled training data's mean at each row of the cycle
  /// less its mean over all, where row r of the data set is row r mod cycle.
  virtual void start_cycle(const at::Tensor& profile);

  /// Hands over the rows of training and validation, before training; for models that are fitted to them.
  virtual void fit(const FittingRows& /*rows*/) {}
  /// Whether a forecast beyond the end of a series is made by the model fitted to all of its rows.
  virtual bool refits() const { return false; }
  /// Fits to these rows what then is; the rest stays.
  virtual void refit(const FittingRows& /*rows*/) {}

  const ForecastShape& shape() const { return shape_; }

 protected:
  /// Checks the input's shapes (data error) and puts 0 under missing cells.
  at::Tensor checked_past(const ForecastInput& input) const;
  /// What is known ahead, of the model's shape (data error), as it came.
  at::Tensor checked_known(const ForecastInput& input) const;

 private:
  ForecastShape shape_;
};

/// Builds the model named in `config` with weights that depend on `seed` alone. A config or shape that makes
/// no sense is a config error that names the option.
std::shared_ptr<Forecaster> make_forecaster(const ForecasterConfig& config, const ForecastShape& shape,
                                            uint64_t seed);

/// Which random numbers the dropouts under `root` use in the next forward pass; call it before each.
void set_dropout_step(torch::nn::Module& root, uint64_t seed, uint64_t step);

}  // namespace modewise::models
