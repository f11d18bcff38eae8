#include "modewise/models/file_tensors.h"

#include <ATen/ops/empty.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace modewise::models {
namespace {

constexpr int64_t kPart = int64_t{1} << 20;

}  // namespace

std::optional<at::ScalarType> float_type(const std::string& dtype) {
  if (dtype == "F32") return at::kFloat;
  if (dtype == "F64") return at::kDouble;
  if (dtype == "BF16") return at::kBFloat16;
  if (dtype == "F16") return at::kHalf;
  return std::nullopt;
}

void copy_view(const io::TensorView& view, const at::Tensor& into) {
  const auto options = at::TensorOptions(*float_type(view.dtype));
  const auto size = static_cast<int64_t>(options.dtype().itemsize());
  const at::Tensor flat = into.view({-1});
  for (int64_t first = 0; first < flat.numel(); first += kPart) {
    const at::Tensor part = at::empty({std::min(kPart, flat.numel() - first)}, options);
    std::memcpy(part.mutable_data_ptr(), view.bytes.data() + first * size, part.nbytes());
    flat.narrow(0, first, part.numel()).copy_(part);
  }
}

bool equal_views(const io::TensorView& a, const io::TensorView& b) {
  return a.dtype == b.dtype && a.shape == b.shape && std::ranges::equal(a.bytes, b.bytes);
}

void give_bytes(const at::Tensor& tensor, at::ScalarType type, const ByteSink& sink) {
  const at::Tensor flat = tensor.reshape({-1});
  for (int64_t first = 0; first < flat.numel(); first += kPart) {
    const at::Tensor part =
        flat.narrow(0, first, std::min(kPart, flat.numel() - first)).to(at::kCPU, type).contiguous();
    sink({static_cast<const std::byte*>(part.const_data_ptr()), part.nbytes()});
  }
}

}  // namespace modewise::models
