#pragma once
// Register-blocked products of small matrices with packed panels, shared by the mode product and score loops.

#include "modewise/ops/cpu/loops/vector.h"

namespace modewise::ops::MODEWISE_ISA {

/// Rows and vectors of one register tile: 24 accumulators of 32 registers, or 12 of 16.
constexpr int kTileRows = kVectorBytes == 64 ? 8 : 4;
constexpr int kTileVectors = 3;

/// out[j][m · out_row + lane] = Σ_n a[n · kTileRows + m] panel[n · panel_row + j · lanes + lane], n
/// ascending.
template <class F, int Rows, int Vectors>
void tile_product(const F* a, const F* panel, int64_t panel_row, int64_t n, F* const* out, int64_t out_row) {
  Vector<F> sum[Rows][Vectors] = {};
  for (int64_t i = 0; i < n; ++i, a += kTileRows, panel += panel_row) {
    Vector<F> x[Vectors];
#pragma GCC unroll 8
    for (int j = 0; j < Vectors; ++j) x[j] = load(panel + j * kLanes<F>);
#pragma GCC unroll 8
    for (int m = 0; m < Rows; ++m) {
#pragma GCC unroll 8
      for (int j = 0; j < Vectors; ++j) sum[m][j] += a[m] * x[j];
    }
  }
#pragma GCC unroll 8
  for (int m = 0; m < Rows; ++m) {
#pragma GCC unroll 8
    for (int j = 0; j < Vectors; ++j) store(out[j] + m * out_row, sum[m][j]);
  }
}

template <class F>
using TileProduct = void (*)(const F*, const F*, int64_t, int64_t, F* const*, int64_t);

template <class F, int Rows>
inline TileProduct<F> tile_of_vectors(int vectors) {
  if (vectors == 1) return tile_product<F, Rows, 1>;
  if (vectors == 2) return tile_product<F, Rows, 2>;
  return tile_product<F, Rows, 3>;
}
template <class F>
inline TileProduct<F> tile_of(int rows, int vectors) {
  switch (rows) {
    case 1:
      return tile_of_vectors<F, 1>(vectors);
    case 2:
      return tile_of_vectors<F, 2>(vectors);
    case 3:
      return tile_of_vectors<F, 3>(vectors);
    case 4:
      return tile_of_vectors<F, 4>(vectors);
#if defined(__AVX512F__)
    case 5:
      return tile_of_vectors<F, 5>(vectors);
    case 6:
      return tile_of_vectors<F, 6>(vectors);
    case 7:
      return tile_of_vectors<F, 7>(vectors);
    default:
      return tile_of_vectors<F, 8>(vectors);
#else
    default:
      return tile_of_vectors<F, 4>(vectors);
#endif
  }
}

/// Rows per tile when `rows` are split into as few tiles as possible, as equal as possible.
inline int64_t balanced_rows(int64_t rows) {
  const int64_t tiles = (rows + kTileRows - 1) / kTileRows;
  return tiles == 0 ? 1 : (rows + tiles - 1) / tiles;
}

/// a [rows, cols] by strides -> tiles of `tile` rows, each stored [cols][kTileRows].
template <class A, class F>
inline void pack_rows(const A* a, int64_t row, int64_t col, int64_t rows, int64_t cols, int64_t tile, F* to) {
  for (int64_t first = 0; first < rows; first += tile, to += cols * kTileRows) {
    const int64_t count = rows - first < tile ? rows - first : tile;
    for (int64_t m = 0; m < count; ++m) {
      const A* from = a + (first + m) * row;
      for (int64_t n = 0; n < cols; ++n) to[n * kTileRows + m] = widen(from[n * col]);
    }
  }
}

/// Packs `width` channels (stride `channel`) of each fibre into a row: to[(f − begin) · width + c].
template <class T, class F>
inline void pack_fibres(const T* from, int64_t channel, int64_t width, const int64_t* fibre, int64_t count,
                        F* to) {
  if (channel == 1 && width % kLanes<F> == 0) {
    for (int64_t f = 0; f < count; ++f, to += width) {
      const T* x = from + fibre[f];
      for (int64_t c = 0; c < width; c += kLanes<F>) store(to + c, load_wide<T>(x + c));
    }
    return;
  }
  for (int64_t f = 0; f < count; ++f, to += width) {
    const T* x = from + fibre[f];
    for (int64_t c = 0; c < width; ++c) to[c] = widen(x[c * channel]);
  }
}

}  // namespace modewise::ops::MODEWISE_ISA
