#pragma once
// Thin GEMM: a few rows times a matrix contiguous in depth, transposed in registers instead of packed.

#include "modewise/ops/cpu/loops/gemm_pack.h"

namespace modewise::ops::MODEWISE_ISA {

/// Whether a has few rows and b is contiguous in depth, like a weight in generation.
template <class P>
inline bool is_thin(const GemmPlan& plan, int64_t rows) {
  if (plan.a_lines != nullptr || plan.b_lines != nullptr) return false;
  return plan.b_row == 1 && rows <= kThinRows && plan.depth > 0;
}

/// Prefetch order of a thin product, by memory address: the same depth of all columns would be too many
/// streams. A part of each column's depth is read at a time, so that the L2 cache holds the parts of all
/// columns until they are multiplied.
template <class Memory>
class NextRead {
 public:
  /// Columns of b that are read together; the next group begins `next` elements further.
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
  /// Next `count` vectors to prefetch while those at `depth` of the columns from `column` on are read. For
  /// short, non-adjacent columns: the same depth of the next columns.
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
  int64_t stride_, depth_, next_, part_, begin_ = 0;  // of the part being prefetched
  bool apart_;
};

/// sums [Rows, Blocks · kCells] = a · columns [column, column + count) of b, count ≤ Blocks · kCells. The
/// sums of one block form a dependency chain; two blocks keep the FMA units busy.
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
        Vector<Cell> rotated[kTurned<P>];
        const auto ahead = next.take(i * P::kDepth, block * kCells<P>, kCells<P>);
        const auto ask = [&](int j) { __builtin_prefetch(ahead.first + j * ahead.step, 0, 2); };
        load_turned<P>(b + block * block_step, plan.b_col, i, ask, rotated);
#pragma GCC unroll 32
        for (int k = 0; k < kTurned<P>; ++k) add(i + k, block, rotated[k]);
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

}  // namespace modewise::ops::MODEWISE_ISA
