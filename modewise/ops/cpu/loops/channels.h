#pragma once
// Prefetching and channel access of memory-bound loops over rows of channels.

#include "modewise/ops/cpu/loops/vector.h"

namespace modewise::ops::MODEWISE_ISA {

/// Prefetches the cache lines of `count` elements some 4 KiB after `from`: these loops are memory-bound, and
/// the hardware prefetcher stops at the page boundary.
template <bool Written, class T>
inline void ask_ahead(const T* from, int64_t count) {
  constexpr int64_t kAhead = 4096 / static_cast<int64_t>(sizeof(T)),
                    kLine = 64 / static_cast<int64_t>(sizeof(T));
  for (int64_t i = 0; i < count; i += kLine) __builtin_prefetch(from + kAhead + i, Written ? 1 : 0);
}

/// Access policies of a loop over channels: whole vectors, or single channels.
struct ByVector {
  template <class T>
  static Vector<Accumulate<T>> read(const T* from) {
    return load_wide<T>(from);
  }
  template <class T>
  static void write(T* to, Vector<Accumulate<T>> v) {
    store_narrow<T>(to, v);
  }
};
struct ByChannel {
  template <class T>
  static Accumulate<T> read(const T* from) {
    return widen(*from);
  }
  template <class T>
  static void write(T* to, Accumulate<T> value) {
    *to = narrow<T>(value);
  }
};

}  // namespace modewise::ops::MODEWISE_ISA
