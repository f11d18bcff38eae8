#include "modewise/ops/cuda/cuda_driver.h"

#include <dlfcn.h>

namespace modewise::ops::cuda {

std::string CudaDriver::reason(int error) const {
  const char* text = nullptr;
  cuGetErrorString(error, &text);
  return text == nullptr ? "error " + std::to_string(error) : text;
}

std::string open_driver(const std::string& library, CudaDriver& driver) {
  void* opened = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (opened == nullptr) return "there is no CUDA driver";
  std::string missing;
  const auto find = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(opened, name));
    if (function == nullptr) missing = name;
  };
#define MODEWISE_FIND(name) find(driver.name, #name)
  MODEWISE_FIND(cuInit);
  MODEWISE_FIND(cuGetErrorString);
  MODEWISE_FIND(cuDeviceGet);
  MODEWISE_FIND(cuDeviceGetAttribute);
  MODEWISE_FIND(cuDevicePrimaryCtxRetain);
  MODEWISE_FIND(cuCtxPushCurrent_v2);
  MODEWISE_FIND(cuCtxPopCurrent_v2);
  MODEWISE_FIND(cuModuleLoadData);
  MODEWISE_FIND(cuModuleGetFunction);
  MODEWISE_FIND(cuFuncSetAttribute);
  MODEWISE_FIND(cuLaunchKernel);
#undef MODEWISE_FIND
  if (!missing.empty()) return "the CUDA driver has no " + missing;
  const int error = driver.cuInit(0);
  return error == 0 ? "" : "the CUDA driver does not start: " + driver.reason(error);
}

}  // namespace modewise::ops::cuda
