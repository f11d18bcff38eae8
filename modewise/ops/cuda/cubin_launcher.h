#pragma once
// Launcher of Triton kernels that were compiled ahead of time (python/modewise/triton/compile.py), by the
// library of the CUDA driver, which is opened at run time.

#include <c10/core/DispatchKey.h>

#include <filesystem>
#include <string>

namespace modewise::ops::cuda {

/// lib/modewise_kernels, beside this library.
std::filesystem::path compiled_kernels_folder();

/// Lets modewise::launch run the kernels of a folder on tensors of a dispatch key, unless it has an
/// implementation for the key. Returns "", or the reason why it does not: no kernels, no driver. A launch
/// throws KernelMissing unless a kernel was compiled for its types, constants and alignment, and for a GPU
/// as that of its tensors.
std::string use_compiled_kernels(const std::filesystem::path& folder = compiled_kernels_folder(),
                                 const std::string& driver = "libcuda.so.1",
                                 c10::DispatchKey key = c10::DispatchKey::CUDA);

}  // namespace modewise::ops::cuda
