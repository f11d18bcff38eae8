#pragma once
// bfloat16 GEMM by AMX tiles of 16 × 16 sums: each piece of depth is one chain of steps of 32 products,
// zero-padded, summed as gemm_amx_unit.h defines; pieces are added in order, then the bias. Panels hold
// packed bfloat16 pairs.

#include "modewise/ops/cpu/loops/gemm_amx_unit.h"
#include "modewise/ops/cpu/loops/gemm_loops.h"
#include "modewise/ops/cpu/loops/gemm_pairs.h"

namespace modewise::ops::MODEWISE_ISA {

constexpr int64_t kAmxStep = kAmxRowBytes / sizeof(Half16);  // of depth
constexpr int64_t kAmxStepCells = kAmxStep / 2;

inline int64_t padded(int64_t count, int64_t by) {
  return (count + by - 1) / by * by;
}

/// Rows of a, contiguous in depth and readable up to whole steps and whole tiles of rows.
struct AmxRows {
  const Half16* at;
  int64_t row;  // row stride in elements
};

/// Rows [row, row_end) of `count` elements from `begin` on, read in place or packed into `working` [rows,
/// kGemmPiece] with whole tiles and steps. Values beyond the last row are never used; values beyond the depth
/// are 0.
class AmxRowsOf {
 public:
  AmxRowsOf(const GemmPlan& plan, int64_t row, int64_t row_end, Half16* working)
      : plan_(plan), row_(row), rows_(row_end - row), working_(working) {}

  /// Elements of `working` for `rows` rows; im2col rows are first read behind the packed ones.
  static int64_t size(const GemmPlan& plan, int64_t rows) {
    const int64_t whole = padded(rows, kAmxRows) * kGemmPiece;
    return plan.a_lines != nullptr ? 2 * whole : whole;
  }

  AmxRows piece(int64_t begin, int64_t count) const {
    if (plan_.a_lines != nullptr) return of_lines(begin, count);
    const Half16* from = as<Half16>(plan_.a) + row_ * plan_.a_row + begin * plan_.a_col;
    if (plan_.a_col != 1) return rotated(from, count);
    if (rows_ % kAmxRows == 0 && count % kAmxStep == 0) return {from, plan_.a_row};
    return copied(from, plan_.a_row, count);
  }

 private:
  AmxRows of_lines(int64_t begin, int64_t count) const {
    const bool whole = count % kAmxStep == 0;
    Half16* to = whole ? working_ : working_ + padded(rows_, kAmxRows) * kGemmPiece;
    read_lines(*plan_.a_lines, row_, rows_, begin, count, to);
    return whole ? AmxRows{to, count} : copied(to, count, count);
  }
  AmxRows copied(const Half16* from, int64_t from_row, int64_t count) const {
    const int64_t end = padded(count, kAmxStep);
    for (int64_t m = 0; m < rows_; ++m) {
      Half16* to = working_ + m * kGemmPiece;
      __builtin_memcpy(to, from + m * from_row, static_cast<size_t>(count) * sizeof(Half16));
      __builtin_memset(to + count, 0, static_cast<size_t>(end - count) * sizeof(Half16));
    }
    return {working_, kGemmPiece};
  }
  /// Transposes one tile at a time: reads pairs of all rows cell by cell.
  AmxRows rotated(const Half16* from, int64_t count) const {
    for (int64_t m = 0; m < rows_; m += kAmxRows) {
      const int64_t rows = rows_ - m < kAmxRows ? rows_ - m : kAmxRows;
      for (int64_t k = 0; k < count; k += kAmxStep) {
        const Half16* x = from + m * plan_.a_row + k * plan_.a_col;
        Vector<uint32_t> cells[kAmxRows] = {};
        for (int64_t i = 0; i < kAmxStepCells && k + 2 * i < count; ++i, x += 2 * plan_.a_col)
          cells[i] = pairs(x, rows, count - k - 2 * i);
        transpose_lanes<uint32_t>(cells);
        for (int64_t j = 0; j < kAmxRows; ++j)
          __builtin_memcpy(working_ + (m + j) * kGemmPiece + k, &cells[j], sizeof cells[j]);
      }
    }
    return {working_, kGemmPiece};
  }
  /// Pairs of consecutive depth elements from x on, for `rows` rows.
  Vector<uint32_t> pairs(const Half16* x, int64_t rows, int64_t left) const {
    Vector<uint32_t> cell = {};
    if (plan_.a_row == 1 && rows == kAmxRows) {
      cell = __builtin_bit_cast(Vector<uint32_t>, load_wide(x)) >> 16;
      if (left > 1) cell |= __builtin_bit_cast(Vector<uint32_t>, load_wide(x + plan_.a_col));
      return cell;
    }
    for (int64_t j = 0; j < rows; ++j) cell[j] = Pairs::cell(x + j * plan_.a_row, plan_.a_col, left);
    return cell;
  }

  const GemmPlan& plan_;
  int64_t row_, rows_;
  Half16* working_;
};

/// Micro-kernel: sums [16 · RowTiles, 16 · Vectors] of one piece in tiles 0 to 5; tile 6 holds a, 7 holds b.
/// Columns alternate direction, so that the tile of b at the turn is loaded once.
template <class Unit, int RowTiles, int Vectors>
class AmxTile {
 public:
  static void run(Unit& unit, AmxRows a, const uint32_t* panel, int64_t steps, float* sums,
                  int64_t sums_row) {
    constexpr int64_t kPanelRow = Vectors * kAmxRowBytes;
    zero<0>(unit);
    for (int64_t i = 0; i < steps; ++i, a.at += kAmxStep, panel += kAmxStepCells * Vectors * kCells<Pairs>) {
      unit.template load<kA>(a.at, a.row * 2);
      to<0>(unit, panel, kPanelRow);
      if constexpr (RowTiles == 2) {
        unit.template load<kA>(a.at + kAmxRows * a.row, a.row * 2);
        fro<Vectors - 1>(unit, panel, kPanelRow);
      }
    }
    store<0>(unit, sums, sums_row);
  }

 private:
  static constexpr int kA = 6, kB = 7;

  template <int Tile>
  static void zero(Unit& unit) {
    unit.template zero<Tile>();
    if constexpr (Tile + 1 < RowTiles * Vectors) zero<Tile + 1>(unit);
  }
  template <int J>
  static void to(Unit& unit, const uint32_t* panel, int64_t row) {
    unit.template load<kB>(panel + J * kCells<Pairs>, row);
    unit.template multiply_add<J, kA, kB>();
    if constexpr (J + 1 < Vectors) to<J + 1>(unit, panel, row);
  }
  template <int J>
  static void fro(Unit& unit, const uint32_t* panel, int64_t row) {
    if constexpr (J + 1 < Vectors) unit.template load<kB>(panel + J * kCells<Pairs>, row);
    unit.template multiply_add<Vectors + J, kA, kB>();
    if constexpr (J > 0) fro<J - 1>(unit, panel, row);
  }
  template <int Tile>
  static void store(Unit& unit, float* sums, int64_t sums_row) {
    unit.template store<Tile>(sums + Tile / Vectors * kAmxRows * sums_row + Tile % Vectors * kCells<Pairs>,
                              sums_row * 4);
    if constexpr (Tile + 1 < RowTiles * Vectors) store<Tile + 1>(unit, sums, sums_row);
  }
};

template <class Unit>
using AmxTileRun = void (*)(Unit&, AmxRows, const uint32_t*, int64_t, float*, int64_t);
template <class Unit, int RowTiles>
constexpr AmxTileRun<Unit> kAmxTilesOfRows[kGemmTileVectors] = {
    AmxTile<Unit, RowTiles, 1>::run, AmxTile<Unit, RowTiles, 2>::run, AmxTile<Unit, RowTiles, 3>::run};

/// Thin product: a few rows times a matrix that is contiguous in depth. The columns of b act as rows of the
/// first tile without packing, and the rows of a as panel. Sums have the same order as in the general case.
template <class Unit>
class AmxThin {
 public:
  static constexpr int kBlocks = kGemmTileVectors;
  /// Number of cells of the packed rows.
  static int64_t size(int64_t depth) { return padded(cells_of<Pairs>(depth), kAmxStepCells) * kAmxRows; }

  AmxThin(const GemmPlan& plan, int64_t row, int64_t rows, uint32_t* packed)
      : plan_(plan), rows_(rows), packed_(packed) {
    __builtin_memset(packed, 0, static_cast<size_t>(size(plan.depth)) * sizeof(uint32_t));
    const Half16* a = as<Half16>(plan.a) + row * plan.a_row;
    for (int64_t m = 0; m < rows; ++m)
      for (int64_t k = 0; k < plan.depth; k += 2)
        packed[k / 2 * kAmxRows + m] =
            Pairs::cell(a + m * plan.a_row + k * plan.a_col, plan.a_col, plan.depth - k);
  }

  /// Computes sums [rows, kBlocks · 16] of `count` ≤ kBlocks · 16 columns.
  void run(Unit& unit, int64_t column, int64_t count, float* sums) {
    const Half16* b = as<Half16>(plan_.b) + column * plan_.b_col;
    NextRead<Half16> next(b, plan_.b_col, plan_.depth,
                          column + count < plan_.columns ? kBlocks * kAmxRows * plan_.b_col : 0);
    Vector<float> total[kBlocks * kAmxRows] = {};
    for (int64_t begin = 0; begin < plan_.depth; begin += kGemmPiece) {
      const int64_t left = plan_.depth - begin, end = begin + (left < kGemmPiece ? left : kGemmPiece);
      zero<0>(unit);
      for (int64_t k = begin; k < end; k += kAmxStep) {
        unit.template load<kB>(packed_ + k / 2 * kAmxRows, kAmxRowBytes);
        step<0>(unit, b, k, count, next);
      }
      Vector<float> piece[kBlocks * kAmxRows];
      store<0>(unit, reinterpret_cast<float*>(piece));
      for (int64_t c = 0; c < count; ++c) total[c] = begin == 0 ? piece[c] : total[c] + piece[c];
    }
    for (int64_t block = 0; block < kBlocks; ++block) {
      transpose_lanes<float>(total + block * kAmxRows);
      for (int64_t m = 0; m < rows_; ++m)
        store_lanes(sums + (m * kBlocks + block) * kAmxRows, total[block * kAmxRows + m]);
    }
  }

 private:
  static constexpr int kA = 6, kB = 7;

  static void store_lanes(float* to, Vector<float> v) { __builtin_memcpy(to, &v, sizeof v); }

  template <int Block>
  static void zero(Unit& unit) {
    unit.template zero<Block>();
    if constexpr (Block + 1 < kBlocks) zero<Block + 1>(unit);
  }
  template <int Block>
  static void store(Unit& unit, float* piece) {
    unit.template store<Block>(piece + Block * kAmxRows * kAmxRows, kAmxRowBytes);
    if constexpr (Block + 1 < kBlocks) store<Block + 1>(unit, piece);
  }
  template <int Block>
  void step(Unit& unit, const Half16* b, int64_t k, int64_t count, NextRead<Half16>& next) {
    const int64_t columns = count - Block * kAmxRows;
    if (columns > 0) {
      const Half16* from = b + Block * kAmxRows * plan_.b_col + k;
      if (columns >= kAmxRows && k + kAmxStep <= plan_.depth) {
        const auto ahead = next.take(k, Block * kAmxRows, kAmxRows);
        for (int j = 0; j < kAmxRows; ++j) __builtin_prefetch(ahead.first + j * ahead.step, 0, 2);
        unit.template load<kA>(from, plan_.b_col * 2);
      } else {
        const int64_t left = plan_.depth - k < kAmxStep ? plan_.depth - k : kAmxStep;
        alignas(64) Half16 edge[kAmxRows][kAmxStep] = {};
        for (int64_t j = 0; j < kAmxRows && j < columns; ++j)
          __builtin_memcpy(edge[j], from + j * plan_.b_col, static_cast<size_t>(left) * sizeof(Half16));
        unit.template load<kA>(edge, kAmxRowBytes);
      }
      unit.template multiply_add<Block, kA, kB>();
    }
    if constexpr (Block + 1 < kBlocks) step<Block + 1>(unit, b, k, count, next);
  }

  const GemmPlan& plan_;
  int64_t rows_;
  uint32_t* packed_;
};

template <class Unit>
struct AmxGemm {
  using P = Pairs;
  using Base = Gemm<P>;
  static constexpr int64_t kTileRows = 2 * kAmxRows;

  static int64_t cells_with_padding(int64_t depth) { return padded(cells_of<P>(depth), kAmxStepCells); }
  static int64_t panel_bytes(int64_t depth) { return cells_with_padding(depth) * kPanel<P> * 4; }

  /// Packs cells [first, last) of panel p, zero-padded to whole steps.
  static void pack_padded(const GemmPlan& plan, int64_t p, int64_t first, int64_t last, uint32_t* to) {
    const int64_t width = panel_vectors<P>(plan, p) * kCells<P>, cells = last - first;
    panel_cells<P>(plan, p, first, last, to);
    const int64_t more = padded(cells, kAmxStepCells) - cells;
    __builtin_memset(to + cells * width, 0, static_cast<size_t>(more * width) * sizeof(uint32_t));
  }
  static void pack(const GemmPlan& plan, int64_t p, void* to) {
    pack_padded(plan, p, 0, cells_of<P>(plan.depth), as<uint32_t>(to));
  }

  // Scratch: sums of all tiles, sums of one piece of a tile, a panel slice, packed rows of a.
  static int64_t sums_size(const GemmPlan& plan, int64_t rows, int64_t panels) {
    return (plan.depth > kGemmPiece ? padded(rows, kTileRows) * panels : kTileRows) * kPanel<P>;
  }
  static int64_t scratch(const GemmPlan& plan, int64_t rows, int64_t panels) {
    const int64_t rows_of_a =
        is_thin<P>(plan, rows) ? AmxThin<Unit>::size(plan.depth) : (AmxRowsOf::size(plan, rows) + 1) / 2;
    return (sums_size(plan, rows, panels) + kTileRows * kPanel<P> + kPieceCells<P> * kPanel<P> + rows_of_a) *
           4;
  }

  /// Multiplies one piece of depth of one panel with every tile of rows [row, row_end).
  static void multiply_slice(Unit& unit, const GemmPlan& plan, AmxRows a, const uint32_t* slice,
                             int64_t steps, int64_t row, int64_t row_end, int64_t p, float* sums,
                             float* piece, bool first, bool last) {
    const int64_t vectors = panel_vectors<P>(plan, p), columns = panel_columns<P>(plan, p);
    const int64_t column = panel_first<P>(plan, p);
    for (int64_t at = row; at < row_end; at += kTileRows, a.at += kTileRows * a.row) {
      const int64_t rows = row_end - at < kTileRows ? row_end - at : kTileRows;
      float* tile = first && last ? sums : sums + (at - row) * kPanel<P>;
      OutRows out = Base::out_rows(plan, at, last ? rows : 0, column, columns);
      while (out.rows > 0) out.ask();
      const auto run = (rows > kAmxRows ? kAmxTilesOfRows<Unit, 2> : kAmxTilesOfRows<Unit, 1>)[vectors - 1];
      run(unit, a, slice, steps, first ? tile : piece, kPanel<P>);
      if (!first) add_rows(piece, rows, vectors, tile);
      if (last) Base::finish(plan, tile, kPanel<P>, at, rows, column, columns);
    }
  }
  static void add_rows(const float* piece, int64_t rows, int64_t vectors, float* sums) {
    for (int64_t m = 0; m < rows; ++m)
      for (int64_t j = 0; j < vectors; ++j) {
        const int64_t at = m * kPanel<P> + j * kCells<P>;
        store(sums + at, load(sums + at) + load(piece + at));
      }
  }

  static void multiply_thin(const GemmPlan& plan, int64_t row, int64_t row_end, int64_t p, int64_t p_end,
                            float* sums, uint32_t* packed) {
    Unit unit;
    AmxThin<Unit> thin(plan, row, row_end - row, packed);
    for (; p < p_end; ++p) {
      const int64_t column = panel_first<P>(plan, p), columns = panel_columns<P>(plan, p);
      thin.run(unit, column, columns, sums);
      Base::finish(plan, sums, kPanel<P>, row, row_end - row, column, columns);
    }
  }

  static void multiply(const GemmPlan& plan, int64_t row, int64_t row_end, int64_t p, int64_t p_end,
                       const void* packed, void* scratch) {
    float* sums = as<float>(scratch);
    float* piece = sums + sums_size(plan, row_end - row, p_end - p);
    auto* slice = reinterpret_cast<uint32_t*>(piece + kTileRows * kPanel<P>);
    uint32_t* working = slice + kPieceCells<P> * kPanel<P>;
    if (packed == nullptr && is_thin<P>(plan, row_end - row))
      return multiply_thin(plan, row, row_end, p, p_end, sums, working);
    Unit unit;
    const AmxRowsOf rows(plan, row, row_end, reinterpret_cast<Half16*>(working));
    const int64_t all = cells_of<P>(plan.depth), whole = cells_with_padding(plan.depth);
    const int64_t kept = all > kPieceCells<P> ? padded(row_end - row, kTileRows) * kPanel<P> : 0;
    int64_t begin = 0;
    do {
      const int64_t end = begin + kPieceCells<P> < all ? begin + kPieceCells<P> : all;
      const int64_t first = begin * P::kDepth, left = plan.depth - first;
      const AmxRows a = rows.piece(first, left < kGemmPiece ? left : kGemmPiece);
      const int64_t steps = padded(end - begin, kAmxStepCells) / kAmxStepCells;
      for (int64_t q = p; q < p_end; ++q) {
        const uint32_t* from = slice;
        if (packed != nullptr)
          from = as<uint32_t>(packed) + (q - p) * whole * kPanel<P> +
                 begin * panel_vectors<P>(plan, q) * kCells<P>;
        else
          pack_padded(plan, q, begin, end, slice);
        multiply_slice(unit, plan, a, from, steps, row, row_end, q, sums + (q - p) * kept, piece, begin == 0,
                       end == all);
      }
      begin = end;
    } while (begin < all);
  }

  static constexpr GemmLoops<Half16> loops = {kPanel<P>, panel_bytes, pack, scratch, multiply};
};

}  // namespace modewise::ops::MODEWISE_ISA
