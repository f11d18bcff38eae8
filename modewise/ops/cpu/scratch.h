#pragma once
// Scratch memory of one thread for one call, aligned to cache lines; kept between calls.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>

namespace modewise::ops {

/// At least `bytes` bytes, valid until this thread's next call. Blocks above 4 MiB are freed by the next
/// call.
inline void* thread_scratch(int64_t bytes) {
  struct Free {
    void operator()(std::byte* block) const { ::operator delete[](block, std::align_val_t{64}); }
  };
  thread_local std::unique_ptr<std::byte[], Free> block;
  thread_local int64_t size = 0;
  constexpr int64_t kKept = int64_t{4} << 20;
  if (bytes > size || size > kKept) {
    block.reset();
    size = 0;
    block.reset(static_cast<std::byte*>(::operator new[](static_cast<size_t>(bytes), std::align_val_t{64})));
    size = bytes;
  }
  return block.get();
}

}  // namespace modewise::ops
