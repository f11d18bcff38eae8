#pragma once
// Conformal prediction intervals with nominal coverage, calibrated on forecasts of the validation split
// (split conformal prediction: Lei et al. 2018, "Distribution-free predictive inference for regression"; for
// quantile models conformalized quantile regression: Romano, Patterson, Candès 2019).
//
// A model gives each target a lower and an upper value (equal for a point model). Conformity scores are
// (lower − y)/s and (y − upper)/s, where s = (std of the window's own lookback)^e · g, and g is the spread of
// the errors at the target's phase of the season (seasonal_spread.h), or 1. The margin of an interval is the
// ⌈(n+1)(1−α)⌉-th smallest score of each series and step. Validation and test split differ in level and
// spread, so e, and whether both sides share a margin, are chosen by checking the margins from each half of
// the validation windows on the other half, by coverage or pinball loss; g is used if it lowers the pinball
// loss there by 1 % (if that loss selects: at all). With g, the intervals of a quantile model first become g
// times as wide, about their middle. The test split is never used.
//
// Shapes: n windows, S series, H steps, I intervals; row-major, scaled values. Windows are the last axis of
// scores, so that the scores of one series and step are contiguous.

#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
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
  int64_t season = 0;                           // rows; 0: auto, 1: none
  std::string select = "coverage";              // coverage | pinball
  void fields(Fields& f);
};

/// Scores of the validation windows. NaN: missing target.
struct CalibrationSample {
  int64_t windows = 0, series = 0, horizon = 0;
  std::vector<double> nominal;        // I, ascending
  bool shared_forecast = true;        // a point model: one block of scores serves all intervals
  std::vector<float> below, above;    // [I or 1, S, H, n]: lower − y and y − upper
  std::vector<float> stddev;          // [S, n], of the lookback (window_stddev)
  int64_t season = 1;                 // rows of the season that margins may follow; 1: none
  std::vector<int64_t> first_target;  // [n] rows, ascending, for the phase of the season

  size_t at(int64_t interval, int64_t s, int64_t step, int64_t window) const {
    return static_cast<size_t>((((shared_forecast ? 0 : interval) * series + s) * horizon + step) * windows +
                               window);
  }
};

/// One setting (e, shared) and its coverage, with margins from one half checked on the other half.
struct CalibrationTrial {
  double exponent = 0;            // e
  bool shared = true;             // both sides share a margin
  std::vector<double> coverage;   // I, over both halves
  double gap = 0;                 // Σ |coverage − nominal| over both halves and all intervals
  std::optional<double> pinball;  // mean pinball loss of the bounds (SeasonTrial), if it selects
};

/// Mean pinball loss of the bounds, margins from each half checked on the other, averaged over the series.
struct SeasonTrial {
  int64_t season = 1;
  double with = 0, without = 0;
};

struct Calibration {
  std::vector<double> nominal;  // I, ascending
  int64_t series = 0, horizon = 0, windows = 0;
  int64_t scores = 0;  // the fewest that a margin is made from; 0: unknown, of a file
  double exponent = 0;
  bool shared = true;
  std::vector<float> lower, upper;  // [I, S, H]: margins below and above
  std::vector<CalibrationTrial> trials;
  int64_t season = 1;                       // rows; 1: margins do not depend on the phase
  std::vector<float> spread;                // [S, season]: g; empty: none
  std::optional<SeasonTrial> season_trial;  // none if there are fewer than three seasons of targets

  bool empty() const { return nominal.empty(); }
  /// The largest coverage whose margin is one of that many scores; the margin of a larger one is the maximum.
  double largest_nominal() const;
  /// Levels of the calibrated quantiles, ascending: (1−c)/2 of each interval, 0.5, 1−(1−c)/2.
  std::vector<double> levels() const;
};

/// √(variance of the observed lookback values + floor²); the floor keeps the scale of a constant window
/// positive. 1, that of the training rows, if nothing is observed.
double window_stddev(std::span<const float> past, std::span<const bool> observed);

/// Data error if there is no validation target.
Calibration calibrate(const CalibrationSample& sample, const CalibrationConfig& config);

/// Calibrated quantiles [n, S, H, 2I+1] of levels(): from point forecasts [n, S, H], or from the raw
/// quantiles [n, S, H, 2I+1] of a model with these levels (then `forecast` is not read). Never crossing.
/// `first_target` [n]: rows as in the sample, read if there is a spread. `widening` [n]: factors of the
/// margins of each window; empty: 1.
std::vector<float> calibrated_quantiles(const Calibration& calibration, std::span<const float> forecast,
                                        std::span<const float> raw_quantiles, std::span<const float> stddev,
                                        std::span<const int64_t> first_target = {},
                                        std::span<const float> widening = {});

/// calibration.npz: margins `lower` and `upper`, `nominal`, `spread` if there is one, and `about` (JSON as
/// bytes: the choice and its trials).
void write_calibration(const std::filesystem::path& path, const Calibration& calibration);
/// Data error that names the file if its arrays do not match.
Calibration read_calibration(const std::filesystem::path& path);
nlohmann::ordered_json to_json(const Calibration& calibration);

}  // namespace modewise::metrics
