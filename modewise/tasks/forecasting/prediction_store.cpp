#include "modewise/tasks/forecasting/prediction_store.h"

#include <fmt/ranges.h>

#include <limits>
#include <sstream>

#include "modewise/core/error.h"
#include "modewise/io/arrays/name_lines.h"
#include "modewise/io/arrays/npz.h"
#include "modewise/models/forecasting/unscaled.h"

namespace modewise::tasks {

PredictionStore::PredictionStore(const ForecastData& data, const data::WindowSet& windows,
                                 std::vector<double> levels, int64_t maximum)
    : data_(data),
      mean_(scaler_means(data.scaler)),
      stddev_(scaler_stddevs(data.scaler)),
      levels_(std::move(levels)),
      lookback_(windows.shape().lookback),
      horizon_(windows.shape().horizon) {
  const int64_t total = windows.size(), count = std::min(total, maximum);
  for (int64_t i = 0; i < count; ++i)
    windows_.push_back(count > 1 ? i * (total - 1) / (count - 1) : total - 1);
}

void PredictionStore::add(const ForecastBlock& block, std::span<const float> quantiles) {
  const size_t series = mean_.size();
  // Appends `length` values per series of window `window`, in units.
  const auto append = [&](std::vector<float>& to, std::span<const float> from, std::span<const bool> observed,
                          size_t window, size_t length) {
    for (size_t s = 0; s < series; ++s)
      for (size_t i = 0; i < length; ++i) {
        const size_t at = (window * series + s) * length + i;
        const bool known = observed.empty() || observed[at];
        to.push_back(known ? static_cast<float>(models::unscaled(from[at], mean_[s], stddev_[s]))
                           : std::numeric_limits<float>::quiet_NaN());
      }
  };
  for (; next_ < windows_.size() && windows_[next_] < block.first_window + block.windows(); ++next_) {
    const auto window = static_cast<size_t>(windows_[next_] - block.first_window);
    const auto lookback = static_cast<size_t>(lookback_), horizon = static_cast<size_t>(horizon_);
    append(past_, floats(block.past), flags(block.past_observed), window, lookback);
    append(truth_, floats(block.future), flags(block.future_observed), window, horizon);
    append(forecast_, floats(block.forecast), {}, window, horizon);
    append(quantiles_, quantiles, {}, window, quantiles.empty() ? 0 : horizon * levels_.size());
    first_rows_.push_back(block.first_step.const_data_ptr<int64_t>()[window]);
  }
}

void PredictionStore::write(const std::filesystem::path& path) const {
  const auto n = std::ssize(first_rows_), series = std::ssize(mean_);
  std::vector<int64_t> times;
  std::vector<std::string> names;
  for (const int64_t row : first_rows_)
    for (int64_t i = 0; i < lookback_ + horizon_; ++i) times.push_back(data_.series.time.at(row + i));
  for (int64_t s = 0; s < series; ++s) names.push_back(data_.series.series_name(s));
  const uint8_t dated = data_.series.time.dated ? 1 : 0;
  std::map<std::string, io::Array> arrays = {
      {"past", io::make_array({n, series, lookback_}, std::span<const float>(past_))},
      {"truth", io::make_array({n, series, horizon_}, std::span<const float>(truth_))},
      {"forecast", io::make_array({n, series, horizon_}, std::span<const float>(forecast_))},
      {"first_row", io::make_array({n}, std::span<const int64_t>(first_rows_))},
      {"times", io::make_array({n, lookback_ + horizon_}, std::span<const int64_t>(times))},
      {"dated", io::make_array({1}, std::span(&dated, 1))},
      {"names", io::name_lines(names)}};
  if (!levels_.empty()) {
    arrays["levels"] = io::make_array({std::ssize(levels_)}, std::span<const double>(levels_));
    arrays["quantiles"] =
        io::make_array({n, series, horizon_, std::ssize(levels_)}, std::span<const float>(quantiles_));
  }
  io::write_npz(path.string(), arrays, true);
}

KeptPredictions read_predictions(const std::filesystem::path& path) {
  const auto arrays = io::read_npz(path.string());
  KeptPredictions result;
  const auto get = [&](const char* name, std::vector<int64_t> shape) {
    const auto found = arrays.find(name);
    require(found != arrays.end() && found->second.shape == shape, ErrorKind::data,
            "{}: array '{}' is missing or not [{}]", path.string(), name, fmt::join(shape, ", "));
    return io::to_doubles(found->second);
  };
  const auto past = arrays.find("past"), truth = arrays.find("truth");
  require(past != arrays.end() && truth != arrays.end() && past->second.shape.size() == 3 &&
              truth->second.shape.size() == 3,
          ErrorKind::data, "{}: arrays 'past' and 'truth' are missing or not [windows, series, rows]",
          path.string());
  result.windows = past->second.shape[0];
  result.series = past->second.shape[1];
  result.lookback = past->second.shape[2];
  result.horizon = truth->second.shape[2];
  result.past = get("past", {result.windows, result.series, result.lookback});
  result.truth = get("truth", {result.windows, result.series, result.horizon});
  result.forecast = get("forecast", {result.windows, result.series, result.horizon});
  result.times = get("times", {result.windows, result.lookback + result.horizon});
  result.dated = get("dated", {1})[0] != 0;
  if (const auto levels = arrays.find("levels"); levels != arrays.end()) {
    result.levels = io::to_doubles(levels->second);
    result.quantiles =
        get("quantiles", {result.windows, result.series, result.horizon, std::ssize(result.levels)});
  }
  if (const auto names = arrays.find("names"); names != arrays.end()) {
    std::istringstream lines(
        std::string(reinterpret_cast<const char*>(names->second.bytes.data()), names->second.bytes.size()));
    for (std::string line; std::getline(lines, line);) result.names.push_back(line);
  }
  require(std::ssize(result.names) == result.series, ErrorKind::data, "{}: {} names for {} series",
          path.string(), result.names.size(), result.series);
  return result;
}

}  // namespace modewise::tasks
