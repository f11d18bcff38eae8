#pragma once
// The classifier that Rocket's authors put behind its features: ridge regression to ±1, whose penalty is the
// one that does best at cases left out one at a time.

#include <ATen/core/Tensor.h>

#include <vector>

namespace modewise::models {

struct RidgeClassifier {
  at::Tensor weight, bias;  // [K', F], [K'] float64: a row a class, one row for two classes
  double alpha = 0;         // the penalty that was taken
  at::Tensor left_out;      // [N, K'] float64: decisions for each case of the map fitted without it
};

/// features [N, F] float64, labels [N] of `classes` classes. Targets are 1 for a class's cases and −1 for
/// others (for two classes those of the second); features are divided by their deviation (ddof 0; one that
/// does not vary is left), the penalty spares the bias. Of `alphas` it takes the first with the smallest
/// squared error of decisions left out, as scikit-learn's RidgeClassifierCV behind a StandardScaler does.
RidgeClassifier fit_ridge_classifier(const at::Tensor& features, const at::Tensor& labels, int64_t classes,
                                     const std::vector<double>& alphas);

/// Decisions [N, K'] as logits [N, K], times `sharpness`: of two classes −d/2 and d/2.
at::Tensor ridge_logits(const at::Tensor& decisions, double sharpness);
/// The sharpness in [0.1, 100] of the smallest cross-entropy of decisions [N, K'].
double fit_sharpness(const at::Tensor& decisions, const at::Tensor& labels);

}  // namespace modewise::models
