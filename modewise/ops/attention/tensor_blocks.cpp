#include "modewise/ops/attention/tensor_blocks.h"

#include <c10/core/Allocator.h>
#include <c10/core/CPUAllocator.h>
#include <c10/util/Exception.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>

namespace modewise::ops {

namespace {

/// Reports to the memory profiler as libtorch's own allocator does.
void release(void* block) {
  c10::profiledCPUMemoryReporter().Delete(block);
  std::free(block);
}

class PlainBlocks final : public c10::Allocator {
 public:
  c10::DataPtr allocate(size_t bytes) override {
    if (bytes == 0) return {nullptr, c10::Device(c10::kCPU)};
    void* block = bytes <= SIZE_MAX - kLine ? std::malloc(bytes + kLine) : nullptr;
    // Same message as libtorch's own allocator.
    TORCH_CHECK(block != nullptr, "DefaultCPUAllocator: can't allocate memory: you tried to allocate ", bytes,
                " bytes.");
    c10::profiledCPUMemoryReporter().New(block, bytes);
    const auto at = reinterpret_cast<uintptr_t>(block);
    return {static_cast<std::byte*>(block) + (kLine - at % kLine), block, &release, c10::Device(c10::kCPU)};
  }
  void copy_data(void* to, const void* from, size_t bytes) const override {
    default_copy_data(to, from, bytes);
  }

 private:
  static constexpr size_t kLine = 64;
};

}  // namespace

void keep_tensors_in_plain_blocks() {
  static PlainBlocks blocks;
  c10::SetCPUAllocator(&blocks, /*priority=*/1);
}

}  // namespace modewise::ops
