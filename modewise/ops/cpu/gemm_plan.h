#pragma once
// Parameters of one GEMM, as plain structs for the loops.

#include <cstdint>

namespace modewise::ops {

/// Implicit im2col matrix, read in place: rows form lines, columns form contiguous runs. Element (r, c) is
/// at[line_at[r / line] + r % line · step + run_at[c / run] + c % run].
struct LinedMatrix {
  const void* at;
  int64_t line, step;  // rows per line; stride between them, in elements
  const int64_t* line_at;
  int64_t run;  // columns per run, contiguous
  const int64_t* run_at;
  /// Per line: bit r is set if run r, one of the first 64, is all zero padding. Such runs are skipped: a
  /// product with 0 does not change a sum of finite numbers. Null: unknown.
  const uint64_t* zero_runs;

  /// Offset of the runs of a row.
  int64_t row_at(int64_t row) const { return line_at[row / line] + row % line * step; }
  /// Offset of a column from there.
  int64_t column_at(int64_t column) const { return run_at[column / run] + column % run; }
};

/// out [M, N] = a [M, K] · b [K, N] + bias [N], each operand with strides in elements. The depth K is split
/// into pieces of kGemmPiece (the K block of a packed GEMM), and each piece into chains of kGemmChain. Within
/// a chain, products are added to 0 in ascending order of k (for bfloat16 dot-product instructions pair by
/// pair); the chains of a piece are added in order, then the pieces, the bias last. So an element depends
/// only on K, its row and its column, not on the tiles, tasks and other rows.
struct GemmPlan {
  int64_t rows, columns, depth;
  const void* a;
  int64_t a_row, a_col;
  const void* b;
  int64_t b_row, b_col;
  const void* bias;  // null: none
  void* out;
  int64_t out_row;   // columns are contiguous
  bool wide;         // out has the accumulate type instead of the dtype of a and b
  bool add = false;  // accumulates into out instead of adding the bias
  // If set, it replaces that operand and its strides are ignored.
  const LinedMatrix* a_lines = nullptr;
  const LinedMatrix* b_lines = nullptr;
  int64_t b_first = 0;  // row of b_lines that is the first row of b
};

/// A piece of a panel fits in the L1 cache; the rounding error of a sum grows with its longest chain.
constexpr int64_t kGemmPiece = 256, kGemmChain = 64;

/// GEMM loops for storage type T. b is packed into panels of `panel` columns.
template <class T>
struct GemmLoops {
  int64_t panel;
  /// Bytes of one packed panel of `depth` rows.
  int64_t (*panel_bytes)(int64_t depth);
  /// Packs panel p of the plan's b.
  void (*pack)(const GemmPlan&, int64_t p, void* to);
  /// Scratch bytes of `multiply` for `rows` rows and `panels` panels.
  int64_t (*scratch)(const GemmPlan&, int64_t rows, int64_t panels);
  /// Computes rows [row, row_end) of panels [p, p_end). `packed` is panel p, followed by the others; null:
  /// panels are packed here, piece by piece.
  void (*multiply)(const GemmPlan&, int64_t row, int64_t row_end, int64_t p, int64_t p_end,
                   const void* packed, void* scratch);
};

}  // namespace modewise::ops
