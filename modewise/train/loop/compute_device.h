#pragma once
// The device that models compute on.

#include <c10/core/Device.h>

#include <string>
#include <string_view>

namespace modewise::train {

/// Device of `name`: auto (CUDA if torch has a CUDA device, else the CPU), cpu, cuda or cuda:N. Config errors
/// name what is missing: a CUDA build of torch, a CUDA device, the device N.
at::Device compute_device(std::string_view name);

/// Sets the environment variable MODEWISE_DEVICE, the device of this process and its children, which goes
/// before train.device of configs.
void ask_for_device(const std::string& name);
/// The device of MODEWISE_DEVICE, else that of `configured`.
at::Device chosen_device(std::string_view configured = "auto");

}  // namespace modewise::train
