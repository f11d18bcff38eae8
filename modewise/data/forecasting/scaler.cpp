#include "modewise/data/forecasting/scaler.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "modewise/core/aliases.h"
#include "modewise/core/error.h"
#include "modewise/data/forecasting/tensor_cells.h"

namespace modewise::data {
namespace {

/// sklearn's rule (_is_constant_feature): a variance within the rounding error counts as 0.
bool is_constant(double variance, double mean, double count) {
  constexpr double epsilon = std::numeric_limits<double>::epsilon();
  const double rounding = count * mean * epsilon;
  return variance <= count * epsilon * variance + rounding * rounding;
}

at::Tensor tensor_of(const std::vector<double>& values, at::IntArrayRef shape) {
  at::Tensor tensor = at::empty(shape, at::kDouble);
  std::copy(values.begin(), values.end(), tensor.mutable_data_ptr<double>());
  return tensor;
}

std::vector<double> values_of(const at::Tensor& tensor) {
  const at::Tensor contiguous = tensor.contiguous();
  const double* data = contiguous.const_data_ptr<double>();
  return {data, data + contiguous.numel()};
}

/// Reports the largest value of series `index`, whose variance overflows.
[[noreturn]] void refuse_overflow(const Series& series, SplitRange range, size_t index) {
  const auto at = static_cast<int64_t>(index), count = series.series_count();
  const TensorCells values(series.values);
  int64_t largest = range.begin;
  for (int64_t row = range.begin; row < range.end; ++row)
    if (std::abs(values[row * count + at]) > std::abs(values[largest * count + at])) largest = row;
  fail(ErrorKind::data,
       "{}: {} is so large that the variance of '{}' overflows; if it stands for a missing value, name it in "
       "data.missing_values",
       series.where(largest, at), values[largest * count + at], series.series_name(at));
}

}  // namespace

Scaler Scaler::fit(const Series& series, SplitRange range) {
  require(range.begin >= 0 && range.begin < range.end && range.end <= series.rows(), ErrorKind::internal,
          "Scaler::fit: rows [{}, {}) are not within the {} rows of {}", range.begin, range.end,
          series.rows(), series.source);
  const auto count = static_cast<size_t>(series.series_count());
  const TensorCells values(series.values);
  const bool* observed = series.observed.defined() ? series.observed.const_data_ptr<bool>() : nullptr;
  const auto seen = [&](size_t cell) { return observed == nullptr || observed[cell]; };
  const auto each_cell = [&](auto&& visit) {
    for (auto row = static_cast<size_t>(range.begin); row < static_cast<size_t>(range.end); ++row)
      for (size_t i = 0; i < count; ++i)
        if (const size_t cell = row * count + i; seen(cell)) visit(i, values[static_cast<int64_t>(cell)]);
  };

  // Two passes in row order on one thread, so that results are bit-exact. The second corrects the rounding of
  // the mean, like sklearn.
  std::vector<double> number(count), mean(count), squares(count), rest(count), stddev(count, 1.0);
  each_cell([&](size_t i, double x) {
    number[i] += 1;
    mean[i] += x;
  });
  for (size_t i = 0; i < count; ++i) mean[i] = number[i] > 0 ? mean[i] / number[i] : 0;
  each_cell([&](size_t i, double x) {
    const double difference = x - mean[i];
    squares[i] += difference * difference;
    rest[i] += difference;
  });

  Scaler scaler;
  for (size_t i = 0; i < count; ++i) {
    const std::string name = series.series_name(static_cast<int64_t>(i));
    if (number[i] == 0) {
      for (auto row = static_cast<size_t>(range.end); row < static_cast<size_t>(series.rows()); ++row)
        if (seen(row * count + i)) {
          scaler.left_out.push_back(static_cast<int64_t>(i));
          break;
        }
      scaler.notes.push_back(
          fmt::format("'{}' is never observed in the training rows: mean 0 and scale 1 are used", name));
      continue;
    }
    const double variance = (squares[i] - rest[i] * rest[i] / number[i]) / number[i];
    if (!std::isfinite(variance)) refuse_overflow(series, range, i);
    if (is_constant(variance, mean[i], number[i]))
      scaler.notes.push_back(
          fmt::format("'{}' is {:.6g} in all training rows: scale 1 is used", name, mean[i]));
    else
      stddev[i] = std::sqrt(variance);
  }
  scaler.mean = tensor_of(mean, series.shape());
  scaler.stddev = tensor_of(stddev, series.shape());
  return scaler;
}

Scaler Scaler::identity(const Series& series) {
  return {at::zeros(series.shape(), at::kDouble), at::ones(series.shape(), at::kDouble), {}, {}};
}

at::Tensor Scaler::transform(const Series& series) const {
  require(series.values.sizes().slice(1) == mean.sizes(), ErrorKind::internal,
          "Scaler::transform: {} has {} series, the scaler {}", series.source, series.series_count(),
          mean.numel());
  const int64_t rows = series.rows(), count = series.series_count();
  at::Tensor scaled = at::empty(series.values.sizes(), at::kFloat);
  float* out = scaled.mutable_data_ptr<float>();
  const TensorCells values(series.values);
  const bool* observed = series.observed.defined() ? series.observed.const_data_ptr<bool>() : nullptr;
  const std::vector<double> means = values_of(mean), stddevs = values_of(stddev);
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t i = 0; i < count; ++i) {
      const int64_t cell = row * count + i;
      const auto s = static_cast<size_t>(i);
      const bool seen = observed == nullptr || observed[cell];
      const double value = seen ? (values[cell] - means[s]) / stddevs[s] : 0;
      if (!(std::abs(value) <= std::numeric_limits<float>::max()))
        fail(ErrorKind::data,
             "{}: {} is {:.3g} standard deviations from the mean of its training rows, more than 32-bit "
             "floats can hold; if it stands for a missing value, name it in data.missing_values",
             series.where(row, i), values[cell], value);
      out[cell] = static_cast<float>(value);
    }
  return scaled;
}

at::Tensor Scaler::inverse(const at::Tensor& x, int64_t mode_axis) const {
  std::vector<int64_t> shape(static_cast<size_t>(x.dim()), 1);
  for (int64_t mode = 0; mode < mean.dim(); ++mode) {
    const int64_t axis = mode_axis + mode;
    require(axis < x.dim() && x.size(axis) == mean.size(mode), ErrorKind::internal,
            "Scaler::inverse: axis {} of {} axes must have the {} positions of mode {}", axis, x.dim(),
            mean.size(mode), mode);
    shape[static_cast<size_t>(axis)] = mean.size(mode);
  }
  return x.to(at::kDouble) * stddev.reshape(shape) + mean.reshape(shape);
}

nlohmann::json Scaler::to_json() const {
  nlohmann::json json = {
      {"shape", mean.sizes().vec()}, {"mean", values_of(mean)}, {"std", values_of(stddev)}, {"notes", notes}};
  if (!left_out.empty()) json["left_out"] = left_out;
  return json;
}

Scaler Scaler::from_json(const nlohmann::json& json, const std::string& source) {
  std::vector<int64_t> shape;
  std::vector<double> mean, stddev;
  Scaler scaler;
  try {
    shape = json.at("shape").get<std::vector<int64_t>>();
    mean = json.at("mean").get<std::vector<double>>();
    stddev = aliased_member(json, "std").get<std::vector<double>>();
    scaler.notes = json.value("notes", std::vector<std::string>{});
    scaler.left_out = json.value("left_out", std::vector<int64_t>{});
  } catch (const nlohmann::json::exception& error) {
    fail(ErrorKind::data, "{}: expected a scaler with shape, mean and std: {}", source, error.what());
  }
  double count = 1;
  for (const int64_t size : shape) count *= size > 0 ? static_cast<double>(size) : 0.0;
  require(!shape.empty() && count > 0 && count == static_cast<double>(mean.size()) &&
              mean.size() == stddev.size(),
          ErrorKind::data,
          "{}: expected as many means and standard deviations as in the scaler's shape, got {} and {}",
          source, mean.size(), stddev.size());
  for (size_t i = 0; i < mean.size(); ++i)
    require(std::isfinite(mean[i]) && std::isfinite(stddev[i]) && stddev[i] > 0, ErrorKind::data,
            "{}: expected a finite mean and a standard deviation above 0 for series {}, got {} and {}",
            source, i, mean[i], stddev[i]);
  for (const int64_t index : scaler.left_out)
    require(index >= 0 && index < std::ssize(mean), ErrorKind::data,
            "{}: left_out names series {}, but the scaler has {}", source, index, mean.size());
  scaler.mean = tensor_of(mean, shape);
  scaler.stddev = tensor_of(stddev, shape);
  return scaler;
}

std::vector<std::string> leave_out(Series& series, const std::vector<int64_t>& left_out) {
  std::vector<std::string> sentences;
  const int64_t count = series.series_count();
  if (!left_out.empty() && !series.observed.defined())
    series.observed = at::full(series.values.sizes(), true, at::kBool);
  for (const int64_t index : left_out) {
    sentences.push_back(
        fmt::format("'{}' begins after the training rows and is not forecast", series.series_name(index)));
    for (int64_t row = 0; row < series.rows(); ++row) {
      TensorCells(series.values).set(row * count + index, 0);
      series.observed.mutable_data_ptr<bool>()[row * count + index] = false;
    }
  }
  return sentences;
}

}  // namespace modewise::data
