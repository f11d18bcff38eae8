#pragma once
// Gradient reductions along a fixed tree in float64: the same value for any number of threads.

#include <span>

#include "modewise/train/loop/task.h"

namespace modewise::train {

/// Σ x² in float64 (ops/sum_of_squares.h).
double sum_of_squares(const at::Tensor& x);

/// The global Euclidean norm of the gradients of all `parameters`; missing gradients count as 0. Not finite
/// if any element is not.
double gradient_norm(std::span<const NamedTensor> parameters);

/// The name of the first parameter whose gradient (with `values`: whose value) has a non-finite element; ""
/// if none has.
std::string first_not_finite(std::span<const NamedTensor> parameters, bool values = false);

}  // namespace modewise::train
