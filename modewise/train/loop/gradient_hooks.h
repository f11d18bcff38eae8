#pragma once
// Gradients told of while a backward pass still makes others.

#include <functional>
#include <vector>

#include "modewise/train/loop/task.h"

namespace modewise::train {

/// While it lives, a backward pass calls `ready(i)` as soon as it has added all that it adds to the gradient
/// of tensor i.
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
