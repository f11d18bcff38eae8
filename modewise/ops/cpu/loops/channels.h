#pragma once
// What loops over rows of channels that wait for memory have in common.

#include "modewise/ops/cpu/loops/vector.h"

namespace modewise::ops::MODEWISE_ISA {

/// Asks for the lines that hold `count` elements, some 4 KiB behind `from`: these loops wait for memory, and
/// the hardware does not look beyond the page that it reads.
template <bool Written, class T>
inline void ask_ahead(const T* from, int64_t count) {
  constexpr int64_t kAhead = 4096 / static_cast<int64_t>(sizeof(T)),
                    kLine = 64 / static_cast<int64_t>(sizeof(T));
  for (int64_t i = 0; i < count; i += kLine) __builtin_prefetch(from + kAhead + i, Written ? 1 : 0);
}

/// How a loop over channels reads and writes: whole vectors, or single channels.
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
