#pragma once
// GEMM driver: register tiles over packed panels, for matrices of any size.

#include "modewise/ops/cpu/loops/gemm_thin.h"
#include "modewise/ops/cpu/loops/gemm_walk.h"

namespace modewise::ops::MODEWISE_ISA {

/// out [columns] = sums + bias, rounded to Out; with `add`, accumulates into out instead.
template <class Memory, class Out, class Sum>
inline void finish_row(const Sum* sums, const Memory* bias, bool add, int64_t columns, Out* out) {
  constexpr int64_t kLane = kLanes<Sum>;
  int64_t c = 0;
  for (; c + kLane <= columns; c += kLane) {
    Vector<Sum> v = load(sums + c);
    if (add)
      v += load_wide<Out>(out + c);
    else if (bias != nullptr)
      v += load_wide<Memory>(bias + c);
    store_narrow<Out>(out + c, v);
  }
  if (c == columns) return;
  const int64_t left = columns - c;
  Vector<Sum> v = load_wide<Sum>(sums + c, left);
  if (add)
    v += load_wide<Out>(out + c, left);
  else if (bias != nullptr)
    v += load_wide<Memory>(bias + c, left);
  store_narrow<Out>(out + c, v, left);
}

template <class Memory, class Out, class Sum>
inline void finish_tile(const Sum* sums, int64_t sums_row, const Memory* bias, bool add, int64_t rows,
                        int64_t columns, Out* out, int64_t out_row) {
  for (int64_t m = 0; m < rows; ++m, sums += sums_row, out += out_row)
    finish_row(sums, bias, add, columns, out);
}

template <class P>
struct Gemm {
  using Memory = typename P::Memory;
  using Sum = typename P::Sum;
  using Cell = typename P::Cell;
  static_assert(sizeof(Sum) == sizeof(Cell));

  static int64_t panel_bytes(int64_t depth) {
    return cells_of<P>(depth) * kPanel<P> * static_cast<int64_t>(sizeof(Cell));
  }

  static void pack(const GemmPlan& plan, int64_t p, void* to) {
    panel_cells<P>(plan, p, 0, cells_of<P>(plan.depth), as<Cell>(to));
  }

  // Scratch: sums of all tiles, one panel slice, and packed rows of a if needed.
  static int64_t sums_size(const GemmPlan& plan, int64_t rows, int64_t panels) {
    return (plan.depth > kGemmPiece ? rows * panels : kGemmTileRows) * kPanel<P>;
  }
  static int64_t slice_size() { return kPieceCells<P> * kPanel<P>; }
  static int64_t scratch(const GemmPlan& plan, int64_t rows, int64_t panels) {
    const int64_t tiled = (rows + kGemmTileRows - 1) / kGemmTileRows * kGemmTileRows;
    const int64_t cells = is_thin<P>(plan, rows) ? cells_of<P>(plan.depth) : kPieceCells<P>;
    const int64_t packed = reads_in_place<P>(plan)   ? 0
                           : plan.a_lines != nullptr ? 2 * tiled * cells
                                                     : tiled * cells;
    return (sums_size(plan, rows, panels) + slice_size() + packed) * static_cast<int64_t>(sizeof(Cell));
  }

  /// Writes sums of rows [row, row + rows) and columns [column, column + columns) to the output.
  static void finish(const GemmPlan& plan, const Sum* sums, int64_t sums_row, int64_t row, int64_t rows,
                     int64_t column, int64_t columns) {
    const Memory* bias = plan.bias == nullptr ? nullptr : as<Memory>(plan.bias) + column;
    const int64_t at = row * plan.out_row + column;
    if (plan.wide)
      finish_tile(sums, sums_row, bias, plan.add, rows, columns, as<Sum>(plan.out) + at, plan.out_row);
    else
      finish_tile(sums, sums_row, bias, plan.add, rows, columns, as<Memory>(plan.out) + at, plan.out_row);
  }

  static OutRows out_rows(const GemmPlan& plan, int64_t row, int64_t rows, int64_t column, int64_t columns) {
    const auto size = static_cast<int64_t>(plan.wide ? sizeof(Sum) : sizeof(Memory));
    return {as<char>(plan.out) + (row * plan.out_row + column) * size, plan.out_row * size, columns * size,
            rows};
  }

  /// Multiplies one piece of depth of one panel with every tile of rows [row, row_end).
  static void multiply_slice(const GemmPlan& plan, CellRows a, Panel<Cell> slice, PieceSegments<P>& depth,
                             int64_t row, int64_t row_end, int64_t p, Sum* sums, bool first, bool last) {
    const int64_t vectors = panel_vectors<P>(plan, p), column = panel_first<P>(plan, p);
    const int64_t columns = panel_columns<P>(plan, p);
    const auto tile_of = slice.step == vectors * kCells<P> ? gemm_tile_of<P, true> : gemm_tile_of<P, false>;
    const GemmTile<P> whole_tile = tile_of(kGemmTileRows, vectors);
    const bool in_lines = plan.a_lines != nullptr && reads_in_place<P>(plan);
    for (int64_t at = row; at < row_end; a.at += a.next) {
      int64_t rows = row_end - at < kGemmTileRows ? row_end - at : kGemmTileRows;
      if (in_lines) {
        rows = rows_of_line(*plan.a_lines, at, row_end);
        a = cells_of_line<P>(*plan.a_lines, at, rows);
        depth.turn_to(at);
      }
      Sum* to = first && last ? sums : sums + (at - row) * kPanel<P>;
      const GemmTile<P> tile = rows == kGemmTileRows ? whole_tile : tile_of(rows, vectors);
      OutRows out = out_rows(plan, at, last ? rows : 0, column, columns);
      if (plan.depth < kGemmChain)  // too short for the tile to prefetch all rows while it multiplies
        while (out.rows > 0) out.ask();
      tile(a, slice, depth.begin(), depth.end(), to, kPanel<P>, !first, out);
      if (last) finish(plan, to, kPanel<P>, at, rows, column, columns);
      at += rows;
    }
  }

  static void multiply_thin(const GemmPlan& plan, int64_t row, int64_t row_end, int64_t p, int64_t p_end,
                            Sum* sums, Cell* rows_of_a) {
    const int64_t rows = row_end - row, all = cells_of<P>(plan.depth);
    const CellRows a = rows_of<P>(plan, row, rows, 0, all, rows_of_a);
    const int64_t end = panel_first<P>(plan, p_end);
    for (int64_t column = panel_first<P>(plan, p); column < end;) {
      const int64_t left = end - column;
      const bool one = left <= kCells<P>;
      const int64_t room = one ? kCells<P> : kThinBlocks * kCells<P>, count = left < room ? left : room;
      (one ? kThinBlocksOfRows<P, 1> : kThinBlocksOfRows<P, kThinBlocks>)[rows - 1](plan, a, column, count,
                                                                                    sums);
      finish(plan, sums, room, row, rows, column, count);
      column += count;
    }
  }

  static void multiply(const GemmPlan& plan, int64_t row, int64_t row_end, int64_t p, int64_t p_end,
                       const void* packed, void* scratch) {
    Sum* sums = as<Sum>(scratch);
    Cell* slice = as<Cell>(scratch) + sums_size(plan, row_end - row, p_end - p);
    Cell* rows_of_a = slice + slice_size();
    if (packed == nullptr && is_thin<P>(plan, row_end - row))
      return multiply_thin(plan, row, row_end, p, p_end, sums, rows_of_a);
    const int64_t all = cells_of<P>(plan.depth);
    // A single piece needs sums of one tile only: they are finished at once.
    const int64_t kept = all > kPieceCells<P> ? (row_end - row) * kPanel<P> : 0;
    int64_t begin = 0;
    do {
      const int64_t end = begin + kPieceCells<P> < all ? begin + kPieceCells<P> : all;
      const CellRows a = rows_of<P>(plan, row, row_end - row, begin, end - begin, rows_of_a);
      for (int64_t q = p; q < p_end; ++q) {
        const int64_t step = panel_vectors<P>(plan, q) * kCells<P>;
        const bool in_place = packed == nullptr && reads_panel_in_place<P>(plan, q, row_end - row);
        Panel<Cell> from = {slice, step};
        if (packed != nullptr)
          from.at = as<Cell>(packed) + (q - p) * all * kPanel<P> + begin * step;
        else if (in_place)
          from = panel_in_place<P>(plan, q, begin);
        else
          panel_cells<P>(plan, q, begin, end, slice);
        PieceSegments<P> depth(plan, begin, end, a.step, from.step, q, in_place);
        multiply_slice(plan, a, from, depth, row, row_end, q, sums + (q - p) * kept, begin == 0, end == all);
      }
      begin = end;
    } while (begin < all);
  }

  static constexpr GemmLoops<Memory> loops = {kPanel<P>, panel_bytes, pack, scratch, multiply};
};

}  // namespace modewise::ops::MODEWISE_ISA
