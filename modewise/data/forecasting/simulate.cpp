#include "modewise/data/forecasting/simulate.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/ones.h>

#include <cmath>
#include <numbers>

#include "modewise/core/error.h"
#include "modewise/core/random.h"
#include "modewise/data/forecasting/tensor_cells.h"

namespace modewise::data {
namespace {

constexpr int64_t kSpinUp = 400;        // spin-up rows, discarded
constexpr int64_t kMaxCells = 1 << 30;  // 8 GiB

// Purpose of a random stream, used as its step.
enum Draw : uint64_t { initial_state, noise, hidden_cells, phases };

RandomStream stream_of(uint64_t seed, Draw draw) {
  return {seed, RandomSite::simulation, draw};
}

Series empty_series(std::vector<int64_t> shape, std::vector<SeriesMode> modes, const std::string& name) {
  double cells = 1;
  for (const int64_t size : shape) cells *= static_cast<double>(size);
  require(cells <= static_cast<double>(kMaxCells), ErrorKind::config,
          "data.simulate_rows: {} would hold {:.3g} values, more than the {} allowed", name, cells,
          kMaxCells);
  Series series;
  series.values = at::empty(shape, at::kDouble);
  series.modes = std::move(modes);
  series.time.length = shape[0];
  series.source = name + " (simulated)";
  return series;
}

std::vector<std::string> labels(const std::string& stem, int64_t count) {
  std::vector<std::string> names;
  for (int64_t i = 0; i < count; ++i) names.push_back(fmt::format("{}{}", stem, i + 1));
  return names;
}

/// State: K slow values, then the K·J fast values of the ring in site order.
class Lorenz96 {
 public:
  explicit Lorenz96(const Lorenz96Config& c)
      : sites_(static_cast<size_t>(c.sites)),
        fast_(static_cast<size_t>(c.fast)),
        forcing_(c.forcing),
        exchange_(c.coupling * c.time_ratio / c.amplitude_ratio),
        ratio_(c.time_ratio),
        product_(c.time_ratio * c.amplitude_ratio) {}

  size_t size() const { return sites_ * (1 + fast_); }

  void derivative(const std::vector<double>& state, std::vector<double>& out) const {
    const double* x = state.data();
    const double* y = x + sites_;
    const size_t ring = sites_ * fast_;
    for (size_t k = 0; k < sites_; ++k) {
      double sum = 0;
      for (size_t j = 0; j < fast_; ++j) sum += y[k * fast_ + j];
      const size_t before = (k + sites_ - 1) % sites_, before2 = (k + sites_ - 2) % sites_,
                   after = (k + 1) % sites_;
      out[k] = x[before] * (x[after] - x[before2]) - x[k] + forcing_ - exchange_ * sum;
    }
    for (size_t m = 0; m < ring; ++m) {
      const double after = y[(m + 1) % ring], after2 = y[(m + 2) % ring], before = y[(m + ring - 1) % ring];
      out[sites_ + m] = -product_ * after * (after2 - before) - ratio_ * y[m] + exchange_ * x[m / fast_];
    }
  }

  /// One step of the classical Runge-Kutta method (RK4).
  void advance(std::vector<double>& state, double step) {
    const size_t n = state.size();
    sum_.resize(n);
    slope_.resize(n);
    probe_ = state;
    derivative(state, sum_);
    slope_ = sum_;
    static constexpr double reach[3] = {0.5, 0.5, 1.0}, weight[3] = {2, 2, 1};
    for (int stage = 0; stage < 3; ++stage) {
      for (size_t i = 0; i < n; ++i) probe_[i] = state[i] + reach[stage] * step * slope_[i];
      derivative(probe_, slope_);
      for (size_t i = 0; i < n; ++i) sum_[i] += weight[stage] * slope_[i];
    }
    for (size_t i = 0; i < n; ++i) state[i] += step / 6 * sum_[i];
  }

 private:
  size_t sites_, fast_;
  double forcing_, exchange_, ratio_, product_;
  std::vector<double> sum_, slope_, probe_;
};

/// Adds noise of `level` standard deviations to each series of the last axis.
void add_relative_noise(at::Tensor& values, double level, uint64_t seed) {
  const int64_t rows = values.size(0), count = values.numel() / rows;
  double* x = values.mutable_data_ptr<double>();
  std::vector<double> mean(static_cast<size_t>(count)), square(mean.size());
  for (int64_t cell = 0; cell < rows * count; ++cell)
    mean[static_cast<size_t>(cell % count)] += x[cell] / static_cast<double>(rows);
  for (int64_t cell = 0; cell < rows * count; ++cell) {
    const auto i = static_cast<size_t>(cell % count);
    square[i] += (x[cell] - mean[i]) * (x[cell] - mean[i]) / static_cast<double>(rows);
  }
  const RandomStream stream = stream_of(seed, noise);
  for (int64_t cell = 0; cell < rows * count; ++cell)
    x[cell] += level * std::sqrt(square[static_cast<size_t>(cell % count)]) *
               stream.normal(static_cast<uint64_t>(cell));
}

}  // namespace

Series simulate_lorenz96(const Lorenz96Config& config, int64_t rows, uint64_t seed) {
  const int64_t sites = config.sites, fast = config.fast;
  const bool all = config.variables == "all";
  std::vector<std::string> names = {"slow"};
  if (all)
    for (const std::string& name : labels("fast", fast)) names.push_back(name);
  else
    names.push_back("fast_mean");
  const auto width = static_cast<int64_t>(names.size());
  Series series = empty_series(
      {rows, sites, width}, {{"site", labels("site", sites), false}, {"variable", names, false}}, "lorenz96");
  Lorenz96 system(config);
  std::vector<double> state(system.size());
  const RandomStream random = stream_of(seed, initial_state);
  for (size_t i = 0; i < state.size(); ++i)
    state[i] =
        random.normal(i) * (i < static_cast<size_t>(sites) ? 1.0 : 0.1) + (i == 0 ? config.forcing : 0.0);

  const double step = config.sample_step / static_cast<double>(config.substeps);
  double* out = series.values.mutable_data_ptr<double>();
  for (int64_t row = -kSpinUp; row < rows; ++row) {
    for (int64_t substep = 0; substep < config.substeps; ++substep) system.advance(state, step);
    require(std::isfinite(state[0]), ErrorKind::config,
            "data.lorenz96: the integration diverges at row {} with steps of {:.3g} (sample_step {} / "
            "substeps {}); raise data.lorenz96.substeps",
            row + kSpinUp, step, config.sample_step, config.substeps);
    if (row < 0) continue;
    for (int64_t k = 0; k < sites; ++k) {
      *out++ = state[static_cast<size_t>(k)];
      const double* y = state.data() + sites + k * fast;
      if (all) {
        out = std::copy_n(y, fast, out);
      } else {
        double sum = 0;
        for (int64_t j = 0; j < fast; ++j) sum += y[j];
        *out++ = sum / static_cast<double>(fast);
      }
    }
  }
  if (config.noise > 0) add_relative_noise(series.values, config.noise, seed);
  return series;
}

Series simulate_logistic(const LogisticConfig& config, int64_t rows, uint64_t seed) {
  const auto sites = static_cast<size_t>(config.sites);
  Series series =
      empty_series({rows, config.sites}, {{"variable", labels("map", config.sites), false}}, "logistic");
  const RandomStream random = stream_of(seed, initial_state), disturbance = stream_of(seed, noise);
  std::vector<double> state(sites), image(sites);
  for (size_t i = 0; i < sites; ++i) state[i] = 0.1 + 0.8 * random.uniform(i);
  double* out = series.values.mutable_data_ptr<double>();
  for (int64_t row = -kSpinUp; row < rows; ++row) {
    for (size_t i = 0; i < sites; ++i) image[i] = config.rate * state[i] * (1 - state[i]);
    for (size_t i = 0; i < sites; ++i)
      state[i] = (1 - config.coupling) * image[i] +
                 config.coupling / 2 * (image[(i + sites - 1) % sites] + image[(i + 1) % sites]);
    if (row < 0) continue;
    for (size_t i = 0; i < sites; ++i) {
      const auto cell = static_cast<size_t>(row) * sites + i;
      out[cell] = state[i] + (config.noise > 0 ? config.noise * disturbance.normal(cell) : 0.0);
    }
  }
  return series;
}

Series simulate_seasonal(const SeasonalConfig& config, int64_t rows, uint64_t seed) {
  require(config.periods.size() == config.amplitudes.size(), ErrorKind::config,
          "data.seasonal: expected as many amplitudes as periods, got {} and {}", config.amplitudes.size(),
          config.periods.size());
  const auto count = static_cast<size_t>(config.variables), seasons = config.periods.size();
  Series series = empty_series({rows, config.variables},
                               {{"variable", labels("series", config.variables), false}}, "seasonal");
  const RandomStream phase = stream_of(seed, phases), innovation = stream_of(seed, noise);
  // The noise begins in its stationary distribution, so that every row has the same variance.
  const double spread = config.noise / std::sqrt(1 - config.memory * config.memory);
  std::vector<double> disturbance(count);
  double* out = series.values.mutable_data_ptr<double>();
  for (int64_t row = 0; row < rows; ++row)
    for (size_t v = 0; v < count; ++v) {
      const double z = innovation.normal(static_cast<size_t>(row) * count + v);
      disturbance[v] = row == 0 ? spread * z : config.memory * disturbance[v] + config.noise * z;
      double x = config.trend * static_cast<double>(row) + disturbance[v];
      for (size_t s = 0; s < seasons; ++s)
        x += config.amplitudes[s] *
             std::sin(2 * std::numbers::pi *
                      (static_cast<double>(row) / config.periods[s] + phase.uniform(v * seasons + s)));
      *out++ = x;
    }
  return series;
}

std::vector<double> seasonal_noise_floor(const SeasonalConfig& config, const Scaler& scaler,
                                         int64_t horizon) {
  const at::Tensor stddev = scaler.stddev.contiguous();
  double weight = 0;
  for (int64_t i = 0; i < stddev.numel(); ++i)
    weight += 1 / (stddev.const_data_ptr<double>()[i] * stddev.const_data_ptr<double>()[i]);
  weight /= static_cast<double>(stddev.numel());
  std::vector<double> floor;
  double variance = 0;  // of the noise h steps ahead, given its current value: σ²(1 + φ² + … + φ^(2h−2))
  for (int64_t h = 0; h < horizon; ++h) {
    variance = config.noise * config.noise + config.memory * config.memory * variance;
    floor.push_back(variance * weight);
  }
  return floor;
}

void knock_out(Series& series, double fraction, uint64_t seed) {
  if (!series.observed.defined()) series.observed = at::ones(series.values.sizes(), at::kBool);
  const RandomStream random = stream_of(seed, hidden_cells);
  bool* observed = series.observed.mutable_data_ptr<bool>();
  const TensorCells values(series.values);
  const auto cells = static_cast<uint64_t>(series.values.numel());
  const double limit = fraction * 0x1p32;
  for (uint64_t block = 0; block * 4 < cells; ++block) {
    const auto words = random.block(block);
    for (uint64_t i = 0; i < 4 && block * 4 + i < cells; ++i)
      if (words[i] < limit) {
        observed[block * 4 + i] = false;
        values.set(static_cast<int64_t>(block * 4 + i), 0);
      }
  }
  series.notes.push_back(fmt::format("{:.3g} % of the cells are masked at random", fraction * 100));
}

}  // namespace modewise::data
