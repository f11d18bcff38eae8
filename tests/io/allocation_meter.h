#pragma once
// Counts what `new` hands out in this program, and can make it fail.

#include <cstddef>
#include <cstdint>

namespace modewise::io {

/// While it lives: the most bytes that were allocated at one time, beyond those at its beginning.
class AllocationMeter {
 public:
  AllocationMeter();
  ~AllocationMeter();
  int64_t peak() const;
};

/// While it lives: the allocation after the next `successes` throws std::bad_alloc.
class AllocationFailure {
 public:
  explicit AllocationFailure(int64_t successes);
  ~AllocationFailure();
  /// Whether it has thrown.
  bool happened() const;
};

}  // namespace modewise::io
