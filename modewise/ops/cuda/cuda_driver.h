#pragma once
// The functions of the CUDA driver's library that launch kernels. Its headers are not needed.

#include <cstdint>
#include <string>
#include <utility>

namespace modewise::ops::cuda {

/// Functions return 0 or an error, which `reason` names.
struct CudaDriver {
  int (*cuInit)(unsigned);
  int (*cuGetErrorString)(int, const char**);
  int (*cuDeviceGet)(int*, int);
  int (*cuDeviceGetAttribute)(int*, int, int);
  int (*cuDevicePrimaryCtxRetain)(void**, int);
  int (*cuCtxPushCurrent_v2)(void*);
  int (*cuCtxPopCurrent_v2)(void**);
  int (*cuModuleLoadData)(void**, const void*);
  int (*cuModuleGetFunction)(void**, void*, const char*);
  int (*cuFuncSetAttribute)(void*, int, int);
  int (*cuLaunchKernel)(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*,
                        void**, void**);

  std::string reason(int error) const;
};

/// Opens the library and initializes the driver. Returns "" or the reason why it cannot.
std::string open_driver(const std::string& library, CudaDriver& driver);

}  // namespace modewise::ops::cuda
