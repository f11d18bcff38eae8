#pragma once
// Traversal of GEMM operands by tiles: depth segments that are contiguous in both operands, and row tiles.

#include "modewise/ops/cpu/loops/gemm_pack.h"

namespace modewise::ops::MODEWISE_ISA {

/// Whether run r of a line is all zero padding.
inline bool is_zero_run(const LinedMatrix& x, int64_t line, int64_t run) {
  return x.zero_runs != nullptr && run < 64 && (x.zero_runs[line] >> run & 1) != 0;
}

/// Segments of one piece of depth of one panel, cells [begin, end): split at the ends of chains, of in-place
/// runs of a and of in-place lines of b. Zero runs are skipped.
template <class P>
class PieceSegments {
 public:
  /// `a_step`: bytes per cell of packed a; `b_step`: cells per depth step of a packed panel; `b_in_place`: b
  /// is read in place.
  PieceSegments(const GemmPlan& plan, int64_t begin, int64_t end, int64_t a_step, int64_t b_step, int64_t p,
                bool b_in_place)
      : plan_(plan),
        runs_(reads_in_place<P>(plan) ? plan.a_lines : nullptr),
        lines_(b_in_place ? plan.b_lines : nullptr),
        begin_(begin),
        end_(end),
        a_step_(a_step),
        b_step_(b_step),
        b_run_(lines_ == nullptr ? 0 : panel_first<P>(plan, p) / lines_->run) {
    cut(0);
  }

  /// Moves to the tile that begins at row `row` of a.
  void turn_to(int64_t row) {
    if (runs_ == nullptr || runs_->zero_runs == nullptr) return;
    const int64_t line = row / runs_->line;
    if (runs_->zero_runs[line] != runs_->zero_runs[line_]) cut(line);
  }

  const DepthSegment* begin() const { return segments_; }
  const DepthSegment* end() const { return segments_ + count_; }

 private:
  static int64_t minimum(int64_t a, int64_t b) { return a < b ? a : b; }

  void cut(int64_t line_of_a) {
    line_ = line_of_a;
    count_ = 0;
    int64_t cell = begin_;
    do {
      const int64_t chain = kChainCells<P> - (cell - begin_) % kChainCells<P>;
      DepthSegment s{(cell - begin_) * a_step_, (cell - begin_) * b_step_, minimum(chain, end_ - cell),
                     false};
      bool zero = false;
      if (runs_ != nullptr) {
        const int64_t column = cell * P::kDepth;
        s.a = runs_->column_at(column) * static_cast<int64_t>(sizeof(typename P::Memory));
        s.cells = minimum(s.cells, (runs_->run - column % runs_->run) / P::kDepth);
        zero = is_zero_run(*runs_, line_, column / runs_->run);
      }
      if (lines_ != nullptr) {
        const int64_t row = plan_.b_first + cell;
        s.b = lines_->row_at(row);
        s.cells = minimum(s.cells, lines_->line - row % lines_->line);
        zero = zero || is_zero_run(*lines_, row / lines_->line, b_run_);
      }
      cell += s.cells;
      s.ends_chain = cell == end_ || (cell - begin_) % kChainCells<P> == 0;
      if (zero) s.cells = 0;
      if (!zero || s.ends_chain) segments_[count_++] = s;
    } while (cell < end_);
  }

  const GemmPlan& plan_;
  const LinedMatrix *runs_, *lines_;
  int64_t begin_, end_, a_step_, b_step_, b_run_, line_ = 0, count_ = 0;
  DepthSegment segments_[kPieceCells<P>];
};

/// In-place panel of b from cell `begin` on.
template <class P>
Panel<typename P::Cell> panel_in_place(const GemmPlan& plan, int64_t p, int64_t begin) {
  const auto* b = as<typename P::Cell>(plan.b);
  const int64_t column = panel_first<P>(plan, p);
  if (plan.b_lines != nullptr) return {b + plan.b_lines->column_at(column), plan.b_lines->step};
  return {b + begin * plan.b_row + column, plan.b_row};
}

/// Rows of the tile from row `row` of a on, before row_end, for in-place lines of a: the rest of the line is
/// split into tiles as equal as possible.
inline int64_t rows_of_line(const LinedMatrix& x, int64_t row, int64_t row_end) {
  const int64_t of_line = x.line - row % x.line, left = of_line < row_end - row ? of_line : row_end - row;
  const int64_t tiles = (left + kGemmTileRows - 1) / kGemmTileRows;
  return (left + tiles - 1) / tiles;
}
template <class P>
CellRows cells_of_line(const LinedMatrix& x, int64_t row, int64_t rows) {
  const auto* at = as<typename P::Memory>(x.at) + x.row_at(row);
  const int64_t step = x.step * static_cast<int64_t>(sizeof *at);
  return {reinterpret_cast<const char*>(at), step, sizeof(typename P::Cell), rows * step};
}

}  // namespace modewise::ops::MODEWISE_ISA
