#include "modewise/metrics/conformal.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>

#include "modewise/core/error.h"
#include "modewise/core/parse_json.h"
#include "modewise/io/arrays/npz.h"
#include "modewise/metrics/seasonal_spread.h"

namespace modewise::metrics {
namespace {

// Relative to the training std (scaled values have std 1 over the training split).
constexpr double kStddevFloor = 0.03;
constexpr double kExponents[] = {0, 0.5, 0.75, 1, 1.25, 1.5};
// Fewer scores do not determine a 95 % quantile; such cells use the scores of their series, then of all
// series.
constexpr size_t kFewestScores = 40;
constexpr int64_t kFewestSeasons = 3;
constexpr int64_t kScoresOfTrial = int64_t{2} << 20;  // per side; margins take all scores
constexpr int64_t kWindowsOfTrial = 200;              // at least, where there are as many
constexpr double kLossOfSeason = 0.99;  // of the loss without a spread; a smaller gain may be by chance

/// Windows [begin, end) of the sample.
struct Part {
  int64_t begin = 0, end = 0;
};

/// Margins are made from one half of the windows and checked on the other.
struct Fold {
  Part made_from, checked_on;
  std::vector<float> spread;  // of made_from; empty: none
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
  Calibrator(const CalibrationSample& sample, double exponent, bool shared, std::span<const float> spread)
      : sample_(sample), shared_(shared), scale_(sample.stddev.size()), spread_(spread) {
    for (size_t i = 0; i < scale_.size(); ++i)
      scale_[i] = static_cast<float>(std::pow(sample.stddev[i], exponent));
    if (!spread.empty())
      for (const int64_t row : sample.first_target) phases_.push_back(season_phase(row, sample.season));
  }

  /// Margins [I, S, H] from the windows of `part`. A cell with few scores takes the margins of its series, or
  /// of all series. Returns the fewest scores that a margin is made from.
  size_t margins(Part part, std::vector<float>& lower, std::vector<float>& upper) const {
    const int64_t cells = sample_.series * sample_.horizon;
    lower.resize(sample_.nominal.size() * static_cast<size_t>(cells));
    upper.resize(lower.size());
    const Part all_series{0, sample_.series}, all_steps{0, sample_.horizon};
    Scores below, above;
    Margins of_cell, of_series, of_all;
    size_t fewest = std::numeric_limits<size_t>::max();
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
        fewest = std::min(fewest, taken->scores);
        for (size_t interval = 0; interval < sample_.nominal.size(); ++interval) {
          const auto at =
              interval * static_cast<size_t>(cells) + static_cast<size_t>(s * sample_.horizon + step);
          lower[at] = taken->lower[interval];
          upper[at] = taken->upper[interval];
        }
      }
    }
    return fewest;
  }

  /// Number of targets of `part`, and of those inside the interval.
  std::pair<int64_t, int64_t> covered(int64_t interval, Part part, const std::vector<float>& lower,
                                      const std::vector<float>& upper) const {
    int64_t count = 0, inside = 0;
    for (int64_t s = 0; s < sample_.series; ++s)
      for (int64_t step = 0; step < sample_.horizon; ++step) {
        const auto margin = static_cast<size_t>((interval * sample_.series + s) * sample_.horizon + step);
        for (int64_t window = part.begin; window < part.end; ++window) {
          const Score score = score_at(interval, s, step, window);
          if (std::isnan(score.below)) continue;
          ++count;
          inside += score.below <= lower[margin] * score.scale && score.above <= upper[margin] * score.scale;
        }
      }
    return {count, inside};
  }

  /// Adds the pinball loss of both bounds of all intervals at the targets of `part` to `sums` [S], and the
  /// numbers of bounds to `counts`.
  void add_pinball(Part part, const std::vector<float>& lower, const std::vector<float>& upper,
                   std::vector<double>& sums, std::vector<double>& counts) const {
    for (int64_t interval = 0; interval < std::ssize(sample_.nominal); ++interval)
      for (int64_t s = 0; s < sample_.series; ++s)
        for (int64_t step = 0; step < sample_.horizon; ++step) {
          const auto margin = static_cast<size_t>((interval * sample_.series + s) * sample_.horizon + step);
          const double tail = (1 - sample_.nominal[static_cast<size_t>(interval)]) / 2;
          const auto loss = [&](float score, float width) {  // of a bound that is `width` beyond the forecast
            const double outside = static_cast<double>(score) - width;
            return std::max((1 - tail) * outside, -tail * outside);
          };
          for (int64_t window = part.begin; window < part.end; ++window) {
            const Score score = score_at(interval, s, step, window);
            if (std::isnan(score.below)) continue;
            sums[static_cast<size_t>(s)] += loss(score.below, lower[margin] * score.scale) +
                                            loss(score.above, upper[margin] * score.scale);
            counts[static_cast<size_t>(s)] += 2;
          }
        }
  }

 private:
  /// Scores before they are divided by `scale`.
  struct Score {
    float below, above, scale;
  };

  Score score_at(int64_t interval, int64_t s, int64_t step, int64_t window) const {
    const size_t at = sample_.at(interval, s, step, window);
    Score score{sample_.below[at], sample_.above[at],
                scale_[static_cast<size_t>(s * sample_.windows + window)]};
    if (spread_.empty()) return score;
    const int64_t phase = (phases_[static_cast<size_t>(window)] + step) % sample_.season;
    const float spread = spread_[static_cast<size_t>(s * sample_.season + phase)];
    const float inward = (1 - spread) * (-0.5F * (score.below + score.above));
    return {score.below + inward, score.above + inward, score.scale * spread};
  }

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
          const auto [low, high, scale] = score_at(interval, s, step, window);
          if (std::isnan(low)) continue;
          below.push_back((shared_ ? std::max(low, high) : low) / scale);
          if (!shared_) above.push_back(high / scale);
        }
  }

  const CalibrationSample& sample_;
  bool shared_;
  std::vector<float> scale_;       // [S, n]
  std::span<const float> spread_;  // [S, season] or empty
  std::vector<int64_t> phases_;    // [n], of the first targets
};

/// Steps between the windows that choices are tried on. It has no divisor in common with the season, so that
/// all phases are there.
int64_t stride_of_trials(const CalibrationSample& sample) {
  const int64_t scores = std::ssize(sample.below);
  const int64_t wanted = (scores + kScoresOfTrial - 1) / kScoresOfTrial;
  int64_t stride = std::max<int64_t>(std::min(wanted, sample.windows / kWindowsOfTrial), 1);
  while (std::gcd(stride, sample.season) > 1) ++stride;
  return stride;
}

/// The sample with every `stride`-th window.
CalibrationSample thinned(const CalibrationSample& sample, int64_t stride) {
  const auto thin = [&](const auto& values) {  // the windows are the last axis
    std::remove_cvref_t<decltype(values)> kept;
    for (size_t i = 0; i < values.size(); ++i)
      if (static_cast<int64_t>(i) % sample.windows % stride == 0) kept.push_back(values[i]);
    return kept;
  };
  return {.windows = (sample.windows + stride - 1) / stride,
          .series = sample.series,
          .horizon = sample.horizon,
          .nominal = sample.nominal,
          .shared_forecast = sample.shared_forecast,
          .below = thin(sample.below),
          .above = thin(sample.above),
          .stddev = thin(sample.stddev),
          .season = sample.season,
          .first_target = thin(sample.first_target)};
}

std::vector<Fold> halves(const CalibrationSample& sample, int64_t stride) {
  const int64_t half = sample.windows / 2, overlapping = (sample.horizon + stride - 1) / stride;
  // Windows at the boundary share targets with the other half: one horizon is left out if there are enough
  // windows.
  const int64_t seam = half > 4 * overlapping ? overlapping : 0;
  const Part first{0, half - seam / 2}, second{half + (seam + 1) / 2, sample.windows};
  return {{first, second, {}}, {second, first, {}}};
}

CalibrationTrial try_out(const CalibrationSample& sample, double exponent, bool shared,
                         std::span<const Fold> folds) {
  CalibrationTrial trial{exponent, shared, {}, 0, {}};
  std::vector<int64_t> counts(sample.nominal.size()), inside(sample.nominal.size());
  std::vector<float> lower, upper;
  for (const Fold& fold : folds) {
    const Calibrator calibrator(sample, exponent, shared, fold.spread);
    calibrator.margins(fold.made_from, lower, upper);
    for (size_t i = 0; i < sample.nominal.size(); ++i) {
      const auto [n, hits] = calibrator.covered(static_cast<int64_t>(i), fold.checked_on, lower, upper);
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

/// Mean pinball loss of the bounds over both folds, averaged over the series with targets.
double pinball_loss(double exponent, bool shared, const CalibrationSample& sample,
                    std::span<const Fold> folds) {
  std::vector<double> sums(static_cast<size_t>(sample.series)), counts(sums.size());
  std::vector<float> lower, upper;
  for (const Fold& fold : folds) {
    const Calibrator calibrator(sample, exponent, shared, fold.spread);
    calibrator.margins(fold.made_from, lower, upper);
    calibrator.add_pinball(fold.checked_on, lower, upper, sums, counts);
  }
  double loss = 0, series = 0;
  for (size_t s = 0; s < sums.size(); ++s) {
    if (counts[s] == 0) continue;
    loss += sums[s] / counts[s];
    series += 1;
  }
  return loss / std::max(series, 1.0);
}

/// Tries all exponents and sides that the config allows and keeps those with the smallest gap of coverage, or
/// pinball loss.
void choose_scale(Calibration& result, const CalibrationSample& sample, const CalibrationConfig& config,
                  std::span<const Fold> folds) {
  result.trials.clear();
  double best = std::numeric_limits<double>::infinity();
  for (const bool shared : {true, false}) {
    if ((config.sides == "shared" && !shared) || (config.sides == "own" && shared)) continue;
    for (const double exponent : kExponents) {
      if ((config.scale == "none" && exponent != 0) || (config.scale == "window" && exponent != 1)) continue;
      CalibrationTrial& trial = result.trials.emplace_back(try_out(sample, exponent, shared, folds));
      if (config.select == "pinball") trial.pinball = pinball_loss(exponent, shared, sample, folds);
      const double error = trial.pinball.value_or(trial.gap);
      if (error >= best) continue;
      best = error;
      result.exponent = exponent;
      result.shared = shared;
    }
  }
}

/// Whether the targets of the windows span enough seasons for a spread by phase.
bool has_seasons(const CalibrationSample& sample) {
  return sample.season > 1 && sample.windows > 0 &&
         sample.first_target.back() + sample.horizon - sample.first_target.front() >=
             kFewestSeasons * sample.season;
}

/// Compares the loss with and without a spread by phase, and takes the spread (of `all` windows) if it is
/// lower by 1 % (with select = pinball: lower) or if the config names the season; exponent and sides are then
/// chosen again.
void choose_season(Calibration& result, const CalibrationSample& all, const CalibrationSample& sample,
                   const CalibrationConfig& config, std::vector<Fold> folds) {
  const double without = pinball_loss(result.exponent, result.shared, sample, folds);
  for (Fold& fold : folds) fold.spread = seasonal_spread(sample, fold.made_from.begin, fold.made_from.end);
  const double with = pinball_loss(result.exponent, result.shared, sample, folds);
  result.season_trial = {sample.season, with, without};
  const double enough = config.select == "pinball" ? 1 : kLossOfSeason;
  if (config.season == 0 && with > enough * without) return;
  result.season = sample.season;
  result.spread = seasonal_spread(all, 0, all.windows);
  choose_scale(result, sample, config, folds);
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
  f.add("season", season,
        "rows of the season that margins follow; 0: that of the time step, if it is better on validation; 1: "
        "none",
        {.min = 0, .max = 1e6});
  f.add("select", select,
        "choice of scale and sides on validation: by coverage (nearest to nominal) or pinball (mean quantile "
        "loss, as in WQL and CRPS)",
        {.one_of = {"coverage", "pinball"}});
}

double window_stddev(std::span<const float> past, std::span<const bool> observed) {
  double sum = 0, squares = 0, n = 0;
  for (size_t i = 0; i < past.size(); ++i) {
    if (!observed.empty() && !observed[i]) continue;
    sum += past[i];
    n += 1;
  }
  if (n == 0) return 1;
  const double mean = sum / n;
  for (size_t i = 0; i < past.size(); ++i)
    if (observed.empty() || observed[i]) squares += (past[i] - mean) * (past[i] - mean);
  return std::sqrt(squares / n + kStddevFloor * kStddevFloor);
}

double Calibration::largest_nominal() const {
  const auto n = static_cast<double>(scores);
  return (shared ? n : n - 1) / (n + 1);  // α or α/2 on a side is at least 1 / (n + 1)
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
  const int64_t stride = stride_of_trials(sample);
  const CalibrationSample fewer = stride > 1 ? thinned(sample, stride) : CalibrationSample();
  const CalibrationSample& tried = stride > 1 ? fewer : sample;
  const std::vector<Fold> folds = halves(tried, stride);
  choose_scale(result, tried, config, folds);
  if (has_seasons(sample)) choose_season(result, sample, tried, config, folds);
  const Calibrator calibrator(sample, result.exponent, result.shared, result.spread);
  result.scores = static_cast<int64_t>(calibrator.margins({0, sample.windows}, result.lower, result.upper));
  return result;
}

std::vector<float> calibrated_quantiles(const Calibration& calibration, std::span<const float> forecast,
                                        std::span<const float> raw_quantiles, std::span<const float> stddev,
                                        std::span<const int64_t> first_target,
                                        std::span<const float> widening) {
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
  require(calibration.spread.empty() || first_target.size() == windows, ErrorKind::internal,
          "calibrated_quantiles: {} windows with {} first target rows", windows, first_target.size());
  require(widening.empty() || widening.size() == windows, ErrorKind::internal,
          "calibrated_quantiles: {} windows with {} factors of their margins", windows, widening.size());
  std::vector<float> result(windows * cells * levels);
  for (size_t at = 0; at < windows * cells; ++at) {
    const size_t cell = at % cells;
    float scale = static_cast<float>(std::pow(stddev[at / horizon], calibration.exponent)), spread = 1;
    if (!calibration.spread.empty()) {
      const int64_t row = first_target[at / cells] + static_cast<int64_t>(at % horizon);
      const auto s = static_cast<int64_t>(cell / horizon);
      spread =
          calibration
              .spread[static_cast<size_t>(s * calibration.season + season_phase(row, calibration.season))];
      scale *= spread;
    }
    if (!widening.empty()) scale *= widening[at / cells];
    float* out = &result[at * levels];
    const float centre = raw ? raw_quantiles[at * levels + intervals] : forecast[at];
    out[intervals] = centre;
    float low = centre, high = centre;  // an outer interval contains the inner ones
    for (size_t i = 0; i < intervals; ++i) {
      const float from = raw ? raw_quantiles[at * levels + intervals - 1 - i] : centre;
      const float to = raw ? raw_quantiles[at * levels + intervals + 1 + i] : centre;
      const float inward = (1 - spread) * (0.5F * (to - from));
      low = std::min(low, from + inward - calibration.lower[i * cells + cell] * scale);
      high = std::max(high, to - inward + calibration.upper[i * cells + cell] * scale);
      out[intervals - 1 - i] = low;
      out[intervals + 1 + i] = high;
    }
  }
  return result;
}

nlohmann::ordered_json to_json(const Calibration& calibration) {
  nlohmann::ordered_json trials = nlohmann::ordered_json::array();
  for (const CalibrationTrial& trial : calibration.trials) {
    trials.push_back({{"exponent", trial.exponent},
                      {"shared_sides", trial.shared},
                      {"coverage", trial.coverage},
                      {"gap", trial.gap}});
    if (trial.pinball) trials.back()["pinball"] = *trial.pinball;
  }
  nlohmann::ordered_json json = {{"method", "conformal"},
                                 {"nominal", calibration.nominal},
                                 {"exponent", calibration.exponent},
                                 {"shared_sides", calibration.shared},
                                 {"windows", calibration.windows}};
  if (calibration.scores > 0 && !calibration.empty() &&
      calibration.nominal.back() > calibration.largest_nominal() + 1e-9)
    json["few_scores"] = {{"scores", calibration.scores}, {"largest_nominal", calibration.largest_nominal()}};
  if (const auto& trial = calibration.season_trial)
    json["season"] = {{"rows", trial->season},
                      {"used", !calibration.spread.empty()},
                      {"pinball", trial->with},
                      {"pinball_without", trial->without}};
  json["trials"] = trials;
  return json;
}

void write_calibration(const std::filesystem::path& path, const Calibration& calibration) {
  const std::vector<int64_t> shape = {std::ssize(calibration.nominal), calibration.series,
                                      calibration.horizon};
  const std::string about = to_json(calibration).dump();
  std::map<std::string, io::Array> arrays = {
      {"lower", io::make_array(shape, std::span<const float>(calibration.lower))},
      {"upper", io::make_array(shape, std::span<const float>(calibration.upper))},
      {"nominal", io::make_array({shape[0]}, std::span<const double>(calibration.nominal))},
      {"about", io::make_array({std::ssize(about)},
                               std::span(reinterpret_cast<const uint8_t*>(about.data()), about.size()))}};
  if (!calibration.spread.empty())
    arrays["spread"] =
        io::make_array({calibration.series, calibration.season}, std::span<const float>(calibration.spread));
  io::write_npz(path.string(), arrays);
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
  if (const auto spread = arrays.find("spread"); spread != arrays.end()) {
    const std::vector<int64_t>& sizes = spread->second.shape;
    require(sizes.size() == 2 && sizes[0] == result.series && sizes[1] > 1, ErrorKind::data,
            "{}: spread must be [{} series, rows of a season]", path.string(), result.series);
    result.season = sizes[1];
    for (const double value : io::to_doubles(spread->second)) {
      require(std::isfinite(value) && value > 0, ErrorKind::data, "{}: spread must be positive, got {}",
              path.string(), value);
      result.spread.push_back(static_cast<float>(value));
    }
  }
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
