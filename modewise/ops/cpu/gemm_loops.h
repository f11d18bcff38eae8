#pragma once
// Products of matrices of any size: register tiles of 8 × 48 float32 elements (AVX-512) over panels of b that
// are packed so that a step of the depth is one dense row. The operand a is read where it lies if its
// elements are those of the arithmetic, else packed too. A `Cell` is what one step multiplies: an element, or
// for instructions that multiply pairs of bfloat16, two elements that follow each other in depth.

#include "modewise/ops/cpu/gemm_plan.h"
#include "modewise/ops/cpu/vector.h"

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

// Lanes of one square block turned over its diagonal: pairs of rows `Half` apart exchange lanes.
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
    v[i] = __builtin_shuffle(a, b, low);
    v[i + Half] = __builtin_shuffle(a, b, high);
  }
  if constexpr (Half > 1) exchange<Cell, Half / 2>(v);
}
template <class Cell>
inline void transpose(Vector<Cell>* v) {
  exchange<Cell, kLanes<Cell> / 2>(v);
}

/// Whether a cell is one bfloat16, widened to float32. Blocks of these are turned as pairs and widened then:
/// half the loads and shuffles.
template <class P>
constexpr bool kWidened = sizeof(typename P::Memory) * P::kDepth < sizeof(typename P::Cell);
/// Cells of one column in a block that is turned at once.
template <class P>
constexpr int kTurned = (kWidened<P> ? 2 : 1) * kCells<P>;

/// A vector of each of the columns from x on, turned. With column j, ask(j) asks for lines that are read
/// later: the columns are streams, too many for the hardware to run ahead of.
template <class Word, class Memory, class Ask>
inline void load_turned_words(const Memory* x, int64_t stride, const Ask& ask, Vector<Word>* words) {
#pragma GCC unroll 16
  for (int j = 0; j < kLanes<Word>; ++j, x += stride) {
    __builtin_memcpy(&words[j], x, sizeof words[j]);
    ask(j);
  }
  transpose<Word>(words);
}

/// Block of kCells<P> columns that are dense in depth, kTurned<P> cells from i on, turned: v[k] holds cell i
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

/// Cells [first, last) of panel p to rows of whole vectors; columns beyond b's are 0.
template <class P>
void pack_cells(const GemmPlan& plan, int64_t p, int64_t first, int64_t last, typename P::Cell* to) {
  using Memory = typename P::Memory;
  using Cell = typename P::Cell;
  const int64_t columns = panel_columns<P>(plan, p), width = panel_vectors<P>(plan, p) * kCells<P>;
  const int64_t row = plan.b_row * P::kDepth, left = plan.depth - first * P::kDepth;
  const Memory* from = as<Memory>(plan.b) + first * row + p * kPanel<P> * plan.b_col;
  const int64_t count = last - first;
  int64_t begin = 0;  // columns that are done in whole blocks
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

/// As pack_cells, of a b that its source writes.
template <class P>
void write_cells(const GemmPlan& plan, int64_t p, int64_t first, int64_t last, typename P::Cell* to) {
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
    plan.b_source->write(plan.b_source->from, plan.b_first + row, rows, p * kPanel<P>, columns, written);
    if (as_written) continue;
    GemmPlan here = plan;
    here.b = part;
    here.b_row = here.columns = columns;
    here.b_col = 1;
    here.depth = rows;
    pack_cells<P>(here, 0, 0, cells, to);
  }
}

/// Cells [first, last) of panel p, where it does not lie so already.
template <class P>
void panel_cells(const GemmPlan& plan, int64_t p, int64_t first, int64_t last, typename P::Cell* to) {
  if (plan.b_source != nullptr)
    write_cells<P>(plan, p, first, last, to);
  else
    pack_cells<P>(plan, p, first, last, to);
}

/// Whether the tiles read a where it lies.
template <class P>
inline bool reads_in_place(const GemmPlan& plan) {
  if (sizeof(typename P::Memory) * P::kDepth != sizeof(typename P::Cell)) return false;
  return plan.a_col == 1 && plan.depth % P::kDepth == 0;
}

/// `cells` cells of `rows` rows of a. Dense depth keeps its rows; else tiles of kGemmTileRows rows are packed
/// one after another, [cells][rows of a tile].
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

/// Whether a few rows read panel p of b where it lies: values in the attention of one token.
template <class P>
inline bool reads_panel_in_place(const GemmPlan& plan, int64_t p, int64_t rows) {
  if (sizeof(typename P::Memory) != sizeof(typename P::Cell)) return false;
  if (plan.b_source != nullptr || rows > kThinRows) return false;
  return plan.b_col == 1 && panel_columns<P>(plan, p) % kCells<P> == 0;
}

/// As pack_rows_of_a, of rows that the plan's source writes: to `to`, or, where cells are no elements, behind
/// that first.
template <class P>
CellRows write_rows_of_a(const GemmPlan& plan, int64_t row, int64_t rows, int64_t first, int64_t cells,
                         typename P::Cell* to) {
  using Memory = typename P::Memory;
  using Cell = typename P::Cell;
  const int64_t begin = first * P::kDepth, left = plan.depth - begin;
  const int64_t count = left < cells * P::kDepth ? left : cells * P::kDepth;
  if (sizeof(Memory) * P::kDepth == sizeof(Cell) && count == cells * P::kDepth) {
    plan.a_source->write(plan.a_source->from, row, rows, begin, count, to);
    const int64_t bytes = cells * static_cast<int64_t>(sizeof(Cell));
    return {reinterpret_cast<const char*>(to), bytes, sizeof(Cell), kGemmTileRows * bytes};
  }
  GemmPlan written = plan;
  written.a = to + rows * cells;
  written.a_row = written.depth = count;
  written.a_col = 1;
  plan.a_source->write(plan.a_source->from, row, rows, begin, count, to + rows * cells);
  return pack_rows_of_a<P>(written, 0, rows, 0, cells, to);
}

template <class P>
CellRows rows_in_place(const GemmPlan& plan, int64_t row, int64_t first) {
  const auto* x = as<typename P::Memory>(plan.a) + row * plan.a_row + first * P::kDepth;
  const int64_t bytes = plan.a_row * static_cast<int64_t>(sizeof(typename P::Memory));
  return {reinterpret_cast<const char*>(x), bytes, sizeof(typename P::Cell), kGemmTileRows * bytes};
}

/// `cells` cells of `rows` rows of a, where they lie or in `working`.
template <class P>
CellRows rows_of(const GemmPlan& plan, int64_t row, int64_t rows, int64_t first, int64_t cells,
                 typename P::Cell* working) {
  if (plan.a_source != nullptr) return write_rows_of_a<P>(plan, row, rows, first, cells, working);
  if (reads_in_place<P>(plan)) return rows_in_place<P>(plan, row, first);
  return pack_rows_of_a<P>(plan, row, rows, first, cells, working);
}

/// out [columns] = sums + bias, rounded to Out; or, without a bias, added to what out holds.
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

/// A few rows times a matrix that is dense in depth, as a weight is in generation.
template <class P>
inline bool is_thin(const GemmPlan& plan, int64_t rows) {
  if (plan.a_source != nullptr || plan.b_source != nullptr) return false;
  return plan.b_row == 1 && rows <= kThinRows && plan.depth > 0;
}

/// What a thin product reads next, in the order of memory: the same depth of all columns would be as many
/// streams, which memory is slow at. It is a part of each column's depth, so that a second-level cache holds
/// those of all columns until they are multiplied.
template <class Memory>
class NextRead {
 public:
  /// Columns of b that are read at once, then those that begin `next` elements further on.
  NextRead(const Memory* b, int64_t stride, int64_t depth, int64_t next)
      : b_(b), stride_(stride), depth_(depth), next_(next) {
    constexpr int64_t kPart = 4096 / sizeof(Memory), kGrain = kPart / 4;
    const int64_t parts = (depth + kPart - 1) / kPart;
    part_ = parts == 1 ? depth : (depth + parts * kGrain - 1) / (parts * kGrain) * kGrain;
    apart_ = stride != depth && depth < kGrain;
  }

  struct Vectors {
    const char* first;
    int64_t step;  // in bytes
  };
  /// `count` vectors to ask for while as many are read, those at `depth` of the columns from `column` on. Of
  /// short columns that lie apart they are those of the next ones at the same depth.
  Vectors take(int64_t depth, int64_t column, int64_t count) {
    if (apart_)
      return {reinterpret_cast<const char*>(b_ + next_ + column * stride_ + depth),
              stride_ * static_cast<int64_t>(sizeof(Memory))};
    if (depth >= begin_) {
      begin_ += part_;
      at_ = b_ + (begin_ < depth_ ? begin_ : next_);
      end_ = at_ + part_;
    }
    const auto* first = reinterpret_cast<const char*>(at_);
    at_ += count * (kVectorBytes / static_cast<int64_t>(sizeof(Memory)));
    if (at_ >= end_) {
      at_ += stride_ - part_;
      end_ += stride_;
    }
    return {first, kVectorBytes};
  }

 private:
  const Memory *b_, *at_ = nullptr, *end_ = nullptr;
  int64_t stride_, depth_, next_, part_, begin_ = 0;  // of the part that is asked for
  bool apart_;
};

/// sums [Rows, Blocks · kCells] = a · columns [column, column + count) of b, count at most Blocks · kCells.
/// The sums of one block wait for each other; two blocks keep the multipliers busy.
template <class P, int Rows, int Blocks>
void thin_blocks(const GemmPlan& plan, CellRows a, int64_t column, int64_t count, typename P::Sum* sums) {
  using Sum = typename P::Sum;
  using Cell = typename P::Cell;
  using Memory = typename P::Memory;
  const Memory* b = as<Memory>(plan.b) + column * plan.b_col;
  const int64_t all = cells_of<P>(plan.depth), block_step = kCells<P> * plan.b_col;
  const int64_t whole = count == Blocks * kCells<P> ? plan.depth / P::kDepth : 0;
  NextRead<Memory> next(b, plan.b_col, plan.depth, column + count < plan.columns ? Blocks * block_step : 0);
  Vector<Sum> total[Rows][Blocks] = {}, piece[Rows][Blocks] = {}, sum[Rows][Blocks] = {};
  const auto add = [&](int64_t cell, int block, Vector<Cell> columns) {
#pragma GCC unroll 4
    for (int m = 0; m < Rows; ++m)
      sum[m][block] =
          P::add_product(sum[m][block], load_cell<Cell>(a.at + m * a.row + cell * a.step), columns);
  };
  for (int64_t i = 0; i < all;) {
    const int64_t cells = all - i < kTurned<P> ? all - i : kTurned<P>;
    if (i + kTurned<P> <= whole) {
#pragma GCC unroll 2
      for (int block = 0; block < Blocks; ++block) {
        Vector<Cell> turned[kTurned<P>];
        const auto asked = next.take(i * P::kDepth, block * kCells<P>, kCells<P>);
        const auto ask = [&](int j) { __builtin_prefetch(asked.first + j * asked.step, 0, 2); };
        load_turned<P>(b + block * block_step, plan.b_col, i, ask, turned);
#pragma GCC unroll 32
        for (int k = 0; k < kTurned<P>; ++k) add(i + k, block, turned[k]);
      }
    } else {
      for (int64_t k = 0; k < cells; ++k) {
        const int64_t left = plan.depth - (i + k) * P::kDepth;
        for (int block = 0; block < Blocks; ++block) {
          Vector<Cell> columns = {};
          for (int j = 0; j < kCells<P> && block * kCells<P> + j < count; ++j)
            columns[j] = P::cell(b + block * block_step + j * plan.b_col + (i + k) * P::kDepth, 1, left);
          add(i + k, block, columns);
        }
      }
    }
    i += cells;
    if (i % kChainCells<P> != 0 && i < all) continue;
    const bool first_chain = (i - 1) % kPieceCells<P> < kChainCells<P>;
    const bool ends_piece = i % kPieceCells<P> == 0 || i == all;
    for (int m = 0; m < Rows; ++m)
      for (int block = 0; block < Blocks; ++block) {
        piece[m][block] = first_chain ? sum[m][block] : piece[m][block] + sum[m][block];
        sum[m][block] = Vector<Sum>{};
        if (ends_piece)
          total[m][block] = i <= kPieceCells<P> ? piece[m][block] : total[m][block] + piece[m][block];
      }
  }
  for (int m = 0; m < Rows; ++m)
    for (int block = 0; block < Blocks; ++block)
      store(sums + (m * Blocks + block) * kCells<P>, total[m][block]);
}

constexpr int kThinBlocks = 2;
template <class P>
using ThinBlocks = void (*)(const GemmPlan&, CellRows, int64_t, int64_t, typename P::Sum*);
template <class P, int Blocks>
constexpr ThinBlocks<P> kThinBlocksOfRows[kThinRows] = {thin_blocks<P, 1, Blocks>, thin_blocks<P, 2, Blocks>,
                                                        thin_blocks<P, 3, Blocks>, thin_blocks<P, 4, Blocks>};

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

  // Scratch: sums of all tiles, one slice of a panel, and rows of a where they are packed.
  static int64_t sums_size(const GemmPlan& plan, int64_t rows, int64_t panels) {
    return (plan.depth > kGemmPiece ? rows * panels : kGemmTileRows) * kPanel<P>;
  }
  static int64_t slice_size() { return kPieceCells<P> * kPanel<P>; }
  static int64_t scratch(const GemmPlan& plan, int64_t rows, int64_t panels) {
    const int64_t tiled = (rows + kGemmTileRows - 1) / kGemmTileRows * kGemmTileRows;
    const int64_t cells = is_thin<P>(plan, rows) ? cells_of<P>(plan.depth) : kPieceCells<P>;
    const int64_t packed = plan.a_source != nullptr  ? 2 * tiled * cells
                           : reads_in_place<P>(plan) ? 0
                                                     : tiled * cells;
    return (sums_size(plan, rows, panels) + slice_size() + packed) * static_cast<int64_t>(sizeof(Cell));
  }

  /// Sums of rows [row, row + rows) and columns [column, column + columns) to where they belong.
  static void finish(const GemmPlan& plan, const Sum* sums, int64_t sums_row, int64_t row, int64_t rows,
                     int64_t column, int64_t columns) {
    const Memory* bias = plan.bias == nullptr ? nullptr : as<Memory>(plan.bias) + column;
    const int64_t at = row * plan.out_row + column;
    if (plan.wide)
      finish_tile(sums, sums_row, bias, plan.add, rows, columns, as<Sum>(plan.out) + at, plan.out_row);
    else
      finish_tile(sums, sums_row, bias, plan.add, rows, columns, as<Memory>(plan.out) + at, plan.out_row);
  }

  /// Asks for the lines of a tile of out, so that they are there when its sums are.
  static void ask_for_out(const GemmPlan& plan, int64_t row, int64_t rows, int64_t column, int64_t columns) {
    const auto size = static_cast<int64_t>(plan.wide ? sizeof(Sum) : sizeof(Memory));
    const char* line = as<char>(plan.out) + (row * plan.out_row + column) * size;
    for (int64_t m = 0; m < rows; ++m, line += plan.out_row * size)
      for (int64_t at = 0; at < columns * size; at += 64) __builtin_prefetch(line + at, 1);
  }

  /// One piece of depth for one panel: every tile of rows [row, row_end).
  static void multiply_slice(const GemmPlan& plan, CellRows a, Panel<Cell> slice, int64_t cells, int64_t row,
                             int64_t row_end, int64_t p, Sum* sums, bool first, bool last) {
    const int64_t vectors = panel_vectors<P>(plan, p);
    const bool packed = slice.step == vectors * kCells<P>;
    for (int64_t at = row; at < row_end; at += kGemmTileRows, a.at += a.tile) {
      const int64_t rows = row_end - at < kGemmTileRows ? row_end - at : kGemmTileRows;
      Sum* tile = first && last ? sums : sums + (at - row) * kPanel<P>;
      if (last) ask_for_out(plan, at, rows, p * kPanel<P>, panel_columns<P>(plan, p));
      const auto tile_of = packed ? gemm_tile_of<P> : thin_tile_of<P>;
      tile_of(rows, vectors)(a, slice, cells, tile, kPanel<P>, !first);
      if (last) finish(plan, tile, kPanel<P>, at, rows, p * kPanel<P>, panel_columns<P>(plan, p));
    }
  }

  static void multiply_thin(const GemmPlan& plan, int64_t row, int64_t row_end, int64_t p, int64_t p_end,
                            Sum* sums, Cell* rows_of_a) {
    const int64_t rows = row_end - row, all = cells_of<P>(plan.depth);
    const CellRows a = rows_of<P>(plan, row, rows, 0, all, rows_of_a);
    const int64_t end = (p_end - 1) * kPanel<P> + panel_columns<P>(plan, p_end - 1);
    for (int64_t column = p * kPanel<P>; column < end;) {
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
    // One tile after another where depth is one piece: its sums are finished at once.
    const int64_t kept = all > kPieceCells<P> ? (row_end - row) * kPanel<P> : 0;
    int64_t begin = 0;
    do {
      const int64_t end = begin + kPieceCells<P> < all ? begin + kPieceCells<P> : all, cells = end - begin;
      const CellRows a = rows_of<P>(plan, row, row_end - row, begin, cells, rows_of_a);
      for (int64_t q = p; q < p_end; ++q) {
        const int64_t step = panel_vectors<P>(plan, q) * kCells<P>;
        Panel<Cell> from = {slice, step};
        if (packed != nullptr)
          from.at = as<Cell>(packed) + (q - p) * all * kPanel<P> + begin * step;
        else if (reads_panel_in_place<P>(plan, q, row_end - row))
          from = {as<Cell>(plan.b) + begin * plan.b_row + q * kPanel<P>, plan.b_row};
        else
          panel_cells<P>(plan, q, begin, end, slice);
        multiply_slice(plan, a, from, cells, row, row_end, q, sums + (q - p) * kept, begin == 0, end == all);
      }
      begin = end;
    } while (begin < all);
  }

  static constexpr GemmLoops<Memory> loops = {kPanel<P>, panel_bytes, pack, scratch, multiply};
};

}  // namespace modewise::ops::MODEWISE_ISA
