#pragma once
// Elementary functions whose bits depend neither on the CPU nor on the number of threads. libtorch's come
// from MKL, which has versions for kinds of CPUs: its square root is exact on Intel's, and on AMD's off by
// one in the last place for every sixth float32.

#include <ATen/core/Tensor.h>

#include <string_view>

namespace modewise::ops {

/// f(x) of each element, x of any shape -> as x, dense; evaluated in float64 and rounded once, but for "exp"
/// of float32, which is within 1.03 units of the last place. f is "exp", "log", "sqrt", "sin", "cos", "tanh",
/// "gelu" (x Φ(x), Φ the share of the standard normal distribution below x) or its derivative "gelu_slope",
/// the only one without a gradient.
at::Tensor elementary(const at::Tensor& x, std::string_view function);

}  // namespace modewise::ops
