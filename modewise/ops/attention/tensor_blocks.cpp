#include "modewise/ops/attention/tensor_blocks.h"

#include <c10/core/Allocator.h>
#include <c10/core/CPUAllocator.h>
#include <c10/util/Exception.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>

namespace modewise::ops {

namespace {

/// The block of the C library that holds `memory`, stored in front of it.
void*& block_of(void* memory) {
  return static_cast<void**>(memory)[-1];
}

/// Reports to the memory profiler as libtorch's own allocator does.
void release(void* memory) {
  if (memory == nullptr) return;
  c10::profiledCPUMemoryReporter().Delete(memory);
  std::free(block_of(memory));
}

class PlainBlocks final : public c10::Allocator {
 public:
  c10::DataPtr allocate(size_t bytes) override {
    if (bytes == 0) return {nullptr, c10::Device(c10::kCPU)};
    void* block = bytes <= SIZE_MAX - kLine ? std::malloc(bytes + kLine) : nullptr;
    // Same message as libtorch's own allocator.
    TORCH_CHECK(block != nullptr, "DefaultCPUAllocator: can't allocate memory: you tried to allocate ", bytes,
                " bytes.");
    const auto at = reinterpret_cast<uintptr_t>(block);
    void* memory = static_cast<std::byte*>(block) + (kLine - at % kLine);  // at least 16 bytes further
    block_of(memory) = block;
    c10::profiledCPUMemoryReporter().New(memory, bytes);
    return {memory, memory, &release, c10::Device(c10::kCPU)};
  }
  c10::DeleterFnPtr raw_deleter() const override { return &release; }
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
