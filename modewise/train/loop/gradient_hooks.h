#pragma once
// Gradient hooks: notify when a gradient is ready during the backward pass.

#include <functional>
#include <vector>

#include "modewise/train/loop/task.h"

namespace modewise::train {

/// While alive, a backward pass calls `ready(i)` as soon as the gradient of tensor i is complete.
class GradientHooks {
 public:
  GradientHooks(const std::vector<NamedTensor>& tensors, std::function<void(size_t)> ready);
  ~GradientHooks();
  GradientHooks(const GradientHooks&) = delete;
  GradientHooks& operator=(const GradientHooks&) = delete;

 private:
  const std::vector<NamedTensor>& tensors_;
  const std::function<void(size_t)> ready_;
};

}  // namespace modewise::train
