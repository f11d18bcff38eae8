#include "modewise/metrics/conformal.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "modewise/core/error.h"
#include "modewise/core/parse_json.h"
#include "modewise/io/arrays/npz.h"

namespace modewise::metrics {
namespace {

// Relative to the training std (scaled values have std 1 over the training split).
constexpr double kStddevFloor = 0.03;
constexpr double kExponents[] = {0, 0.5, 0.75, 1, 1.25, 1.5};
// Fewer scores do not determine a 95 % quantile; such cells use the scores of their series, then of all
// series.
constexpr size_t kFewestScores = 40;

/// Windows [begin, end) of the sample.
struct Part {
  int64_t begin = 0, end = 0;
};

/// Scores with queries for increasing quantiles.
class Scores {
 public:
  std::vector<float>& fill() {
    passed_ = 0;
    return values_;
  }
  size_t size() const { return values_.size(); }

  /// The ⌈(n+1)·fraction⌉-th smallest; the largest if n is too small, 0 if empty. `fraction` must not
  /// decrease between calls.
  float quantile(double fraction) {
    if (values_.empty()) return 0;
    const auto n = static_cast<double>(size());
    const double rank = std::clamp(std::ceil((n + 1) * fraction - 1e-9), 1.0, n);
    const auto begin = values_.begin() + passed_;  // no value before it is larger than a value after it
    passed_ = static_cast<std::ptrdiff_t>(rank) - 1;
    std::nth_element(begin, values_.begin() + passed_, values_.end());
    return values_[static_cast<size_t>(passed_)];
  }

 private:
  std::vector<float> values_;
  std::ptrdiff_t passed_ = 0;
};

class Calibrator {
 public:
  Calibrator(const CalibrationSample& sample, double exponent, bool shared)
      : sample_(sample), shared_(shared), scale_(sample.stddev.size()) {
    for (size_t i = 0; i < scale_.size(); ++i)
      scale_[i] = static_cast<float>(std::pow(sample.stddev[i], exponent));
  }

  /// Margins [I, S, H] from the windows of `part`. A cell with few scores takes the margins of its series, or
  /// of all series.
  void margins(Part part, std::vector<float>& lower, std::vector<float>& upper) const {
    const int64_t cells = sample_.series * sample_.horizon;
    lower.resize(sample_.nominal.size() * static_cast<size_t>(cells));
    upper.resize(lower.size());
    const Part all_series{0, sample_.series}, all_steps{0, sample_.horizon};
    Scores below, above;
    Margins of_cell, of_series, of_all;
    for (int64_t s = 0; s < sample_.series; ++s) {
      of_series.made = false;
      for (int64_t step = 0; step < sample_.horizon; ++step) {
        make(of_cell, part, {s, s + 1}, {step, step + 1}, below, above);
        const Margins* taken = &of_cell;
        if (taken->scores < kFewestScores) {
          if (!of_series.made) make(of_series, part, {s, s + 1}, all_steps, below, above);
          taken = &of_series;
        }
        if (taken->scores < kFewestScores) {
          if (!of_all.made) make(of_all, part, all_series, all_steps, below, above);
          taken = &of_all;
        }
        for (size_t interval = 0; interval < sample_.nominal.size(); ++interval) {
          const auto at =
              interval * static_cast<size_t>(cells) + static_cast<size_t>(s * sample_.horizon + step);
          lower[at] = taken->lower[interval];
          upper[at] = taken->upper[interval];
        }
      }
    }
  }

  /// Number of targets of `part`, and of those inside the interval.
  std::pair<int64_t, int64_t> covered(int64_t interval, Part part, const std::vector<float>& lower,
                                      const std::vector<float>& upper) const {
    int64_t count = 0, inside = 0;
    for (int64_t s = 0; s < sample_.series; ++s)
      for (int64_t step = 0; step < sample_.horizon; ++step) {
        const auto margin = static_cast<size_t>((interval * sample_.series + s) * sample_.horizon + step);
        for (int64_t window = part.begin; window < part.end; ++window) {
          const size_t at = sample_.at(interval, s, step, window);
          if (std::isnan(sample_.below[at])) continue;
          const float scale = scale_[static_cast<size_t>(s * sample_.windows + window)];
          ++count;
          inside += sample_.below[at] <= lower[margin] * scale && sample_.above[at] <= upper[margin] * scale;
        }
      }
    return {count, inside};
  }

 private:
  /// Margins per interval, and the number of scores behind them.
  struct Margins {
    bool made = false;
    size_t scores = 0;
    std::vector<float> lower, upper;
  };

  void make(Margins& margins, Part windows, Part series, Part steps, Scores& below, Scores& above) const {
    margins.made = true;
    margins.lower.clear();
    margins.upper.clear();
    for (int64_t interval = 0; interval < std::ssize(sample_.nominal); ++interval) {
      if (interval == 0 || !sample_.shared_forecast)
        collect(interval, windows, series, steps, below.fill(), above.fill());
      const double alpha = 1 - sample_.nominal[static_cast<size_t>(interval)];
      margins.lower.push_back(below.quantile(shared_ ? 1 - alpha : 1 - alpha / 2));
      margins.upper.push_back(shared_ ? margins.lower.back() : above.quantile(1 - alpha / 2));
    }
    margins.scores = below.size();
  }

  /// Collects the scores of some windows, series and steps. With shared sides `below` has the larger of both.
  void collect(int64_t interval, Part windows, Part series, Part steps, std::vector<float>& below,
               std::vector<float>& above) const {
    below.clear();
    above.clear();
    for (int64_t s = series.begin; s < series.end; ++s)
      for (int64_t step = steps.begin; step < steps.end; ++step)
        for (int64_t window = windows.begin; window < windows.end; ++window) {
          const size_t at = sample_.at(interval, s, step, window);
          const float low = sample_.below[at], high = sample_.above[at];
          if (std::isnan(low)) continue;
          const float scale = scale_[static_cast<size_t>(s * sample_.windows + window)];
          below.push_back((shared_ ? std::max(low, high) : low) / scale);
          if (!shared_) above.push_back(high / scale);
        }
  }

  const CalibrationSample& sample_;
  bool shared_;
  std::vector<float> scale_;  // [S, n]
};

CalibrationTrial try_out(const CalibrationSample& sample, double exponent, bool shared) {
  const Calibrator calibrator(sample, exponent, shared);
  CalibrationTrial trial{exponent, shared, {}, 0};
  const int64_t half = sample.windows / 2;
  // Windows at the boundary share targets with the other half: one horizon is left out if there are enough
  // windows.
  const int64_t seam = half > 4 * sample.horizon ? sample.horizon : 0;
  const Part first{0, half - seam / 2}, second{half + (seam + 1) / 2, sample.windows};
  std::vector<int64_t> counts(sample.nominal.size()), inside(sample.nominal.size());
  std::vector<float> lower, upper;
  for (const auto& [made_from, checked_on] : {std::pair(first, second), std::pair(second, first)}) {
    calibrator.margins(made_from, lower, upper);
    for (size_t i = 0; i < sample.nominal.size(); ++i) {
      const auto [n, hits] = calibrator.covered(static_cast<int64_t>(i), checked_on, lower, upper);
      if (n > 0)
        trial.gap += std::abs(static_cast<double>(hits) / static_cast<double>(n) - sample.nominal[i]);
      counts[i] += n;
      inside[i] += hits;
    }
  }
  for (size_t i = 0; i < counts.size(); ++i)
    trial.coverage.push_back(static_cast<double>(inside[i]) /
                             static_cast<double>(std::max<int64_t>(counts[i], 1)));
  return trial;
}

}  // namespace

void CalibrationConfig::fields(Fields& f) {
  f.add("method", method, "prediction intervals: conformal (from validation residuals) or none",
        {.one_of = {"conformal", "none"}});
  f.add("intervals", intervals, "nominal coverages of the intervals of point models",
        {.min = 0.01, .max = 0.999});
  f.add("scale", scale,
        "scale of margins: window (std of the window's own lookback), none, or auto (best on validation)",
        {.one_of = {"auto", "none", "window"}});
  f.add("sides", sides, "margins of the two sides of an interval: shared, own, or auto (best on validation)",
        {.one_of = {"auto", "shared", "own"}});
}

double window_stddev(std::span<const float> past, std::span<const bool> observed) {
  double sum = 0, squares = 0, n = 0;
  for (size_t i = 0; i < past.size(); ++i) {
    if (!observed.empty() && !observed[i]) continue;
    sum += past[i];
    n += 1;
  }
  const double mean = n > 0 ? sum / n : 0;
  for (size_t i = 0; i < past.size(); ++i)
    if (observed.empty() || observed[i]) squares += (past[i] - mean) * (past[i] - mean);
  return std::sqrt((n > 0 ? squares / n : 0) + kStddevFloor * kStddevFloor);
}

std::vector<double> Calibration::levels() const {
  std::vector<double> result;
  for (size_t i = nominal.size(); i-- > 0;) result.push_back((1 - nominal[i]) / 2);
  result.push_back(0.5);
  for (const double coverage : nominal) result.push_back(1 - (1 - coverage) / 2);
  // Shortest decimals: 0.025, not 0.025000000000000022.
  for (double& level : result) level = std::round(level * 1e9) / 1e9;
  return result;
}

Calibration calibrate(const CalibrationSample& sample, const CalibrationConfig& config) {
  const bool any =
      std::any_of(sample.below.begin(), sample.below.end(), [](float x) { return !std::isnan(x); });
  require(any, ErrorKind::data, "calibration needs validation targets, but all of them are missing");
  Calibration result;
  result.nominal = sample.nominal;
  result.series = sample.series;
  result.horizon = sample.horizon;
  result.windows = sample.windows;
  double best = std::numeric_limits<double>::infinity();
  for (const bool shared : {true, false}) {
    if ((config.sides == "shared" && !shared) || (config.sides == "own" && shared)) continue;
    for (const double exponent : kExponents) {
      if ((config.scale == "none" && exponent != 0) || (config.scale == "window" && exponent != 1)) continue;
      result.trials.push_back(try_out(sample, exponent, shared));
      if (result.trials.back().gap >= best) continue;
      best = result.trials.back().gap;
      result.exponent = exponent;
      result.shared = shared;
    }
  }
  const Calibrator calibrator(sample, result.exponent, result.shared);
  calibrator.margins({0, sample.windows}, result.lower, result.upper);
  return result;
}

std::vector<float> calibrated_quantiles(const Calibration& calibration, std::span<const float> forecast,
                                        std::span<const float> raw_quantiles, std::span<const float> stddev) {
  const auto series = static_cast<size_t>(calibration.series),
             horizon = static_cast<size_t>(calibration.horizon);
  const size_t intervals = calibration.nominal.size(), levels = 2 * intervals + 1;
  const size_t cells = series * horizon;
  const size_t windows = stddev.size() / std::max<size_t>(series, 1);
  const bool raw = !raw_quantiles.empty();
  require(stddev.size() == windows * series &&
              (raw ? raw_quantiles.size() == windows * cells * levels : forecast.size() == windows * cells),
          ErrorKind::internal, "calibrated_quantiles: {} windows of {} series × {} steps, got {} forecasts",
          windows, series, horizon, raw ? raw_quantiles.size() : forecast.size());
  std::vector<float> result(windows * cells * levels);
  for (size_t at = 0; at < windows * cells; ++at) {
    const size_t cell = at % cells;
    const float scale = static_cast<float>(std::pow(stddev[at / horizon], calibration.exponent));
    float* out = &result[at * levels];
    const float centre = raw ? raw_quantiles[at * levels + intervals] : forecast[at];
    out[intervals] = centre;
    float low = centre, high = centre;  // an outer interval contains the inner ones
    for (size_t i = 0; i < intervals; ++i) {
      const float from = raw ? raw_quantiles[at * levels + intervals - 1 - i] : centre;
      const float to = raw ? raw_quantiles[at * levels + intervals + 1 + i] : centre;
      low = std::min(low, from - calibration.lower[i * cells + cell] * scale);
      high = std::max(high, to + calibration.upper[i * cells + cell] * scale);
      out[intervals - 1 - i] = low;
      out[intervals + 1 + i] = high;
    }
  }
  return result;
}

nlohmann::ordered_json to_json(const Calibration& calibration) {
  nlohmann::ordered_json trials = nlohmann::ordered_json::array();
  for (const CalibrationTrial& trial : calibration.trials)
    trials.push_back({{"exponent", trial.exponent},
                      {"shared_sides", trial.shared},
                      {"coverage", trial.coverage},
                      {"gap", trial.gap}});
  return {{"method", "conformal"},
          {"nominal", calibration.nominal},
          {"exponent", calibration.exponent},
          {"shared_sides", calibration.shared},
          {"windows", calibration.windows},
          {"trials", trials}};
}

void write_calibration(const std::filesystem::path& path, const Calibration& calibration) {
  const std::vector<int64_t> shape = {std::ssize(calibration.nominal), calibration.series,
                                      calibration.horizon};
  const std::string about = to_json(calibration).dump();
  io::write_npz(
      path.string(),
      {{"lower", io::make_array(shape, std::span<const float>(calibration.lower))},
       {"upper", io::make_array(shape, std::span<const float>(calibration.upper))},
       {"nominal", io::make_array({shape[0]}, std::span<const double>(calibration.nominal))},
       {"about", io::make_array({std::ssize(about)},
                                std::span(reinterpret_cast<const uint8_t*>(about.data()), about.size()))}});
}

Calibration read_calibration(const std::filesystem::path& path) {
  const auto arrays = io::read_npz(path.string());
  const auto get = [&](const char* name) -> const io::Array& {
    const auto found = arrays.find(name);
    require(found != arrays.end(), ErrorKind::data, "{}: array '{}' is missing", path.string(), name);
    return found->second;
  };
  Calibration result;
  result.nominal = io::to_doubles(get("nominal"));
  const std::vector<int64_t>& shape = get("lower").shape;
  require(shape.size() == 3 && shape == get("upper").shape && shape[0] == std::ssize(result.nominal),
          ErrorKind::data, "{}: lower and upper must be [{} intervals, series, steps]", path.string(),
          result.nominal.size());
  result.series = shape[1];
  result.horizon = shape[2];
  for (const double margin : io::to_doubles(get("lower"))) result.lower.push_back(static_cast<float>(margin));
  for (const double margin : io::to_doubles(get("upper"))) result.upper.push_back(static_cast<float>(margin));
  const std::vector<std::byte>& text = get("about").bytes;
  const auto about =
      parse_json({reinterpret_cast<const char*>(text.data()), text.size()}, path.string() + ": 'about'");
  require(about.is_object() && about.contains("exponent") && about["exponent"].is_number() &&
              about.contains("shared_sides") && about["shared_sides"].is_boolean() &&
              about.contains("windows") && about["windows"].is_number_integer(),
          ErrorKind::data, "{}: 'about' is not a calibration description", path.string());
  result.exponent = about["exponent"];
  result.shared = about["shared_sides"];
  result.windows = about["windows"];
  return result;
}

}  // namespace modewise::metrics
