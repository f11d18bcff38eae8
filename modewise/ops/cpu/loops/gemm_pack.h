#pragma once
// Packing of GEMM operands: panels of b with one contiguous row per depth step, and rows of a, which are read
// in place if their elements have the compute type, else packed too.

#include "modewise/ops/cpu/loops/gemm_tile.h"
#include "modewise/ops/cpu/loops/transpose.h"

namespace modewise::ops::MODEWISE_ISA {

/// Whether a cell is one bfloat16 widened to float32. Blocks of these are transposed as pairs and then
/// widened, with half the loads and shuffles.
template <class P>
constexpr bool kWidened = sizeof(typename P::Memory) * P::kDepth < sizeof(typename P::Cell);
/// Cells per column of a block that is transposed at once.
template <class P>
constexpr int kTurned = (kWidened<P> ? 2 : 1) * kCells<P>;

/// Loads one vector per column from x on and transposes them. ask(j) prefetches with column j: the columns
/// are more streams than the hardware prefetcher can follow.
template <class Word, class Memory, class Ask>
inline void load_turned_words(const Memory* x, int64_t stride, const Ask& ask, Vector<Word>* words) {
#pragma GCC unroll 16
  for (int j = 0; j < kLanes<Word>; ++j, x += stride) {
    __builtin_memcpy(&words[j], x, sizeof words[j]);
    ask(j);
  }
  transpose_lanes<Word>(words);
}

/// Transposes kTurned<P> cells from i on of kCells<P> columns that are contiguous in depth: v[k] holds cell i
/// + k of all columns.
template <class P, class Ask>
inline void load_turned(const typename P::Memory* column, int64_t stride, int64_t i, const Ask& ask,
                        Vector<typename P::Cell>* v) {
  using Cell = typename P::Cell;
  const typename P::Memory* x = column + i * P::kDepth;
  if constexpr (kWidened<P>) {
    Vector<uint32_t> pairs[kCells<P>];
    load_turned_words<uint32_t>(x, stride, ask, pairs);
#pragma GCC unroll 16
    for (int j = 0; j < kCells<P>; ++j) {
      v[2 * j] = (Vector<Cell>)(pairs[j] << 16);
      v[2 * j + 1] = (Vector<Cell>)(pairs[j] & 0xffff0000U);
    }
  } else {
    load_turned_words<Cell>(x, stride, ask, v);
  }
}

/// Packs cells [first, last) of panel p into rows of whole vectors; columns beyond b's are 0.
template <class P>
void pack_cells(const GemmPlan& plan, int64_t p, int64_t first, int64_t last, typename P::Cell* to) {
  using Memory = typename P::Memory;
  using Cell = typename P::Cell;
  const int64_t columns = panel_columns<P>(plan, p), width = panel_vectors<P>(plan, p) * kCells<P>;
  const int64_t row = plan.b_row * P::kDepth, left = plan.depth - first * P::kDepth;
  const Memory* from = as<Memory>(plan.b) + first * row + panel_first<P>(plan, p) * plan.b_col;
  const int64_t count = last - first;
  int64_t begin = 0;  // columns packed in whole blocks
  if (plan.b_row == 1) {
    const int64_t whole = (left < count * P::kDepth ? left : count * P::kDepth) / P::kDepth;
    for (; begin + kCells<P> <= columns; begin += kCells<P>) {
      const Memory* column = from + begin * plan.b_col;
      int64_t i = 0;
      for (; i + kTurned<P> <= whole; i += kTurned<P>) {
        Vector<Cell> block[kTurned<P>];
        const Memory* ahead = column + i * P::kDepth + 256 / sizeof(Memory);
        const auto ask = [&](int j) { __builtin_prefetch(ahead + j * plan.b_col); };
        load_turned<P>(column, plan.b_col, i, ask, block);
#pragma GCC unroll 32
        for (int j = 0; j < kTurned<P>; ++j) store(to + (i + j) * width + begin, block[j]);
      }
      for (; i < count; ++i)
        for (int j = 0; j < kCells<P>; ++j)
          to[i * width + begin + j] =
              P::cell(column + j * plan.b_col + i * row, plan.b_row, left - i * P::kDepth);
    }
  }
  for (int64_t i = 0; i < count; ++i) {
    Cell* line = to + i * width;
    const Memory* x = from + i * row;
    const int64_t here = left - i * P::kDepth;
    if (plan.b_col == 1)
      for (int64_t j = begin; j < columns; ++j) line[j] = P::cell(x + j, plan.b_row, here);
    else
      for (int64_t j = begin; j < columns; ++j) line[j] = P::cell(x + j * plan.b_col, plan.b_row, here);
    for (int64_t j = columns; j < width; ++j) line[j] = Cell{};
  }
}

/// Copies columns [column, column + columns) of rows [row, row + rows) of an im2col matrix to `to` [rows,
/// columns].
template <class Memory>
void read_lines(const LinedMatrix& x, int64_t row, int64_t rows, int64_t column, int64_t columns,
                Memory* to) {
  constexpr int64_t kBlock = 64 / sizeof(Memory),
                    kPart = 16 / sizeof(Memory);  // a copy of constant size is inlined
  const int64_t first_run = column / x.run, skipped = column % x.run;
  for (; rows > 0; --rows, ++row) {
    const Memory* from = as<Memory>(x.at) + x.row_at(row);
    int64_t skip = skipped;
    for (int64_t run = first_run, left = columns; left > 0; ++run, skip = 0) {
      const Memory* cells = from + x.run_at[run] + skip;
      const int64_t width = x.run - skip < left ? x.run - skip : left;
      int64_t c = 0;
      for (; c + kBlock <= width; c += kBlock) __builtin_memcpy(to + c, cells + c, 64);
      for (; c + kPart <= width; c += kPart) __builtin_memcpy(to + c, cells + c, 16);
      for (; c < width; ++c) to[c] = cells[c];
      to += width;
      left -= width;
    }
  }
}

/// Like pack_cells, for an im2col matrix b.
template <class P>
void pack_cells_in_lines(const GemmPlan& plan, int64_t p, int64_t first, int64_t last, typename P::Cell* to) {
  using Memory = typename P::Memory;
  using Cell = typename P::Cell;
  const int64_t columns = panel_columns<P>(plan, p), width = panel_vectors<P>(plan, p) * kCells<P>;
  const bool as_written = sizeof(Memory) == sizeof(Cell) && columns == width;
  Memory part[kGemmPiece * kPanel<P>];
  for (; first < last; first += kPieceCells<P>, to += kPieceCells<P> * width) {
    const int64_t cells = last - first < kPieceCells<P> ? last - first : kPieceCells<P>;
    const int64_t row = first * P::kDepth, left = plan.depth - row;
    const int64_t rows = left < cells * P::kDepth ? left : cells * P::kDepth;
    void* written = as_written ? static_cast<void*>(to) : part;
    read_lines(*plan.b_lines, plan.b_first + row, rows, panel_first<P>(plan, p), columns,
               static_cast<Memory*>(written));
    if (as_written) continue;
    GemmPlan here = plan;
    here.b_lines = nullptr;
    here.b = part;
    here.b_row = here.columns = columns;
    here.b_col = 1;
    here.depth = rows;
    pack_cells<P>(here, 0, 0, cells, to);
  }
}

/// Packs cells [first, last) of panel p of either kind of b.
template <class P>
void panel_cells(const GemmPlan& plan, int64_t p, int64_t first, int64_t last, typename P::Cell* to) {
  if (plan.b_lines != nullptr)
    pack_cells_in_lines<P>(plan, p, first, last, to);
  else
    pack_cells<P>(plan, p, first, last, to);
}

/// Minimum lengths of lines and runs to be read in place: a tile covers one line, a depth segment one run.
constexpr int64_t kMinLine = 4, kMinRun = 16;
inline bool is_coarse(const LinedMatrix& x) {
  return x.line >= kMinLine && x.run >= kMinRun;
}

/// Whether the tiles read a in place.
template <class P>
inline bool reads_in_place(const GemmPlan& plan) {
  if (sizeof(typename P::Memory) * P::kDepth != sizeof(typename P::Cell)) return false;
  if (plan.depth % P::kDepth != 0) return false;
  if (plan.a_lines == nullptr) return plan.a_col == 1;
  return plan.depth > 0 && is_coarse(*plan.a_lines) && plan.a_lines->run % P::kDepth == 0;
}

/// Packs `cells` cells of `rows` rows of a. Contiguous depth keeps the row layout; otherwise blocks of
/// kGemmTileRows rows are packed one after another, [cells][rows of a block].
template <class P>
CellRows pack_rows_of_a(const GemmPlan& plan, int64_t row, int64_t rows, int64_t first, int64_t cells,
                        typename P::Cell* to) {
  using Memory = typename P::Memory;
  using Cell = typename P::Cell;
  const int64_t depth = plan.a_col * P::kDepth, left = plan.depth - first * P::kDepth;
  const Memory* from = as<Memory>(plan.a) + row * plan.a_row + first * depth;
  if (plan.a_col == 1) {
    for (int64_t m = 0; m < rows; ++m)
      for (int64_t i = 0; i < cells; ++i)
        to[m * cells + i] = P::cell(from + m * plan.a_row + i * P::kDepth, 1, left - i * P::kDepth);
    const int64_t bytes = cells * static_cast<int64_t>(sizeof(Cell));
    return {reinterpret_cast<const char*>(to), bytes, sizeof(Cell), kGemmTileRows * bytes};
  }
  for (int64_t tile = 0; tile < rows; tile += kGemmTileRows) {
    const int64_t count = rows - tile < kGemmTileRows ? rows - tile : kGemmTileRows;
    const Memory* x = from + tile * plan.a_row;
    Cell* block = to + tile * cells;
    for (int64_t i = 0; i < cells; ++i) {
      const int64_t here = left - i * P::kDepth;
      if (plan.a_row == 1 && count == kGemmTileRows) {
        P::template cells<kGemmTileRows>(x + i * depth, plan.a_col, here, block + i * kGemmTileRows);
        continue;
      }
      for (int64_t m = 0; m < count; ++m)
        block[i * kGemmTileRows + m] = P::cell(x + i * depth + m * plan.a_row, plan.a_col, here);
    }
  }
  const int64_t step = kGemmTileRows * static_cast<int64_t>(sizeof(Cell));
  return {reinterpret_cast<const char*>(to), sizeof(Cell), step, cells * step};
}

/// Maximum number of rows that are multiplied without packing b.
constexpr int kThinRows = 4;

/// Whether panel p of b is read in place: for an im2col matrix, or for a few rows, as with the values in
/// single-token attention.
template <class P>
inline bool reads_panel_in_place(const GemmPlan& plan, int64_t p, int64_t rows) {
  const int64_t first = panel_first<P>(plan, p), columns = panel_columns<P>(plan, p);
  if (sizeof(typename P::Memory) != sizeof(typename P::Cell) || columns % kCells<P> != 0) return false;
  if (plan.b_lines == nullptr) return rows <= kThinRows && plan.b_col == 1;
  const int64_t run = plan.b_lines->run;
  return plan.depth > 0 && is_coarse(*plan.b_lines) && first / run == (first + columns - 1) / run;
}

/// Like pack_rows_of_a, for an im2col matrix a: rows are copied to `to`, or, if cells are not elements,
/// behind it first.
template <class P>
CellRows pack_rows_in_lines(const GemmPlan& plan, int64_t row, int64_t rows, int64_t first, int64_t cells,
                            typename P::Cell* to) {
  using Memory = typename P::Memory;
  using Cell = typename P::Cell;
  const int64_t begin = first * P::kDepth, left = plan.depth - begin;
  const int64_t count = left < cells * P::kDepth ? left : cells * P::kDepth;
  if (sizeof(Memory) * P::kDepth == sizeof(Cell) && count == cells * P::kDepth) {
    read_lines(*plan.a_lines, row, rows, begin, count, reinterpret_cast<Memory*>(to));
    const int64_t bytes = cells * static_cast<int64_t>(sizeof(Cell));
    return {reinterpret_cast<const char*>(to), bytes, sizeof(Cell), kGemmTileRows * bytes};
  }
  GemmPlan dense = plan;
  dense.a_lines = nullptr;
  dense.a = to + rows * cells;
  dense.a_row = dense.depth = count;
  dense.a_col = 1;
  read_lines(*plan.a_lines, row, rows, begin, count, reinterpret_cast<Memory*>(to + rows * cells));
  return pack_rows_of_a<P>(dense, 0, rows, 0, cells, to);
}

template <class P>
CellRows rows_in_place(const GemmPlan& plan, int64_t row, int64_t first) {
  const auto* x = as<typename P::Memory>(plan.a) + row * plan.a_row + first * P::kDepth;
  const int64_t bytes = plan.a_row * static_cast<int64_t>(sizeof(typename P::Memory));
  return {reinterpret_cast<const char*>(x), bytes, sizeof(typename P::Cell), kGemmTileRows * bytes};
}

/// `cells` cells of `rows` rows of a, in place or packed into `working`; in-place im2col rows are set per
/// tile (cells_of_line).
template <class P>
CellRows rows_of(const GemmPlan& plan, int64_t row, int64_t rows, int64_t first, int64_t cells,
                 typename P::Cell* working) {
  if (reads_in_place<P>(plan))
    return plan.a_lines != nullptr ? CellRows{} : rows_in_place<P>(plan, row, first);
  if (plan.a_lines != nullptr) return pack_rows_in_lines<P>(plan, row, rows, first, cells, working);
  return pack_rows_of_a<P>(plan, row, rows, first, cells, working);
}

}  // namespace modewise::ops::MODEWISE_ISA
