#pragma once
// Ensemble of forecasters: a weighted mean, with weights from greedy ensemble selection on validation windows
// (Caruana, Niculescu-Mizil, Crew, Ksikes, ICML 2004).

#include <memory>
#include <string>
#include <vector>

#include "modewise/models/forecasting/config.h"
#include "modewise/models/forecasting/forecaster.h"
#include "modewise/nn/initializer.h"

namespace modewise::models {

/// A member as stored in EnsembleConfig::members.
struct EnsembleMember {
  int64_t lookback = 96;
  ForecasterConfig model;

  void fields(Fields& fields);
  std::string to_toml() const;
  /// Config errors name `source`.
  static EnsembleMember from_toml(const std::string& text, const std::string& source);
};

/// Greedy selection with replacement among M members: gram [M, M] float64 holds the sums of products of their
/// errors, so that the squared error of weights w is wᵀ gram w. Keeps the prefix of 1 … `picks` picks with
/// the lowest error; returns weights [M] that sum to 1. Ties go to the first member.
std::vector<double> greedy_weights(const at::Tensor& gram, int64_t picks);

/// The same for absolute errors: errors [M, n] float32, and the error of weights w is Σ |wᵀ errors|.
std::vector<double> greedy_absolute_weights(const at::Tensor& errors, int64_t picks);

/// Member weights chosen over several splits, each with a gram matrix [M, M] as above.
struct SplitWeights {
  std::vector<double> weights;
  double error = 0;   // error of these weights, mean over the splits
  double mixed = 0;   // cross-validated error of weights chosen on the other splits
  double single = 0;  // the same for a single member chosen on the other splits
};
/// greedy_weights on the sum of all grams, or the best single member if it is better by more than the
/// standard error of the difference over the splits.
SplitWeights weights_over_splits(const std::vector<at::Tensor>& grams, int64_t picks);

class EnsembleForecaster : public Forecaster {
 public:
  EnsembleForecaster(const ForecasterConfig& config, const ForecastShape& shape, nn::Initializer& init);

  /// Each member gets the last rows of its own lookback; quantiles are averaged like forecasts.
  at::Tensor forward(const ForecastInput& input) override;
  /// Chooses the weights on the validation windows (equal weights if there are none); members stay unchanged.
  void fit(const FittingRows& rows) override;
  /// Whether any member refits.
  bool refits() const override;
  void refit(const FittingRows& rows) override;

  /// Mean products of the members' errors over observed cells of the validation windows, [M, M] float64.
  at::Tensor error_products(const FittingRows& rows);
  void set_weights(const std::vector<double>& weights);

  int64_t members() const { return std::ssize(members_); }
  Forecaster& member(int64_t i) { return *members_.at(static_cast<size_t>(i)); }
  std::vector<double> weights() const;

 private:
  ForecastInput input_of(const Forecaster& member, const ForecastInput& input) const;
  int64_t picks_;
  std::vector<std::shared_ptr<Forecaster>> members_;
  at::Tensor weights_;  // [M] float64
};

}  // namespace modewise::models
