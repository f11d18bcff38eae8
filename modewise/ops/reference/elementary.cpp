#include <ATen/TensorOperators.h>
#include <ATen/ops/cos.h>
#include <ATen/ops/erfc.h>
#include <ATen/ops/exp.h>
#include <ATen/ops/log.h>
#include <ATen/ops/sin.h>
#include <ATen/ops/sqrt.h>
#include <ATen/ops/tanh.h>

#include <numbers>

#include "modewise/ops/accumulate_type.h"
#include "modewise/ops/reference/reference.h"

namespace modewise::ops::reference {

namespace {

at::Tensor wide_elementary(const at::Tensor& x, std::string_view function) {
  if (function == "exp") return at::exp(x);
  if (function == "log") return at::log(x);
  if (function == "sqrt") return at::sqrt(x);
  if (function == "sin") return at::sin(x);
  if (function == "cos") return at::cos(x);
  if (function == "tanh") return at::tanh(x);
  const at::Tensor below = at::erfc(x * (-1 / std::numbers::sqrt2)) * 0.5;
  if (function == "gelu") return x * below;
  return below + x * at::exp(x * x * -0.5) * (std::numbers::inv_sqrtpi / std::numbers::sqrt2);
}

}  // namespace

at::Tensor elementary(const at::Tensor& x, std::string_view function) {
  return wide_elementary(x.to(accumulate_type(x.scalar_type())), function).to(x.scalar_type()).contiguous();
}

}  // namespace modewise::ops::reference
