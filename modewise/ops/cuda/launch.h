#pragma once
// Launch of Triton kernels (python/modewise/triton), which run where the operator modewise::launch has an
// implementation for the device: Python's compiles them when they are first needed, cubin_launcher.h loads
// compiled ones.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace modewise::ops::cuda {

/// The constant maxnreg of kernels that would spill registers for the sake of more programs at a time: the
/// most that a thread can have.
inline constexpr int64_t kMaxRegisters = 255;

/// Arguments of a kernel in the order of its parameters.
struct Launch {
  std::string kernel;               // a key of KERNELS in python/modewise/triton/launcher.py
  std::vector<at::Tensor> tensors;  // results are allocated by the caller
  std::vector<int64_t> integers{};  // strides: 64 bits
  std::vector<int64_t> sizes{};     // 32 bits
  std::vector<double> numbers{};
  /// Compile-time parameters; num_warps, num_stages, maxnreg.
  std::vector<std::pair<std::string, int64_t>> constants{};
};

/// Appends the first `count` strides of x to the integers.
void add_strides(Launch& to, const at::Tensor& x, int64_t count);

/// Tiles that cover `size`.
int64_t count_tiles(int64_t size, int64_t tile);

/// Runs `programs` programs of the kernel. Throws KernelMissing before anything ran.
void launch(const Launch& launch, int64_t programs);

/// Whether the Triton kernels of operator `op` run on `device`. The first call for each operator and device
/// compares them with the reference; if they differ, a warning is printed and they never run.
bool kernels_usable(const char* op, at::Device device);

/// Reason not to launch a kernel on `x`: "" or a type that it does not compute.
std::string launch_refuses(const at::Tensor& x);

/// The smallest power of two that is at least `size` and 16, the smallest tile of a matrix product.
int64_t tile(int64_t size);

}  // namespace modewise::ops::cuda
