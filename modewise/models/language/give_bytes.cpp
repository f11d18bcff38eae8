#include "modewise/models/language/give_bytes.h"

#include <algorithm>
#include <cstdint>

namespace modewise::models {

void give_bytes(const at::Tensor& tensor, at::ScalarType type, const ByteSink& sink) {
  constexpr int64_t kPart = int64_t{1} << 20;
  const at::Tensor flat = tensor.reshape({-1});
  for (int64_t first = 0; first < flat.numel(); first += kPart) {
    const at::Tensor part =
        flat.narrow(0, first, std::min(kPart, flat.numel() - first)).to(at::kCPU, type).contiguous();
    sink({static_cast<const std::byte*>(part.const_data_ptr()), part.nbytes()});
  }
}

}  // namespace modewise::models
