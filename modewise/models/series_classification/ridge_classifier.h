#pragma once
// Ridge classifier, as used by Rocket's authors: ridge regression to ±1 with the penalty chosen by
// leave-one-out cross-validation.

#include <ATen/core/Tensor.h>

#include <vector>

namespace modewise::models {

struct RidgeClassifier {
  at::Tensor weight, bias;  // [K', F], [K'] float64: one row per class, one row for two classes
  double alpha = 0;         // the chosen penalty
  at::Tensor left_out;      // [N, K'] float64: leave-one-out decision values
};

/// features [N, F] float64, labels [N] of `classes` classes. Targets are 1 for a class's samples and −1 for
/// others (two classes: 1 for the second); features are standardized (ddof 0; constant features are kept),
/// the bias is not penalized. Chooses the first of `alphas` with the smallest leave-one-out squared error, as
/// scikit-learn's StandardScaler and RidgeClassifierCV.
RidgeClassifier fit_ridge_classifier(const at::Tensor& features, const at::Tensor& labels, int64_t classes,
                                     const std::vector<double>& alphas);

/// Decision values [N, K'] to logits [N, K], times `sharpness`; two classes: −d/2 and d/2.
at::Tensor ridge_logits(const at::Tensor& decisions, double sharpness);
/// The sharpness in [0.1, 100] that minimizes the cross-entropy of decision values [N, K'].
double fit_sharpness(const at::Tensor& decisions, const at::Tensor& labels);

}  // namespace modewise::models
