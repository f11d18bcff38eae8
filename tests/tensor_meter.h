#pragma once
// Meter of live tensor memory.

#include <c10/core/Allocator.h>
#include <c10/core/CPUAllocator.h>

#include <algorithm>
#include <cstdint>

namespace modewise {

/// Peak bytes of live tensors during its lifetime, relative to its construction.
class TensorMeter final : public c10::Allocator {
 public:
  TensorMeter() : before_(c10::GetCPUAllocator()) { c10::SetCPUAllocator(this, kPriority); }
  ~TensorMeter() override { c10::SetCPUAllocator(before_, kPriority); }
  TensorMeter(const TensorMeter&) = delete;
  TensorMeter& operator=(const TensorMeter&) = delete;

  c10::DataPtr allocate(size_t bytes) override {
    auto* held = new Held{before_->allocate(bytes), bytes};
    now_ += static_cast<int64_t>(bytes);
    peak_ = std::max(peak_, now_);
    return {held->data.get(), held, release, c10::Device(c10::kCPU)};
  }
  void copy_data(void* to, const void* from, size_t bytes) const override {
    default_copy_data(to, from, bytes);
  }
  static int64_t peak() { return peak_; }
  static int64_t now() { return now_; }
  static void begin() { now_ = 0, peak_ = 0; }

 private:
  static constexpr uint8_t kPriority = 100;
  struct Held {
    c10::DataPtr data;
    size_t bytes;
  };
  static void release(void* held) {
    now_ -= static_cast<int64_t>(static_cast<Held*>(held)->bytes);
    delete static_cast<Held*>(held);
  }

  c10::Allocator* before_;
  inline static int64_t now_ = 0, peak_ = 0;  // tensors may outlive the meter
};

}  // namespace modewise
