#include "modewise/train/loop/compute_device.h"

#include <ATen/Context.h>
#include <ATen/detail/PrivateUse1HooksInterface.h>
#include <c10/util/Exception.h>
#include <torch/cuda.h>
#include <torch/version.h>

#include <cstdlib>

#include "modewise/core/error.h"

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

void require_cuda(at::Device device) {
  require(
      at::hasCUDA(), ErrorKind::config,
      "device {}: torch {} here is built without CUDA; build modewise with a CUDA build of torch, or take "
      "--device cpu",
      device.str(), TORCH_VERSION);
  const auto count = static_cast<int64_t>(torch::cuda::device_count());
  const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
  require(count > 0, ErrorKind::config,
          "device {}: torch {} finds no CUDA device{}; a driver that is older than this torch's CUDA is also "
          "not found: see nvidia-smi, or take --device cpu",
          device.str(), TORCH_VERSION,
          visible == nullptr ? "" : fmt::format(" (CUDA_VISIBLE_DEVICES is '{}')", visible));
  require(!device.has_index() || device.index() < count, ErrorKind::config,
          "device {}: torch finds {} CUDA {}, the last is cuda:{}", device.str(), count,
          count == 1 ? "device" : "devices", count - 1);
}

}  // namespace

at::Device compute_device(std::string_view name) {
  if (name == "auto") return at::hasCUDA() && torch::cuda::device_count() > 0 ? at::kCUDA : at::kCPU;
  const at::Device device = parsed(std::string(name));
  if (device.is_cpu()) return at::kCPU;
  if (device.is_cuda()) {
    require_cuda(device);
    return device;
  }
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
