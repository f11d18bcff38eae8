#pragma once
// In-register transpose of a square matrix of kLanes vectors.

#include "modewise/ops/cpu/loops/vector.h"

namespace modewise::ops::MODEWISE_ISA {

/// Rows `Half` apart exchange lanes, then rows half as far apart.
template <class Cell, int Half>
inline void exchange(Vector<Cell>* v) {
  using Index = typename IndexOf<sizeof(Cell)>::type;
  constexpr int kCount = kLanes<Cell>;
  Vector<Index> low = {}, high = {};
#pragma GCC unroll 16
  for (int i = 0; i < kCount; ++i) {
    const bool second = i / Half % 2 == 1;
    low[i] = second ? kCount + i - Half : i;
    high[i] = second ? kCount + i : i + Half;
  }
#pragma GCC unroll 16
  for (int i = 0; i < kCount; ++i) {
    if (i / Half % 2 == 1) continue;
    const Vector<Cell> a = v[i], b = v[i + Half];
    v[i] = shuffle<Cell>(a, b, low);
    v[i + Half] = shuffle<Cell>(a, b, high);
  }
  if constexpr (Half > 1) exchange<Cell, Half / 2>(v);
}
template <class Cell>
inline void transpose_lanes(Vector<Cell>* v) {
  exchange<Cell, kLanes<Cell> / 2>(v);
}

}  // namespace modewise::ops::MODEWISE_ISA
