#include "modewise/tasks/classification/class_loss.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/log_softmax.h>
#include <ATen/ops/tensor.h>

#include "modewise/core/random.h"

namespace modewise::tasks {
void ClassLossOptions::fields(Fields& f) {
  f.add("class_weights", class_weights, "class weights in the loss: none, or balanced by class counts",
        {.one_of = {"none", "balanced"}});
  f.add("label_smoothing", label_smoothing, "label smoothing, from 0 to 0.99", {.min = 0, .max = 0.99});
  f.add("mixup", mixup, "mixup: maximum fraction of another sample of the batch that is mixed in; 0: none",
        {.min = 0, .max = 0.5});
}

std::vector<double> balanced_weights(const std::vector<int64_t>& counts) {
  int64_t total = 0;
  for (const int64_t count : counts) total += count;
  std::vector<double> weights;
  for (const int64_t count : counts)
    weights.push_back(count > 0 ? static_cast<double>(total) /
                                      (static_cast<double>(counts.size()) * static_cast<double>(count))
                                : 0.0);
  return weights;
}

at::Tensor cross_entropy(const at::Tensor& logits, const at::Tensor& labels, const at::Tensor& class_weights,
                         double smoothing) {
  const at::Tensor log_scores = at::log_softmax(logits, -1);
  const at::Tensor own = log_scores.gather(1, labels.unsqueeze(1)).squeeze(1);
  if (!class_weights.defined())
    return (own.mul(1 - smoothing) + log_scores.mean(1).mul(smoothing)).mean().neg();
  const at::Tensor weights = class_weights.to(logits.scalar_type());
  const at::Tensor each = weights.index_select(0, labels);
  const at::Tensor spread = log_scores.mul(weights).mean(1);
  return (own.mul(each).mul(1 - smoothing) + spread.mul(smoothing)).sum().div(each.sum()).neg();
}

ClassLoss::ClassLoss(const ClassLossOptions& options, const std::vector<int64_t>& counts)
    : options_(options) {
  if (options.class_weights == "balanced")
    weights_ = std::make_shared<nn::Constant>(at::tensor(balanced_weights(counts), at::kDouble));
}

void ClassLoss::join(torch::nn::Module& model) const {
  if (weights_) model.register_module("class_weights", weights_);
}

double ClassLoss::count(const at::Tensor& labels) const {
  if (!weights_) return static_cast<double>(labels.size(0));
  return weights_->value().to(labels.device(), at::kDouble).index_select(0, labels).sum().item<double>();
}

at::Tensor ClassLoss::operator()(
    const at::Tensor& values, const at::Tensor& valid, const at::Tensor& labels,
    const std::function<at::Tensor(const at::Tensor& values, const at::Tensor& valid)>& logits_of,
    uint64_t seed, uint64_t step) const {
  const auto entropy = [&](const at::Tensor& logits, const at::Tensor& wanted) {
    return cross_entropy(logits, wanted, weights_ ? weights_->value() : at::Tensor(),
                         options_.label_smoothing);
  };
  if (options_.mixup == 0 || labels.size(0) < 2) return entropy(logits_of(values, valid), labels);
  // Each sample is mixed with the next one of the batch, whose order is random.
  const double share = options_.mixup * RandomStream{seed, RandomSite::mixup, step}.uniform(0);
  const at::Tensor seen = valid.defined() ? valid.logical_or(valid.roll(1, 0)) : valid;
  const at::Tensor logits = logits_of(values.mul(1 - share) + values.roll(1, 0).mul(share), seen);
  return entropy(logits, labels).mul(1 - share) + entropy(logits, labels.roll(1, 0)).mul(share);
}

}  // namespace modewise::tasks
