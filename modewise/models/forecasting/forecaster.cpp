#include "modewise/models/forecasting/forecaster.h"

#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>
#include <fmt/ranges.h>

#include <functional>
#include <numeric>
#include <utility>

#include "modewise/core/error.h"
#include "modewise/nn/layers/dropout.h"

namespace modewise::models {

int64_t ForecastShape::series_count() const {
  return std::accumulate(series.begin(), series.end(), int64_t{1}, std::multiplies<>());
}

int64_t ForecastShape::covariate_places() const {
  return std::accumulate(series.begin(), series.begin() + known_modes, int64_t{1}, std::multiplies<>());
}

Forecaster::Forecaster(ForecastShape shape) : shape_(std::move(shape)) {}

AttentionView Forecaster::attention(const ForecastInput&) {
  return {};
}

void Forecaster::start_cycle(const at::Tensor&) {
  fail(ErrorKind::internal, "start_cycle: this model has no cycle");
}

at::Tensor Forecaster::checked_past(const ForecastInput& input) const {
  std::vector<int64_t> wanted{input.past.defined() && input.past.dim() > 0 ? input.past.size(0) : 0};
  wanted.insert(wanted.end(), shape_.series.begin(), shape_.series.end());
  wanted.push_back(shape_.lookback);
  const auto check = [&](const at::Tensor& tensor, const char* name) {
    require(tensor.defined() && tensor.sizes() == at::IntArrayRef(wanted), ErrorKind::data,
            "forecaster: {} must be [{}], got [{}]", name, fmt::join(wanted, ", "),
            tensor.defined() ? fmt::format("{}", fmt::join(tensor.sizes(), ", ")) : "nothing");
  };
  check(input.past, "past");
  if (!input.observed.defined()) return input.past;
  check(input.observed, "observed");
  require(input.observed.scalar_type() == at::kBool, ErrorKind::data, "forecaster: observed must be bool");
  require(shape_.missing, ErrorKind::data,
          "forecaster: observed was given, but the model was built for data without missing cells");
  return at::where(input.observed, input.past, at::zeros({}, input.past.options()));
}

at::Tensor Forecaster::checked_known(const ForecastInput& input) const {
  std::vector<int64_t> wanted{input.past.size(0)};
  wanted.insert(wanted.end(), shape_.series.begin(), shape_.series.begin() + shape_.known_modes);
  wanted.push_back(shape_.known);
  wanted.push_back(shape_.lookback + shape_.horizon);
  require(input.known.defined() && input.known.sizes() == at::IntArrayRef(wanted), ErrorKind::data,
          "forecaster: future covariates must be [{}], got [{}]", fmt::join(wanted, ", "),
          input.known.defined() ? fmt::format("{}", fmt::join(input.known.sizes(), ", ")) : "nothing");
  return input.known;
}

void set_dropout_step(torch::nn::Module& root, uint64_t seed, uint64_t step) {
  nn::set_dropout_step(root, seed, step);
}

}  // namespace modewise::models
