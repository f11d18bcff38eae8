#pragma once
// Kernel dispatch of an operator: an ordered list, fastest first, reference last. Each kernel returns a
// reason to reject the inputs or ""; the first for the device that accepts runs. If all reject, the error
// lists every reason. The reference supports all devices.

#include <c10/core/Device.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <c10/util/Exception.h>

#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "modewise/ops/kernel_info.h"

namespace modewise::ops {

/// Whether use_reference(true) is active.
bool reference_forced();
namespace cuda {
bool kernels_usable(const char* op, at::Device device);
/// A kernel cannot start with these arguments on this device, for the reason what().
struct KernelMissing : std::runtime_error {
  using std::runtime_error::runtime_error;
};
}  // namespace cuda
void note_kernel(const char* op, const char* kernel);
void register_kernels(const char* op, std::vector<std::string> names);

/// Device of a kernel; the last kernel of a list runs on any device. `triton`: devices with a launcher of
/// Triton kernels (cuda/launch.h).
enum class KernelDevice { cpu, cuda, triton };

template <class Signature>
class KernelList;

template <class Result, class... Args>
class KernelList<Result(Args...)> {
 public:
  struct Kernel {
    const char* name;
    std::string (*refuses)(Args...);  // "" when it supports these inputs
    Result (*run)(Args...);
    KernelDevice device = KernelDevice::cpu;
  };

  KernelList(const char* op, std::vector<Kernel> kernels) : op_(op), kernels_(std::move(kernels)) {
    std::vector<std::string> names;
    for (const Kernel& kernel : kernels_) names.emplace_back(kernel.name);
    register_kernels(op_, std::move(names));
  }

  /// For arguments on `device`.
  Result run(at::Device device, Args... args) const {
    const c10::impl::ExcludeDispatchKeyGuard below_autocast(c10::autocast_dispatch_keyset);
    std::string reasons;
    for (const Kernel& kernel : kernels_) {
      if (&kernel != &kernels_.back() && (reference_forced() || !runs_on(kernel.device, device))) continue;
      std::string reason = kernel.refuses(args...);
      if (reason.empty()) {
        note_kernel(op_, kernel.name);
        try {
          return kernel.run(args...);
        } catch (const cuda::KernelMissing& missing) {
          reason = missing.what();
        }
      }
      reasons += std::string(reasons.empty() ? "" : "; ") + kernel.name + ": " + reason;
    }
    TORCH_CHECK_NOT_IMPLEMENTED(false, op_, ": no kernel supports these inputs: ", reasons);
  }

  static std::string takes_all(Args...) { return ""; }

 private:
  bool runs_on(KernelDevice wanted, at::Device device) const {
    if (wanted == KernelDevice::triton) return cuda::kernels_usable(op_, device);
    return wanted == KernelDevice::cpu ? device.is_cpu() : device.is_cuda();
  }

  const char* op_;
  std::vector<Kernel> kernels_;
};

}  // namespace modewise::ops
