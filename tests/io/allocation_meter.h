#pragma once
// Counts allocations by `new` in this program, and can make them fail.

#include <cstddef>
#include <cstdint>

namespace modewise::io {

constexpr int64_t kMiB = 1 << 20;

/// Peak of allocated bytes during its lifetime, relative to its construction.
class AllocationMeter {
 public:
  AllocationMeter();
  ~AllocationMeter();
  int64_t peak() const;
};

/// During its lifetime the allocation after the next `successes` ones throws std::bad_alloc.
class AllocationFailure {
 public:
  explicit AllocationFailure(int64_t successes);
  ~AllocationFailure();
  /// Whether it has thrown.
  bool happened() const;
};

}  // namespace modewise::io
