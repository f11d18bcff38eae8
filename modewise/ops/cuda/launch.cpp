#include "modewise/ops/cuda/launch.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/empty.h>
#include <c10/core/TensorOptions.h>
#include <torch/library.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <map>
#include <mutex>

namespace modewise::ops::cuda {
namespace {

using LaunchSignature = void(c10::string_view, at::TensorList, at::IntArrayRef, at::IntArrayRef,
                             at::ArrayRef<double>, const c10::List<std::string>&, at::IntArrayRef, int64_t);
using CheckSignature = bool(c10::string_view, const at::Tensor&);

const c10::OperatorHandle& handle(const char* name) {
  static const auto launch = c10::Dispatcher::singleton().findSchemaOrThrow("modewise::launch", "");
  static const auto check = c10::Dispatcher::singleton().findSchemaOrThrow("modewise::check_kernels", "");
  return std::string_view(name) == "launch" ? launch : check;
}

}  // namespace

void add_strides(Launch& to, const at::Tensor& x, int64_t count) {
  to.integers.insert(to.integers.end(), x.strides().begin(), x.strides().begin() + count);
}

int64_t count_tiles(int64_t size, int64_t tile) {
  return (size + tile - 1) / tile;
}

void launch(const Launch& launch, int64_t programs) {
  if (programs == 0) return;
  TORCH_CHECK(programs <= std::numeric_limits<int32_t>::max(), launch.kernel, ": ", programs,
              " programs are more than a GPU starts");
  c10::List<std::string> names;
  std::vector<int64_t> values;
  for (const auto& [name, value] : launch.constants) {
    names.push_back(name);
    values.push_back(value);
  }
  static const auto op = handle("launch").typed<LaunchSignature>();
  op.call(launch.kernel, launch.tensors, launch.integers, launch.sizes, launch.numbers, names, values,
          programs);
}

bool kernels_usable(const char* op, at::Device device) {
  const auto key = c10::computeDispatchKey({}, c10::kStrided, device);
  if (!handle("launch").hasKernelForDispatchKey(key)) return false;
  static std::mutex mutex;
  static std::map<std::pair<std::string, std::string>, bool> usable;
  const std::pair place{std::string(op), device.str()};
  {
    const std::lock_guard lock(mutex);
    // Usable while it is being checked, which calls the operator.
    if (const auto [found, added] = usable.emplace(place, true); !added) return found->second;
  }
  static const auto check = handle("check_kernels").typed<CheckSignature>();
  const bool good = check.call(op, at::empty({0}, device));
  const std::lock_guard lock(mutex);
  return usable.at(place) = good;
}

std::string launch_refuses(const at::Tensor& x) {
  return x.is_cuda() && x.scalar_type() == at::kDouble ? "computes float32, float16 and bfloat16" : "";
}

int64_t tile(int64_t size) {
  return static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(std::max<int64_t>(size, 16))));
}

TORCH_LIBRARY_FRAGMENT(modewise, m) {
  m.def(
      "launch(str kernel, Tensor[] tensors, int[] integers, int[] sizes, float[] numbers, str[] names, "
      "int[] constants, int programs) -> ()");
  m.def("check_kernels(str op, Tensor like) -> bool");
}

}  // namespace modewise::ops::cuda
