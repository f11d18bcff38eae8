#pragma once
// Reductions over gradients by a fixed tree in float64, so that the value is the same for any number of
// threads.

#include <span>

#include "modewise/train/loop/task.h"

namespace modewise::train {

/// Σ x² in float64 (ops/sum_of_squares.h).
double sum_of_squares(const at::Tensor& x);

/// The Euclidean norm of the gradients of all `parameters` together; those without one count as 0. Not finite
/// when any element is not.
double gradient_norm(std::span<const NamedTensor> parameters);

/// The name of the first parameter whose gradient (or, with `values`, whose value) holds an element that is
/// not finite; "" when there is none.
std::string first_not_finite(std::span<const NamedTensor> parameters, bool values = false);

}  // namespace modewise::train
