#pragma once
// Classification loss: cross entropy with class weights, label smoothing and mixup.

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
  double mixup = 0;  // maximum fraction of another sample of the batch that is mixed in
  void fields(Fields& f);
};

class ClassLoss {
 public:
  /// `counts`: training samples of each class.
  ClassLoss(const ClassLossOptions& options, const std::vector<int64_t>& counts);

  /// Registers the class weights with the module, so that they follow it between devices.
  void join(torch::nn::Module& model) const;

  /// values [B, …], valid bool mask or undefined, labels [B] int64. `logits_of`(values, valid) returns [B, K]
  /// and is called once, with mixed values if mixup is on.
  at::Tensor operator()(
      const at::Tensor& values, const at::Tensor& valid, const at::Tensor& labels,
      const std::function<at::Tensor(const at::Tensor& values, const at::Tensor& valid)>& logits_of,
      uint64_t seed, uint64_t step) const;

  /// Denominator of the mean loss of samples with these labels [B]: their number, or the sum of their class
  /// weights.
  double count(const at::Tensor& labels) const;

 private:
  ClassLossOptions options_;
  std::shared_ptr<nn::Constant> weights_;  // [K] or null
};

/// Mean over the batch of −Σ_k t_k log p_k, t = (1 − smoothing) · one-hot + smoothing / K, weighted by class
/// weights as in torch.
at::Tensor cross_entropy(const at::Tensor& logits, const at::Tensor& labels, const at::Tensor& class_weights,
                         double smoothing);

/// n / (K · n_c) for each class; 0 for one without samples.
std::vector<double> balanced_weights(const std::vector<int64_t>& counts);

}  // namespace modewise::tasks
