#pragma once
// What one product of matrices is, as the loops see it.

#include <cstdint>

namespace modewise::ops {

/// A matrix whose rows lie in lines and whose columns in runs, as what the taps of a kernel see: element
/// (r, c) is at[line_at[r / line] + r % line · step + run_at[c / run] + c % run].
struct LinedMatrix {
  const void* at;
  int64_t line, step;  // rows of a line; from one of them to the next, in elements
  const int64_t* line_at;
  int64_t run;  // columns of a run, dense
  const int64_t* run_at;
  /// Of each line: bit r is set where run r, one of the first 64, holds nothing but zeros. They need not be
  /// multiplied: a product with 0 changes no sum of finite numbers. Null: none is known.
  const uint64_t* zero_runs;

  /// Where the runs of a row begin.
  int64_t row_at(int64_t row) const { return line_at[row / line] + row % line * step; }
  /// Where a column lies from there.
  int64_t column_at(int64_t column) const { return run_at[column / run] + column % run; }
};

/// out [M, N] = a [M, K] · b [K, N] + bias [N], each operand by its strides, in elements. Depth is cut into
/// pieces of kGemmPiece, and each of these into chains of kGemmChain: within a chain, the products are added
/// to 0 in ascending order of k (in bfloat16, where the machine multiplies pairs, pair by pair); the chains
/// of a piece are added in order, then the pieces, the bias last. So an element depends on K and its own row
/// and column alone, whatever the tiles, the tasks and the other rows are.
struct GemmPlan {
  int64_t rows, columns, depth;
  const void* a;
  int64_t a_row, a_col;
  const void* b;
  int64_t b_row, b_col;
  const void* bias;  // null: none
  void* out;
  int64_t out_row;   // columns are dense
  bool wide;         // out is of the type in which sums are taken, not of that of a and b
  bool add = false;  // to what out holds, instead of the bias
  // Where there is one, it is that operand, whose strides are not read.
  const LinedMatrix* a_lines = nullptr;
  const LinedMatrix* b_lines = nullptr;
  int64_t b_first = 0;  // its row that is b's first
};

/// A piece of a panel stays in a core's first cache; the error of a sum grows with its longest chain.
constexpr int64_t kGemmPiece = 256, kGemmChain = 64;

/// b is packed into panels of `panel` columns. T is the type in memory.
template <class T>
struct GemmLoops {
  int64_t panel;
  /// Bytes of one packed panel of `depth` rows.
  int64_t (*panel_bytes)(int64_t depth);
  /// Packs panel p of the plan's b.
  void (*pack)(const GemmPlan&, int64_t p, void* to);
  /// Bytes that `multiply` needs for `rows` rows and `panels` panels.
  int64_t (*scratch)(const GemmPlan&, int64_t rows, int64_t panels);
  /// Writes rows [row, row_end) of panels [p, p_end). `packed` is panel p, the others follow; null: they are
  /// packed here, piece by piece.
  void (*multiply)(const GemmPlan&, int64_t row, int64_t row_end, int64_t p, int64_t p_end,
                   const void* packed, void* scratch);
};

}  // namespace modewise::ops
