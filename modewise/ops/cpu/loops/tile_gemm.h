#pragma once
// Products of small contiguous matrices for attention tiles, without packing: one operand is broadcast, the
// other loaded in whole vectors.

#include "modewise/ops/cpu/loops/vector.h"

namespace modewise::ops::MODEWISE_ISA {

constexpr int kGemmRows = kVectorBytes == 64 ? 8 : 4;
constexpr int kGemmVectors = 2;

// out[m, j] (+)= Σ_i a[m · a_row + i · a_col] · b[i · b_row + j], i ascending.
template <class F, int Rows, int Vectors, bool Add>
void gemm_tile(const F* a, int64_t a_row, int64_t a_col, int64_t depth, const F* b, int64_t b_row, F* out,
               int64_t out_row) {
  Vector<F> sum[Rows][Vectors];
#pragma GCC unroll 8
  for (int m = 0; m < Rows; ++m) {
#pragma GCC unroll 4
    for (int j = 0; j < Vectors; ++j) sum[m][j] = Add ? load(out + m * out_row + j * kLanes<F>) : Vector<F>{};
  }
  // Rows are addressed from two pointers by one, two and three times the stride: eight pointers would not fit
  // in registers.
  const int64_t row3 = 3 * a_row;
  const F* high = a + (Rows > 4 ? 4 * a_row : 0);
  for (int64_t i = 0; i < depth; ++i, a += a_col, high += a_col, b += b_row) {
    Vector<F> x[Vectors];
#pragma GCC unroll 4
    for (int j = 0; j < Vectors; ++j) x[j] = load(b + j * kLanes<F>);
#pragma GCC unroll 8
    for (int m = 0; m < Rows; ++m) {
      const F* from = m < 4 ? a : high;
      const F factor = m % 4 == 0   ? from[0]
                       : m % 4 == 1 ? from[a_row]
                       : m % 4 == 2 ? from[2 * a_row]
                                    : from[row3];
#pragma GCC unroll 4
      for (int j = 0; j < Vectors; ++j) sum[m][j] += factor * x[j];
    }
  }
#pragma GCC unroll 8
  for (int m = 0; m < Rows; ++m) {
#pragma GCC unroll 4
    for (int j = 0; j < Vectors; ++j) store(out + m * out_row + j * kLanes<F>, sum[m][j]);
  }
}

template <class F>
using AttentionTile = void (*)(const F*, int64_t, int64_t, int64_t, const F*, int64_t, F*, int64_t);
template <class F, int Vectors, bool Add, int Rows = kGemmRows>
inline AttentionTile<F> attention_tile_of(int64_t rows) {
  if constexpr (Rows > 1)
    if (rows < Rows) return attention_tile_of<F, Vectors, Add, Rows - 1>(rows);
  return gemm_tile<F, Rows, Vectors, Add>;
}

/// Splits rows into tiles as equal as possible: tiles of one or two rows stall on dependency chains.
template <class F, int Vectors, bool Add>
inline void gemm_columns(const F* a, int64_t a_row, int64_t a_col, int64_t rows, int64_t depth, const F* b,
                         int64_t b_row, F* out, int64_t out_row) {
  for (int64_t tiles = (rows + kGemmRows - 1) / kGemmRows; tiles > 0; --tiles) {
    const int64_t count = (rows + tiles - 1) / tiles;
    attention_tile_of<F, Vectors, Add>(count)(a, a_row, a_col, depth, b, b_row, out, out_row);
    a += count * a_row;
    out += count * out_row;
    rows -= count;
  }
}

/// out [rows, columns] = a · b, or += with Add; columns a multiple of the lanes.
template <class F, bool Add>
inline void gemm(const F* a, int64_t a_row, int64_t a_col, int64_t rows, int64_t depth, const F* b,
                 int64_t b_row, int64_t columns, F* out, int64_t out_row) {
  int64_t column = 0;
  for (; column + kGemmVectors * kLanes<F> <= columns; column += kGemmVectors * kLanes<F>)
    gemm_columns<F, kGemmVectors, Add>(a, a_row, a_col, rows, depth, b + column, b_row, out + column,
                                       out_row);
  for (; column < columns; column += kLanes<F>)
    gemm_columns<F, 1, Add>(a, a_row, a_col, rows, depth, b + column, b_row, out + column, out_row);
}

}  // namespace modewise::ops::MODEWISE_ISA
