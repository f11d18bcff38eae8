#pragma once
// Conformal prediction intervals with nominal coverage, calibrated on forecasts of the validation split
// (split conformal prediction: Lei et al. 2018, "Distribution-free predictive inference for regression"; for
// quantile models conformalized quantile regression: Romano, Patterson, Candès 2019).
//
// A model gives each target a lower and an upper value (equal for a point model). Conformity scores are
// (lower − y)/s and (y − upper)/s, where s = (std of the window's own lookback)^e. The margin of an interval
// is the ⌈(n+1)(1−α)⌉-th smallest score of each series and step. Validation and test split differ in level
// and spread, so e, and whether both sides share a margin, are chosen by checking the margins from each half
// of the validation windows on the other half. The test split is never used.
//
// Shapes: n windows, S series, H steps, I intervals; row-major, scaled values. Windows are the last axis of
// scores, so that the scores of one series and step are contiguous.

#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "modewise/core/fields.h"

namespace modewise::metrics {

struct CalibrationConfig {
  std::string method = "conformal";             // conformal | none
  std::vector<double> intervals = {0.8, 0.95};  // nominal coverages, for point models
  std::string scale = "auto";                   // auto | none | window
  std::string sides = "auto";                   // auto | shared | own
  void fields(Fields& f);
};

/// Scores of the validation windows. NaN: missing target.
struct CalibrationSample {
  int64_t windows = 0, series = 0, horizon = 0;
  std::vector<double> nominal;      // I, ascending
  bool shared_forecast = true;      // a point model: one block of scores serves all intervals
  std::vector<float> below, above;  // [I or 1, S, H, n]: lower − y and y − upper
  std::vector<float> stddev;        // [S, n], of the lookback (window_stddev)

  size_t at(int64_t interval, int64_t s, int64_t step, int64_t window) const {
    return static_cast<size_t>((((shared_forecast ? 0 : interval) * series + s) * horizon + step) * windows +
                               window);
  }
};

/// One setting (e, shared) and its coverage, with margins from one half checked on the other half.
struct CalibrationTrial {
  double exponent = 0;           // e
  bool shared = true;            // both sides share a margin
  std::vector<double> coverage;  // I, over both halves
  double gap = 0;                // Σ |coverage − nominal| over both halves and all intervals
};

struct Calibration {
  std::vector<double> nominal;  // I, ascending
  int64_t series = 0, horizon = 0, windows = 0;
  double exponent = 0;
  bool shared = true;
  std::vector<float> lower, upper;  // [I, S, H]: margins below and above
  std::vector<CalibrationTrial> trials;

  bool empty() const { return nominal.empty(); }
  /// Levels of the calibrated quantiles, ascending: (1−c)/2 of each interval, 0.5, 1−(1−c)/2.
  std::vector<double> levels() const;
};

/// √(variance of the observed lookback values + floor²); the floor keeps the scale of a constant window
/// positive.
double window_stddev(std::span<const float> past, std::span<const bool> observed);

/// Data error if there is no validation target.
Calibration calibrate(const CalibrationSample& sample, const CalibrationConfig& config);

/// Calibrated quantiles [n, S, H, 2I+1] of levels(): from point forecasts [n, S, H], or from the raw
/// quantiles [n, S, H, 2I+1] of a model with these levels (then `forecast` is not read). Never crossing.
std::vector<float> calibrated_quantiles(const Calibration& calibration, std::span<const float> forecast,
                                        std::span<const float> raw_quantiles, std::span<const float> stddev);

/// calibration.npz: margins `lower` and `upper`, `nominal`, and `about` (JSON as bytes: the choice and its
/// trials).
void write_calibration(const std::filesystem::path& path, const Calibration& calibration);
/// Data error that names the file if its arrays do not match.
Calibration read_calibration(const std::filesystem::path& path);
nlohmann::ordered_json to_json(const Calibration& calibration);

}  // namespace modewise::metrics
