#pragma once
// The loss of classifiers: cross entropy with weights of the classes, label smoothing and mixup.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "modewise/core/fields.h"
#include "modewise/nn/layers/constant.h"

namespace modewise::tasks {

struct ClassLossOptions {
  std::string class_weights = "none";  // none | balanced: n / (K · n_c)
  double label_smoothing = 0;
  double mixup = 0;  // a random share, at most this, of another sample of the batch is mixed in
  void fields(Fields& f);
};

class ClassLoss {
 public:
  /// `counts` of the training samples of each class.
  ClassLoss(const ClassLossOptions& options, const std::vector<int64_t>& counts);

  /// The weights of the classes go with the module from device to device.
  void join(torch::nn::Module& model) const;

  /// values [B, …], valid bool like them or undefined, labels [B] int64. `logits_of`(values, valid) gives [B,
  /// K] and is called once, with the mixed values where there is mixup.
  at::Tensor operator()(
      const at::Tensor& values, const at::Tensor& valid, const at::Tensor& labels,
      const std::function<at::Tensor(const at::Tensor& values, const at::Tensor& valid)>& logits_of,
      uint64_t seed, uint64_t step) const;

  /// What the loss of samples with these labels [B] is a mean over: the samples, or the weights of their
  /// classes.
  double count(const at::Tensor& labels) const;

 private:
  ClassLossOptions options_;
  std::shared_ptr<nn::Constant> weights_;  // [K] or null
};

/// The mean over the batch of −Σ_k t_k log p_k, samples weighed by the weight of their class as torch does:
/// t = (1 − smoothing) · one-hot + smoothing / K.
at::Tensor cross_entropy(const at::Tensor& logits, const at::Tensor& labels, const at::Tensor& class_weights,
                         double smoothing);

/// n / (K · n_c) for each class; 0 for one without samples.
std::vector<double> balanced_weights(const std::vector<int64_t>& counts);

}  // namespace modewise::tasks
