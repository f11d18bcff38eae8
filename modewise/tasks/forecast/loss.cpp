#include "modewise/tasks/forecast/loss.h"

#include <ATen/core/Reduction.h>
#include <ATen/ops/full.h>
#include <ATen/ops/huber_loss.h>
#include <ATen/ops/maximum.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros_like.h>

#include "modewise/core/error.h"

namespace modewise::tasks {
namespace {

at::Tensor elementwise_loss(const at::Tensor& forecast, const at::Tensor& future,
                            const ForecastOptions& options) {
  if (options.loss == "quantile") return pinball_loss(forecast, future, options.quantiles);
  if (options.loss == "huber")
    return at::huber_loss(forecast, future, at::Reduction::None, options.huber_delta);
  const at::Tensor error = forecast.sub(future);
  return options.loss == "mse" ? error.mul(error) : error.abs();
}

/// Sum over samples and series, [B, N_1…N_j, H] -> [H]: over the series first, then over the samples. (A sum
/// to a single element would be split by the number of threads; these keep H or B·H results.)
at::Tensor sum_by_step(const at::Tensor& x) {
  return x.reshape({x.size(0), -1, x.size(-1)}).sum(1).sum(0);
}

}  // namespace

at::Tensor pinball_loss(const at::Tensor& quantiles, const at::Tensor& future,
                        const std::vector<double>& levels) {
  require(quantiles.size(-1) == std::ssize(levels), ErrorKind::internal,
          "pinball_loss: {} levels need as many quantiles, got {}", levels.size(), quantiles.size(-1));
  std::vector<at::Tensor> each;
  for (const double level : levels) each.push_back(at::full({}, level, quantiles.options()));
  const at::Tensor level = at::stack(each);
  const at::Tensor gap = future.unsqueeze(-1).sub(quantiles);
  return at::maximum(gap.mul(level), gap.mul(level.sub(1))).mean(-1);
}

at::Tensor forecast_loss(const at::Tensor& forecast, const at::Tensor& future, const at::Tensor& observed,
                         const ForecastOptions& options) {
  // Whatever stands under a missing target is replaced first: a NaN there would reach the gradient even times
  // 0.
  const at::Tensor target = observed.defined() ? at::where(observed, future, at::zeros_like(future)) : future;
  at::Tensor loss = elementwise_loss(forecast, target, options);
  const int64_t rows = loss.numel() / loss.size(-1);
  at::Tensor counts;  // [H]
  if (observed.defined()) {
    loss = at::where(observed, loss, at::zeros_like(loss));
    counts = sum_by_step(observed.to(loss.scalar_type()));
  }
  const at::Tensor sums = sum_by_step(loss);
  at::Tensor total;
  const std::vector<int64_t> horizons = options.reported();
  for (const int64_t steps : horizons) {
    const at::Tensor sum = sums.narrow(0, 0, steps).sum();
    const at::Tensor mean = counts.defined() ? sum.div(counts.narrow(0, 0, steps).sum().clamp_min(1))
                                             : sum.div(static_cast<double>(rows * steps));
    total = total.defined() ? total.add(mean) : mean;
  }
  return horizons.size() > 1 ? total.div(static_cast<double>(horizons.size())) : total;
}

}  // namespace modewise::tasks
