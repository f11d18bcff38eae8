#pragma once
// Fused Adam (Kingma and Ba, 2015, algorithm 1) or AdamW (Loshchilov and Hutter, 2019, algorithm 2) step: one
// pass over parameter, gradient and both moments.

#include <ATen/core/Tensor.h>

namespace modewise::ops {

struct AdamStep {
  double beta1 = 0.9, beta2 = 0.999;
  double epsilon = 1e-8;
  double step_size = 0;       // η / (1 − β1^t)
  double root_scale = 1;      // √(1 − β2^t)
  double gradient_scale = 1;  // scale of the gradient (clipping)
  double keep = 1;            // weight decay factor of the parameter: 1 − ηλ in AdamW
  double added_decay = 0;     // L2 coefficient λ of Adam: λ w is added to the gradient
};

/// Updates in place, element by element, with the formulas and order of torch.optim: g ← s g + λ w; m ← m +
/// (1 − β1)(g − m); v ← β2 v + (1 − β2) g²; w ← keep · w − step_size · m / (√v / root_scale + ε). All four
/// tensors have one shape, dtype (float32 or float64) and device; all but the gradient are contiguous.
void adam_step(const at::Tensor& parameter, const at::Tensor& gradient, const at::Tensor& first_moment,
               const at::Tensor& second_moment, const AdamStep& step);

}  // namespace modewise::ops
