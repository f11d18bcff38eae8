#include "modewise/models/forecasting/ensemble.h"

#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/full.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <span>

#include "modewise/core/error.h"
#include "modewise/models/saved_config.h"
#include "modewise/ops/dense/matmul.h"

namespace modewise::models {
namespace {

constexpr size_t kWindowsAtOnce = 64;

/// `count` rows of each window from row `first`, [B, N_1…N_j, count].
at::Tensor windows(const at::Tensor& values, std::span<const int64_t> first, int64_t offset, int64_t count) {
  std::vector<at::Tensor> each;
  for (const int64_t row : first) each.push_back(values.narrow(-1, row + offset, count));
  return at::stack(each);
}

}  // namespace

void EnsembleMember::fields(Fields& f) {
  f.add("lookback", lookback, "lookback of the member in rows", {.min = 1});
  f.group("model", model);
}

std::string EnsembleMember::to_toml() const {
  EnsembleMember copy = *this;
  return fields_of(copy).to_toml();
}

EnsembleMember EnsembleMember::from_toml(const std::string& text, const std::string& source) {
  EnsembleMember member;
  Fields fields = fields_of(member);
  load_saved_toml(fields, text, source);
  return member;
}

namespace {

/// Picks members one by one, each time the one with the lowest error_with(member) besides those before; `add`
/// takes it in. mean_error(sum, picks) is the error of the mean of the picks. Returns the weights of the best
/// prefix.
std::vector<double> greedy_picks(int64_t members, int64_t picks,
                                 const std::function<double(int64_t)>& error_with,
                                 const std::function<void(int64_t, double)>& add,
                                 const std::function<double(double, double)>& mean_error) {
  std::vector<double> picked(static_cast<size_t>(members)), best(picked.size());
  double minimum = std::numeric_limits<double>::infinity();
  for (int64_t pick = 1; pick <= picks; ++pick) {
    int64_t chosen = 0;
    double lowest = std::numeric_limits<double>::infinity();
    for (int64_t m = 0; m < members; ++m)
      if (const double error = error_with(m); error < lowest) {
        lowest = error;
        chosen = m;
      }
    picked[static_cast<size_t>(chosen)] += 1;
    add(chosen, lowest);
    const auto count = static_cast<double>(pick);
    const double mean = mean_error(lowest, count);
    if (mean >= minimum) continue;
    minimum = mean;
    for (size_t m = 0; m < best.size(); ++m) best[m] = picked[m] / count;
  }
  return best;
}

}  // namespace

std::vector<double> greedy_weights(const at::Tensor& gram, int64_t picks) {
  const int64_t members = gram.size(0);
  const at::Tensor products = gram.contiguous();
  const double* g = products.const_data_ptr<double>();
  std::vector<double> row(static_cast<size_t>(members));
  double sum = 0;  // pickedᵀ gram picked
  return greedy_picks(
      members, picks,
      [&](int64_t m) { return sum + 2 * row[static_cast<size_t>(m)] + g[m * members + m]; },
      [&](int64_t chosen, double lowest) {
        sum = lowest;
        for (int64_t m = 0; m < members; ++m) row[static_cast<size_t>(m)] += g[chosen * members + m];
      },
      [](double error, double count) { return error / (count * count); });
}

std::vector<double> greedy_absolute_weights(const at::Tensor& errors, int64_t picks) {
  const int64_t members = errors.size(0), cells = errors.size(1);
  const at::Tensor all = errors.contiguous();
  const float* e = all.const_data_ptr<float>();
  std::vector<double> sum(static_cast<size_t>(cells)), error_with(static_cast<size_t>(members));
  const auto measure = [&] {  // one thread sums the errors of a member: the order is fixed
    at::parallel_for(0, members, 1, [&](int64_t begin, int64_t end) {
      for (int64_t m = begin; m < end; ++m) {
        double total = 0;
        for (int64_t i = 0; i < cells; ++i)
          total += std::abs(sum[static_cast<size_t>(i)] + static_cast<double>(e[m * cells + i]));
        error_with[static_cast<size_t>(m)] = total;
      }
    });
  };
  measure();
  return greedy_picks(
      members, picks, [&](int64_t m) { return error_with[static_cast<size_t>(m)]; },
      [&](int64_t chosen, double /*lowest*/) {
        for (int64_t i = 0; i < cells; ++i)
          sum[static_cast<size_t>(i)] += static_cast<double>(e[chosen * cells + i]);
        measure();
      },
      [](double error, double count) { return error / count; });
}

namespace {

/// wᵀ gram w.
double error_of(const std::vector<double>& weights, const at::Tensor& gram) {
  const at::Tensor w = at::tensor(at::ArrayRef<double>(weights));
  return (w.unsqueeze(-1) * w * gram).sum().item<double>();
}

}  // namespace

SplitWeights weights_over_splits(const std::vector<at::Tensor>& grams, int64_t picks) {
  const auto sum_of = [&](size_t left_out) {
    at::Tensor sum = at::zeros_like(grams.front());
    for (size_t i = 0; i < grams.size(); ++i)
      if (i != left_out) sum += grams[i];
    return sum;
  };
  const auto best_of = [](const at::Tensor& gram) { return gram.diagonal().argmin().item<int64_t>(); };
  SplitWeights out;
  const auto splits = static_cast<double>(grams.size());
  std::vector<double> gains;  // of a single member
  for (size_t i = 0; i < grams.size() && grams.size() > 1; ++i) {
    const at::Tensor others = sum_of(i);
    const double mixed = error_of(greedy_weights(others, picks), grams[i]);
    const int64_t best = best_of(others);
    const auto single = grams[i][best][best].item<double>();
    out.mixed += mixed / splits;
    out.single += single / splits;
    gains.push_back(mixed - single);
  }
  const at::Tensor all = sum_of(grams.size());
  out.weights = greedy_weights(all, picks);
  const double gain = out.mixed - out.single;
  double squares = 0;
  for (const double one : gains) squares += (one - gain) * (one - gain);
  if (gain > 0 && gain > std::sqrt(squares / (splits - 1) / splits)) {
    std::fill(out.weights.begin(), out.weights.end(), 0.0);
    out.weights[static_cast<size_t>(best_of(all))] = 1;
  }
  for (const at::Tensor& gram : grams) out.error += error_of(out.weights, gram) / splits;
  return out;
}

EnsembleForecaster::EnsembleForecaster(const ForecasterConfig& config, const ForecastShape& shape,
                                       nn::Initializer& init)
    : Forecaster(shape), picks_(config.ensemble.picks) {
  for (const std::string& text : config.ensemble.members) {
    const EnsembleMember member = EnsembleMember::from_toml(text, "model.ensemble.members");
    ForecastShape of_member = shape;
    of_member.lookback = member.lookback;
    members_.push_back(
        register_module(fmt::format("member{}", members_.size()),
                        row_of(forecasters(), member.model.name).make(member.model, of_member, init)));
  }
  for (at::Tensor& parameter : parameters()) parameter.set_requires_grad(false);
  weights_ =
      register_buffer("weights", at::full({members()}, 1 / static_cast<double>(members()), at::kDouble));
}

ForecastInput EnsembleForecaster::input_of(const Forecaster& member, const ForecastInput& input) const {
  const int64_t lookback = member.shape().lookback, left_out = shape().lookback - lookback;
  ForecastInput out = input;
  out.past = input.past.narrow(-1, left_out, lookback);
  if (input.observed.defined()) out.observed = input.observed.narrow(-1, left_out, lookback);
  if (input.first_step.defined()) out.first_step = input.first_step + left_out;
  if (input.known.defined()) out.known = input.known.narrow(-1, left_out, lookback + shape().horizon);
  return out;
}

at::Tensor EnsembleForecaster::forward(const ForecastInput& input) {
  ForecastInput checked = input;
  checked.past = checked_past(input);
  if (shape().known > 0) checked.known = checked_known(input);
  // Skip zero weights on the CPU only: reading them on a GPU would synchronize.
  const std::vector<double> shares = weights_.is_cpu() ? weights() : std::vector<double>(members_.size(), 1);
  at::Tensor out;
  for (size_t m = 0; m < members_.size(); ++m) {
    if (shares[m] == 0) continue;
    const at::Tensor part = members_[m]->forward(input_of(*members_[m], checked));
    const at::Tensor weighted = part * weights_.select(0, static_cast<int64_t>(m)).to(part.options());
    out = out.defined() ? out + weighted : weighted;
  }
  return out;
}

std::vector<double> EnsembleForecaster::weights() const {
  const at::Tensor weights = weights_.to(at::kCPU).contiguous();
  const double* first = weights.const_data_ptr<double>();
  return {first, first + weights.numel()};
}

void EnsembleForecaster::set_weights(const std::vector<double>& weights) {
  weights_.copy_(at::tensor(at::ArrayRef<double>(weights)));
}

at::Tensor EnsembleForecaster::error_products(const FittingRows& rows) {
  const at::NoGradGuard no_grad;
  const bool training = is_training();
  eval();
  const int64_t lookback = shape().lookback, horizon = shape().horizon;
  at::Tensor products = at::zeros({members(), members()}, at::kDouble);
  double cells = 0;
  for (size_t begin = 0; begin < rows.validation.size(); begin += kWindowsAtOnce) {
    const size_t count = std::min(kWindowsAtOnce, rows.validation.size() - begin);
    const std::span<const int64_t> first(rows.validation.data() + begin, count);
    ForecastInput input;
    input.past = windows(rows.values, first, 0, lookback);
    const at::Tensor future = windows(rows.values, first, lookback, horizon);
    at::Tensor counted;
    if (rows.observed.defined()) {
      input.observed = windows(rows.observed, first, 0, lookback);
      counted = windows(rows.observed, first, lookback, horizon);
    }
    input.first_step = at::tensor(at::ArrayRef<int64_t>(first.data(), first.size()));
    if (rows.known.defined()) input.known = windows(rows.known, first, 0, lookback + horizon);
    std::vector<at::Tensor> errors;
    for (const auto& member : members_) {
      at::Tensor forecast = member->forward(input_of(*member, input));
      if (shape().quantiles > 0) forecast = forecast.select(-1, shape().quantiles / 2);
      const at::Tensor error = forecast.to(at::kDouble) - future.to(at::kDouble);
      errors.push_back(
          (counted.defined() ? at::where(counted, error, at::zeros_like(error)) : error).flatten());
    }
    cells += counted.defined() ? counted.sum().item<double>() : static_cast<double>(future.numel());
    const at::Tensor all = at::stack(errors);
    products += ops::matmul(all, all.transpose(0, 1));
  }
  train(training);
  return products / std::max(cells, 1.0);
}

void EnsembleForecaster::fit(const FittingRows& rows) {
  if (!rows.validation.empty()) set_weights(greedy_weights(error_products(rows), picks_));
}

bool EnsembleForecaster::refits() const {
  return std::any_of(members_.begin(), members_.end(), [](const auto& member) { return member->refits(); });
}

void EnsembleForecaster::refit(const FittingRows& rows) {
  for (const auto& member : members_) member->refit(rows);
}

}  // namespace modewise::models
