#include "modewise/train/loop/weight_average.h"

#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <utility>

#include "modewise/train/checkpoint/tensor_file.h"

namespace modewise::train {

WeightAverage::WeightAverage(std::vector<NamedTensor> trained, std::vector<NamedTensor> tensors, double decay)
    : weights_(std::move(trained)), decay_(decay) {
  const size_t count = weights_.size();
  for (NamedTensor& entry : tensors) {
    const bool known = std::any_of(weights_.begin(), weights_.begin() + static_cast<std::ptrdiff_t>(count),
                                   [&](const NamedTensor& one) { return one.tensor.is_same(entry.tensor); });
    if (!known && entry.tensor.is_floating_point()) weights_.push_back(std::move(entry));
  }
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
