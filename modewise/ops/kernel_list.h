#pragma once
// The kernels of an operator, fastest first and the reference last. Each says why it refuses some inputs; the
// first that does not refuse runs. If all refuse, the error holds every reason. All but the reference read
// the CPU's memory: on any other device it is the one that runs.

#include <c10/core/Device.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <c10/util/Exception.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "modewise/ops/kernel_info.h"

namespace modewise::ops {

/// Whether use_reference(true) is in force.
bool reference_forced();
void note_kernel(const char* op, const char* kernel);
void register_kernels(const char* op, std::vector<std::string> names);

template <class Signature>
class KernelList;

template <class Result, class... Args>
class KernelList<Result(Args...)> {
 public:
  struct Kernel {
    const char* name;
    std::string (*refuses)(Args...);  // "" when it takes these inputs
    Result (*run)(Args...);
  };

  KernelList(const char* op, std::vector<Kernel> kernels) : op_(op), kernels_(std::move(kernels)) {
    std::vector<std::string> names;
    for (const Kernel& kernel : kernels_) names.emplace_back(kernel.name);
    register_kernels(op_, std::move(names));
  }

  /// For arguments that lie on `device`.
  Result run(at::Device device, Args... args) const {
    const c10::impl::ExcludeDispatchKeyGuard below_autocast(c10::autocast_dispatch_keyset);
    const bool reference_alone = reference_forced() || !device.is_cpu();
    std::string reasons;
    for (const Kernel& kernel : kernels_) {
      if (reference_alone && &kernel != &kernels_.back()) continue;
      const std::string reason = kernel.refuses(args...);
      if (reason.empty()) {
        note_kernel(op_, kernel.name);
        return kernel.run(args...);
      }
      reasons += std::string(reasons.empty() ? "" : "; ") + kernel.name + ": " + reason;
    }
    TORCH_CHECK_NOT_IMPLEMENTED(false, op_, ": no kernel takes these inputs: ", reasons);
  }

  static std::string takes_all(Args...) { return ""; }

 private:
  const char* op_;
  std::vector<Kernel> kernels_;
};

}  // namespace modewise::ops
