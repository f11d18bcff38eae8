#pragma once
// The device that models compute on.

#include <c10/core/Device.h>

#include <string>
#include <string_view>

namespace modewise::train {

/// Device of `name`: auto (CUDA if torch has a CUDA device, else the CPU), cpu, cuda or cuda:N. Processes of
/// torchrun take a CUDA device each. Config errors name what is missing: a CUDA build of torch, a CUDA
/// device, the device N.
at::Device compute_device(std::string_view name);

/// The CUDA devices that torch finds, and the processes of torchrun on this machine that share them.
struct CudaMachine {
  bool built = false;   // torch has CUDA
  int64_t devices = 0;  // that the driver shows
  int64_t process = 0, processes = 1;
};
/// The device of this process for `asked`, cuda or cuda:N; with several processes device cuda:`process`.
at::Device cuda_device(at::Device asked, const CudaMachine& machine);

/// Sets the environment variable MODEWISE_DEVICE, the device of this process and its children, which goes
/// before train.device of configs.
void ask_for_device(const std::string& name);
/// The device of MODEWISE_DEVICE, else that of `configured`.
at::Device chosen_device(std::string_view configured = "auto");

}  // namespace modewise::train
