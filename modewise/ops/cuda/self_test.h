#pragma once
// Comparison of an operator's compiled kernels with its reference, on small inputs.

#include <c10/core/Device.h>

#include <string>

namespace modewise::ops::cuda {

/// Why the kernels of an operator must not run on a device; "" if they agree with its reference.
std::string kernels_fault(const std::string& op, at::Device device);

}  // namespace modewise::ops::cuda
