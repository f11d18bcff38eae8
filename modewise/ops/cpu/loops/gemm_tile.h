#pragma once
// Register tiles of a product of matrices: 8 × 48 float32 elements (AVX-512), 6 × 16 (AVX2). A `Cell` is what
// one step multiplies: an element, or for instructions that multiply pairs of bfloat16, two elements that
// follow each other in depth.

#include "modewise/ops/cpu/gemm_plan.h"
#include "modewise/ops/cpu/loops/vector.h"

namespace modewise::ops::MODEWISE_ISA {

/// One element a step, in the type in which sums are taken.
template <class T>
struct Elements {
  using Memory = T;
  using Sum = Accumulate<T>;
  using Cell = Sum;
  static constexpr int kDepth = 1;  // elements of a cell
  static Cell cell(const T* from, int64_t, int64_t) { return widen(*from); }
  /// Count cells side by side.
  template <int Count>
  static void cells(const T* from, int64_t, int64_t, Cell* to) {
#pragma GCC unroll 8
    for (int m = 0; m < Count; ++m) to[m] = widen(from[m]);
  }
  static Vector<Sum> add_product(Vector<Sum> sum, Cell a, Vector<Cell> b) {
    return fused(a - Vector<Sum>{}, b,
                 sum);  // a in every lane; a + 0 would be an addition, for the sake of −0
  }
};

// 24 sums of 32 registers, or 12 of 16; with 16 registers, columns by 16 leave fewer narrow tiles behind than
// by 24.
constexpr int kGemmTileRows = kVectorBytes == 64 ? 8 : 6;
constexpr int kGemmTileVectors = kVectorBytes == 64 ? 3 : 2;

template <class P>
constexpr int kCells = kVectorBytes / static_cast<int>(sizeof(typename P::Cell));
template <class P>
constexpr int kPanel = kGemmTileVectors* kCells<P>;
template <class P>
constexpr int64_t cells_of(int64_t depth) {
  return (depth + P::kDepth - 1) / P::kDepth;
}
template <class P>
constexpr int64_t kLineCells = 64 / sizeof(typename P::Cell);
template <class P>
constexpr int64_t kPieceCells = kGemmPiece / P::kDepth;
template <class P>
constexpr int64_t kChainCells = kGemmChain / P::kDepth;

/// Rows of cells, by strides in bytes; from one tile of rows to the next it is `tile` bytes.
struct CellRows {
  const char* at;
  int64_t row, step, tile;
};

template <class Cell>
inline Cell load_cell(const char* at) {
  Cell cell;
  __builtin_memcpy(&cell, at, sizeof cell);
  return cell;
}

/// Cells of a panel, from one step of the depth to the next `step` cells.
template <class Cell>
struct Panel {
  const Cell* at;
  int64_t step;
};

/// sums [Rows, Vectors · lanes] = a · panel of at most one piece of depth, or added to it. `Packed`: the
/// panel's step is its width.
template <class P, int Rows, int Vectors, bool Packed>
void gemm_tile(CellRows a, Panel<typename P::Cell> b, int64_t cells, typename P::Sum* sums, int64_t sums_row,
               bool add) {
  using Sum = typename P::Sum;
  using Cell = typename P::Cell;
  Vector<Sum> sum[Rows][Vectors] = {}, piece[Rows][Vectors];
  // Rows are addressed from two pointers by one, two and three times the stride: eight pointers would not
  // stay in registers.
  const int64_t row3 = 3 * a.row;
  const char* low = a.at;
  const char* high = a.at + (Rows > 4 ? 4 * a.row : 0);
  const Cell* panel = b.at;
  for (bool first = true;; first = false) {
    const int64_t count = cells < kChainCells<P> ? cells : kChainCells<P>;
    for (int64_t i = 0; i < count;
         ++i, low += a.step, high += a.step, panel += Packed ? Vectors * kCells<P> : b.step) {
      const auto of_row = [&](int m) {
        const int64_t offset = m % 4 == 0 ? 0 : m % 4 == 1 ? a.row : m % 4 == 2 ? 2 * a.row : row3;
        return (m < 4 ? low : high) + offset;
      };
      if (i % kLineCells<P> == 0)  // the next tile's lines arrive while these are multiplied
#pragma GCC unroll 8
        for (int m = 0; m < Rows; ++m) __builtin_prefetch(of_row(m) + a.tile);
      Vector<Cell> x[Vectors];
#pragma GCC unroll 4
      for (int j = 0; j < Vectors; ++j) x[j] = load(panel + j * kCells<P>);
#pragma GCC unroll 8
      for (int m = 0; m < Rows; ++m) {
        const Cell factor = load_cell<Cell>(of_row(m));
#pragma GCC unroll 4
        for (int j = 0; j < Vectors; ++j) sum[m][j] = P::add_product(sum[m][j], factor, x[j]);
      }
    }
    cells -= count;
    if (!first)
#pragma GCC unroll 8
      for (int m = 0; m < Rows; ++m) {
#pragma GCC unroll 4
        for (int j = 0; j < Vectors; ++j) sum[m][j] = piece[m][j] + sum[m][j];
      }
    if (cells == 0) break;
#pragma GCC unroll 8
    for (int m = 0; m < Rows; ++m) {
#pragma GCC unroll 4
      for (int j = 0; j < Vectors; ++j) {
        piece[m][j] = sum[m][j];
        sum[m][j] = Vector<Sum>{};
      }
    }
  }
#pragma GCC unroll 8
  for (int m = 0; m < Rows; ++m) {
#pragma GCC unroll 4
    for (int j = 0; j < Vectors; ++j) {
      Sum* to = sums + m * sums_row + j * kLanes<Sum>;
      store(to, add ? load(to) + sum[m][j] : sum[m][j]);
    }
  }
}

template <class P>
using GemmTile = void (*)(CellRows, Panel<typename P::Cell>, int64_t, typename P::Sum*, int64_t, bool);

template <class P, int Rows, bool Packed = true>
constexpr GemmTile<P> kGemmTilesOfRows[kGemmTileVectors] = {gemm_tile<P, Rows, 1, Packed>,
                                                            gemm_tile<P, Rows, 2, Packed>,
#if defined(__AVX512F__)
                                                            gemm_tile<P, Rows, 3, Packed>
#endif
};
template <class P>
inline GemmTile<P> gemm_tile_of(int64_t rows, int64_t vectors) {
  static constexpr const GemmTile<P>* kTiles[] = {
    kGemmTilesOfRows<P, 1>,
    kGemmTilesOfRows<P, 2>,
    kGemmTilesOfRows<P, 3>,
    kGemmTilesOfRows<P, 4>,
    kGemmTilesOfRows<P, 5>,
    kGemmTilesOfRows<P, 6>,
#if defined(__AVX512F__)
    kGemmTilesOfRows<P, 7>,
    kGemmTilesOfRows<P, 8>
#endif
  };
  return kTiles[rows - 1][vectors - 1];
}

/// At most this many rows are multiplied by a matrix while it is read, without packing it.
constexpr int kThinRows = 4;
template <class P>
inline GemmTile<P> thin_tile_of(int64_t rows, int64_t vectors) {
  static constexpr const GemmTile<P>* kTiles[kThinRows] = {
      kGemmTilesOfRows<P, 1, false>, kGemmTilesOfRows<P, 2, false>, kGemmTilesOfRows<P, 3, false>,
      kGemmTilesOfRows<P, 4, false>};
  return kTiles[rows - 1][vectors - 1];
}

/// Columns of panel p, and the vectors that hold them.
template <class P>
inline int64_t panel_columns(const GemmPlan& plan, int64_t p) {
  const int64_t left = plan.columns - p * kPanel<P>;
  return left < kPanel<P> ? left : kPanel<P>;
}
template <class P>
inline int64_t panel_vectors(const GemmPlan& plan, int64_t p) {
  return (panel_columns<P>(plan, p) + kCells<P> - 1) / kCells<P>;
}

}  // namespace modewise::ops::MODEWISE_ISA
