#pragma once
// GEMM micro-kernels: register tiles of 8 × 48 float32 elements (AVX-512) or 6 × 16 (AVX2). A `Cell` is the
// operand of one step: an element, or for bfloat16 dot-product instructions a pair of elements adjacent in
// depth.

#include "modewise/ops/cpu/gemm_plan.h"
#include "modewise/ops/cpu/loops/vector.h"

namespace modewise::ops::MODEWISE_ISA {

/// One element per step, in the accumulate type.
template <class T>
struct Elements {
  using Memory = T;
  using Sum = Accumulate<T>;
  using Cell = Sum;
  static constexpr int kDepth = 1;  // elements per cell
  static Cell cell(const T* from, int64_t, int64_t) { return widen(*from); }
  /// Count adjacent cells.
  template <int Count>
  static void cells(const T* from, int64_t, int64_t, Cell* to) {
#pragma GCC unroll 8
    for (int m = 0; m < Count; ++m) to[m] = widen(from[m]);
  }
  static Vector<Sum> add_product(Vector<Sum> sum, Cell a, Vector<Cell> b) {
    return fused(a - Vector<Sum>{}, b,
                 sum);  // broadcast a; a + 0 would compile to an addition because of −0
  }
};

// 24 accumulators of 32 registers, or 12 of 16; with 16 registers, tiles of 16 columns leave fewer narrow
// remainders than tiles of 24.
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

/// Rows of cells, with strides in bytes. `next`: offset to the rows of the next tile.
struct CellRows {
  const char* at;
  int64_t row, step, next;
};

template <class Cell>
inline Cell load_cell(const char* at) {
  Cell cell;
  __builtin_memcpy(&cell, at, sizeof cell);
  return cell;
}

/// Cells of a panel; `step`: cells from one depth step to the next.
template <class Cell>
struct Panel {
  const Cell* at;
  int64_t step;
};

/// Depth segment that is contiguous in both operands, at offset `a` bytes from the start of the rows and `b`
/// cells from the start of the panel.
struct DepthSegment {
  int64_t a, b, cells;
  bool ends_chain;
};

/// Output rows that a tile prefetches while it multiplies, so that they are in cache when its sums are done:
/// two at a time, because more at once would be dropped.
struct OutRows {
  const char* at;
  int64_t row, bytes, rows;  // row stride; bytes per row; rows not prefetched yet

  void ask() {
    for (int i = 0; i < 2 && rows > 0; ++i, --rows, at += row)
      for (int64_t byte = 0; byte < bytes; byte += 64) __builtin_prefetch(at + byte, 1);
  }
};

/// sums [Rows, Vectors · lanes] = a · panel (or += with `add`) over the segments of at most one piece of
/// depth; the last segment ends a chain. `Packed`: the panel's step is its width.
template <class P, int Rows, int Vectors, bool Packed>
void gemm_tile(const CellRows& a, const Panel<typename P::Cell>& b, const DepthSegment* segment,
               const DepthSegment* end, typename P::Sum* sums, int64_t sums_row, bool add, OutRows& out) {
  using Sum = typename P::Sum;
  using Cell = typename P::Cell;
  Vector<Sum> sum[Rows][Vectors] = {}, piece[Rows][Vectors];
  // Rows are addressed from two pointers by one, two and three times the stride: eight pointers would not fit
  // in registers.
  const int64_t row3 = 3 * a.row;
  for (bool first = true;; ++segment) {
    const char* low = a.at + segment->a;
    const char* high = low + (Rows > 4 ? 4 * a.row : 0);
    const Cell* panel = b.at + segment->b;
    const auto of_row = [&](int m) {
      const int64_t offset = m % 4 == 0 ? 0 : m % 4 == 1 ? a.row : m % 4 == 2 ? 2 * a.row : row3;
      return (m < 4 ? low : high) + offset;
    };
    for (int64_t left = segment->cells; left > 0; left -= kLineCells<P>) {
#pragma GCC unroll 8
      for (int m = 0; m < Rows; ++m)  // prefetch the next tile's rows
        __builtin_prefetch(of_row(m) + a.next);
      out.ask();
      const int64_t count = left < kLineCells<P> ? left : kLineCells<P>;
#pragma GCC unroll 2
      for (int64_t i = 0; i < count; ++i) {
        Vector<Cell> x[Vectors];
#pragma GCC unroll 4
        for (int j = 0; j < Vectors; ++j) x[j] = load(panel + j * kCells<P>);
#pragma GCC unroll 8
        for (int m = 0; m < Rows; ++m) {
          const Cell factor = load_cell<Cell>(of_row(m));
#pragma GCC unroll 4
          for (int j = 0; j < Vectors; ++j) sum[m][j] = P::add_product(sum[m][j], factor, x[j]);
        }
        low += a.step;
        high += a.step;
        panel += Packed ? Vectors * kCells<P> : b.step;
      }
    }
    if (!segment->ends_chain) continue;
    if (!first)
#pragma GCC unroll 8
      for (int m = 0; m < Rows; ++m) {
#pragma GCC unroll 4
        for (int j = 0; j < Vectors; ++j) sum[m][j] = piece[m][j] + sum[m][j];
      }
    if (segment + 1 == end) break;
    first = false;
#pragma GCC unroll 8
    for (int m = 0; m < Rows; ++m) {
#pragma GCC unroll 4
      for (int j = 0; j < Vectors; ++j) {
        piece[m][j] = sum[m][j];
        sum[m][j] = Vector<Sum>{};
      }
    }
    asm("" : "+m"(piece));  // spilled: the registers are for the sums
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
using GemmTile = void (*)(const CellRows&, const Panel<typename P::Cell>&, const DepthSegment*,
                          const DepthSegment*, typename P::Sum*, int64_t, bool, OutRows&);

template <class P, int Vectors, bool Packed, int Rows = kGemmTileRows>
inline GemmTile<P> gemm_tile_of_rows(int64_t rows) {
  if constexpr (Rows > 1)
    if (rows < Rows) return gemm_tile_of_rows<P, Vectors, Packed, Rows - 1>(rows);
  return gemm_tile<P, Rows, Vectors, Packed>;
}
template <class P, bool Packed>
inline GemmTile<P> gemm_tile_of(int64_t rows, int64_t vectors) {
  if (vectors == 1) return gemm_tile_of_rows<P, 1, Packed>(rows);
  if (vectors == 2) return gemm_tile_of_rows<P, 2, Packed>(rows);
  return gemm_tile_of_rows<P, kGemmTileVectors, Packed>(rows);
}

/// First column of panel p: a last panel of one vector takes another from the panel before it, because tiles
/// of one vector stall on their loads.
template <class P>
inline int64_t panel_first(const GemmPlan& plan, int64_t p) {
  const int64_t first = p * kPanel<P>, left = plan.columns - first;
  if (left <= 0) return plan.columns;
  return kGemmTileVectors > 2 && p > 0 && left <= kCells<P> ? first - kCells<P> : first;
}
/// Columns of panel p, and the number of vectors that hold them.
template <class P>
inline int64_t panel_columns(const GemmPlan& plan, int64_t p) {
  return panel_first<P>(plan, p + 1) - panel_first<P>(plan, p);
}
template <class P>
inline int64_t panel_vectors(const GemmPlan& plan, int64_t p) {
  return (panel_columns<P>(plan, p) + kCells<P> - 1) / kCells<P>;
}

}  // namespace modewise::ops::MODEWISE_ISA
