#include "modewise/train/weight_average.h"

#include <ATen/core/grad_mode.h>

#include <algorithm>

#include "modewise/train/tensor_file.h"

namespace modewise::train {

WeightAverage::WeightAverage(Task& task, double decay) : weights_(task.trained()), decay_(decay) {
  const auto trained = [&, count = std::ssize(weights_)](const NamedTensor& entry) {
    return std::any_of(weights_.begin(), weights_.begin() + count,
                       [&](const NamedTensor& one) { return one.tensor.is_same(entry.tensor); });
  };
  std::vector<NamedTensor> others = task.tensors();
  std::erase_if(
      others, [&](const NamedTensor& entry) { return !entry.tensor.is_floating_point() || trained(entry); });
  weights_.insert(weights_.end(), others.begin(), others.end());
  average_ = copies_of(weights_);
}

void WeightAverage::update(int64_t step) {
  const at::NoGradGuard no_grad;
  const double t = static_cast<double>(step), decay = std::min(decay_, (1 + t) / (10 + t));
  for (size_t i = 0; i < average_.size(); ++i) average_[i].tensor.lerp_(weights_[i].tensor, 1 - decay);
}

void WeightAverage::swap() {
  const std::vector<NamedTensor> weights = copies_of(weights_);
  copy_into(weights_, average_);
  copy_into(average_, weights);
}

std::vector<NamedTensor> WeightAverage::state() const {
  std::vector<NamedTensor> tensors;
  for (const NamedTensor& entry : average_) tensors.push_back({"ema." + entry.name, entry.tensor});
  return tensors;
}

}  // namespace modewise::train
