#pragma once
// Elementary functions with bitwise equal results on every CPU and for any number of threads. libtorch uses
// MKL, whose code depends on the CPU: its square root is exact on Intel CPUs and off by one ulp on AMD CPUs
// for every sixth float32.

#include <ATen/core/Tensor.h>

#include <string_view>

namespace modewise::ops {

/// f(x) of each element, x of any shape -> contiguous, in the dtype of x; evaluated in float64 and rounded
/// once, except "exp" of float32, which is within 1.03 ulp. f is "exp", "log", "sqrt", "sin", "cos", "tanh",
/// "gelu" (x Φ(x), Φ the standard normal CDF) or its derivative "gelu_slope", the only one without a
/// gradient.
at::Tensor elementary(const at::Tensor& x, std::string_view function);

}  // namespace modewise::ops
