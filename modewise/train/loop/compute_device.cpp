#include "modewise/train/loop/compute_device.h"

#include <ATen/Context.h>
#include <ATen/detail/PrivateUse1HooksInterface.h>
#include <c10/util/Exception.h>
#include <dlfcn.h>
#include <torch/cuda.h>
#include <torch/version.h>

#include <cstdlib>

#include "modewise/core/error.h"
#include "modewise/ops/cuda/cubin_launcher.h"
#include "modewise/train/distributed/workers.h"

namespace modewise::train {
namespace {

constexpr auto kVariable = "MODEWISE_DEVICE";  // children of this process inherit it

at::Device parsed(const std::string& name) {
  try {
    return at::Device(name);
  } catch (const c10::Error&) {
    fail(ErrorKind::config, "device '{}': expected auto, cpu, cuda or cuda:N", name);
  }
}

/// A number that torchrun sets for its processes.
int64_t number_of(const char* variable, int64_t otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr ? otherwise : std::atoll(text);
}

/// Loads the CUDA kernels of torch, if it has them, and ours: our libraries are linked to its CPU kernels
/// alone, so that they run with either build of the same version. Before torch is first asked for CUDA, which
/// it remembers.
bool load_cuda() {
  static const bool loaded = [] {
    if (dlopen("libtorch_cuda.so", RTLD_NOW | RTLD_GLOBAL) == nullptr || !at::globalContext().hasCUDART())
      return false;
    ops::cuda::use_compiled_kernels();  // without them the references run
    return true;
  }();
  return loaded;
}

bool has_driver() {
  static const bool found = dlopen("libcuda.so.1", RTLD_LAZY) != nullptr;
  return found;
}

CudaMachine this_machine() {
  CudaMachine machine;
  machine.built = load_cuda();
  if (machine.built) machine.devices = static_cast<int64_t>(torch::cuda::device_count());
  if (workers().size() > 1) {
    machine.process = number_of("LOCAL_RANK", 0);
    machine.processes = number_of("LOCAL_WORLD_SIZE", workers().size());
  }
  return machine;
}

}  // namespace

at::Device cuda_device(at::Device asked, const CudaMachine& machine) {
  require(machine.built, ErrorKind::config,
          "device {}: torch {} here is built without CUDA; install a CUDA build of it, or take --device cpu",
          asked.str(), TORCH_VERSION);
  const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
  require(machine.devices > 0, ErrorKind::config,
          "device {}: torch {} finds no CUDA device{}; a driver that is older than this torch's CUDA is also "
          "not found: see nvidia-smi, or take --device cpu",
          asked.str(), TORCH_VERSION,
          visible == nullptr ? "" : fmt::format(" (CUDA_VISIBLE_DEVICES is '{}')", visible));
  if (machine.processes > 1) {
    require(!asked.has_index(), ErrorKind::config,
            "device {}: each of the {} processes takes a CUDA device of its own: --device cuda", asked.str(),
            machine.processes);
    require(machine.process < machine.devices, ErrorKind::config,
            "device {}: torch finds {} CUDA {} for {} processes; start no more processes than devices "
            "(--nproc-per-node {}), or take --device cpu",
            asked.str(), machine.devices, machine.devices == 1 ? "device" : "devices", machine.processes,
            machine.devices);
    return {at::kCUDA, static_cast<c10::DeviceIndex>(machine.process)};
  }
  require(!asked.has_index() || asked.index() < machine.devices, ErrorKind::config,
          "device {}: torch finds {} CUDA {}, the last is cuda:{}", asked.str(), machine.devices,
          machine.devices == 1 ? "device" : "devices", machine.devices - 1);
  return asked;
}

at::Device compute_device(std::string_view name) {
  if (name == "auto") {
    if (!has_driver()) return at::kCPU;
    const CudaMachine machine = this_machine();
    return machine.devices > 0 ? cuda_device(at::kCUDA, machine) : at::Device(at::kCPU);
  }
  const at::Device device = parsed(std::string(name));
  if (device.is_cpu()) return at::kCPU;
  if (device.is_cuda()) return cuda_device(device, this_machine());
  require(device.is_privateuseone() && at::isPrivateUse1HooksRegistered(), ErrorKind::config,
          "device '{}': expected auto, cpu, cuda or cuda:N", name);
  return device;
}

void ask_for_device(const std::string& name) {
  setenv(kVariable, name.c_str(), 1);
}

at::Device chosen_device(std::string_view configured) {
  const char* asked = std::getenv(kVariable);
  return compute_device(asked == nullptr || *asked == '\0' ? configured : asked);
}

}  // namespace modewise::train
