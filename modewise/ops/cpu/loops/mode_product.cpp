// Mode products of one (sample, head): the factor is packed once, then fibres are packed panel by panel
// [N][fibres · d] and multiplied by register tiles. Sums run over n in ascending order for any tiling, so
// that the result does not depend on how threads share the fibres.

#include "modewise/ops/cpu/loops/panel.h"

namespace modewise::ops::MODEWISE_ISA {

namespace {

constexpr int64_t kPanelBytes = 48 * 1024, kGroupBytes = 256 * 1024;

// Fibres per panel: a panel of one head fits in the L1 cache if possible, one of all heads in the L2 cache.
// Either holds whole register tiles.
template <class F>
int64_t panel_fibres(const ProductPlan& plan, int64_t group) {
  constexpr int64_t kTile = kTileVectors * kLanes<F>;
  const int64_t bytes = group == 1 ? kPanelBytes : kGroupBytes / group;
  const int64_t columns = bytes / static_cast<int64_t>(sizeof(F)) / (plan.cols > 0 ? plan.cols : 1);
  const int64_t wanted = columns < 4 * kTile && group == 1 ? 4 * kTile : columns;
  const int64_t fibres = wanted / plan.width;
  return fibres < 1 ? 1 : fibres;
}

// Heads per task: all of them where their panels fit together, so that x is read contiguously; one where N is
// large, so that a row of one head is long enough.
template <class T>
int64_t head_group(const ProductPlan& plan) {
  using F = Accumulate<T>;
  const int64_t minimum = (2 * kTileVectors * kLanes<F> + plan.width - 1) / plan.width;
  return panel_fibres<F>(plan, plan.heads) >= minimum ? plan.heads : 1;
}

template <class F>
int64_t packed_factor(const ProductPlan& plan) {
  const int64_t tile = balanced_rows(plan.rows);
  return (plan.rows + tile - 1) / tile * plan.cols * kTileRows;
}

template <class T>
int64_t product_scratch(const ProductPlan& plan) {
  using F = Accumulate<T>;
  const int64_t group = head_group<T>(plan);
  const int64_t panel = plan.cols * padded_row<F>(panel_fibres<F>(plan, group) * plan.width);
  const int64_t tile = kTileRows * kTileVectors * kLanes<F>;
  return (group * (packed_factor<F>(plan) + panel) + tile + 64) * static_cast<int64_t>(sizeof(F));
}

// Writes rows × columns [column, column + width) of a finished tile to the channels of their fibres.
template <class T>
void scatter_tile(const ProductPlan& plan, const Accumulate<T>* tile, int64_t tile_row, int64_t rows, T* out,
                  const int64_t* fibre, int64_t column, int64_t columns) {
  for (int64_t m = 0; m < rows; ++m, out += plan.out_mode, tile += tile_row) {
    int64_t f = column / plan.width, c = column % plan.width;
    for (int64_t i = 0; i < columns;) {
      const int64_t run = plan.width - c < columns - i ? plan.width - c : columns - i;
      T* to = out + fibre[f] + c;
      for (int64_t k = 0; k < run; ++k) to[k] = narrow<T>(tile[i + k]);
      i += run, c = 0, ++f;
    }
  }
}

template <class T>
void multiply_panel(const ProductPlan& plan, const Accumulate<T>* factor, const Accumulate<T>* panel,
                    int64_t panel_row, int64_t fibres, const int64_t* out_fibre, T* out,
                    Accumulate<T>* tile) {
  using F = Accumulate<T>;
  constexpr int64_t kLane = kLanes<F>, kTile = kTileVectors * kLane;
  const int64_t columns = fibres * plan.width, step = balanced_rows(plan.rows);
  const bool direct = sizeof(T) == sizeof(F) && plan.width % kLane == 0;
  for (int64_t column = 0; column < columns; column += kTile) {
    const int64_t left = columns - column < kTile ? columns - column : kTile;
    const int vectors = static_cast<int>((left + kLane - 1) / kLane);
    F* to[kTileVectors];
    for (int j = 0; j < vectors; ++j) {
      const int64_t at = column + j * kLane;
      to[j] = direct ? reinterpret_cast<F*>(out + out_fibre[at / plan.width] + at % plan.width)
                     : tile + j * kLane;
    }
    const F* a = factor;
    for (int64_t row = 0; row < plan.rows; row += step, a += plan.cols * kTileRows) {
      const int64_t rows = plan.rows - row < step ? plan.rows - row : step;
      tile_of<F>(static_cast<int>(rows), vectors)(a, panel + column, panel_row, plan.cols, to,
                                                  direct ? plan.out_mode : kTile);
      if (direct)
        for (int j = 0; j < vectors; ++j) to[j] += rows * plan.out_mode;
      else
        scatter_tile<T>(plan, tile, kTile, rows, out + row * plan.out_mode, out_fibre, column, left);
    }
  }
}

// Row n of the panels of `group` heads, panel_size apart.
template <class T, class F>
void pack_group(const ProductPlan& plan, const T* x, const int64_t* fibre, int64_t fibres, int64_t group,
                F* row, int64_t panel_size) {
  if (plan.x_channel == 1 && plan.width % kLanes<F> == 0) {
    for (int64_t f = 0; f < fibres; ++f, row += plan.width) {
      const T* from = x + fibre[f];
      F* to = row;
      for (int64_t h = 0; h < group; ++h, to += panel_size)
        for (int64_t c = 0; c < plan.width; c += kLanes<F>, from += kLanes<F>) {
          __builtin_prefetch(from + 2 * plan.x_mode);
          store(to + c, load_wide<T>(from));
        }
    }
    return;
  }
  for (int64_t h = 0; h < group; ++h)
    pack_fibres(x + h * plan.width * plan.x_channel, plan.x_channel, plan.width, fibre, fibres,
                row + h * panel_size);
}

template <class T, class A>
void product(const ProductPlan& plan, int64_t b, int64_t h, int64_t begin, int64_t end, void* scratch) {
  using F = Accumulate<T>;
  const int64_t group = head_group<T>(plan), factor_size = packed_factor<F>(plan);
  const int64_t step = panel_fibres<F>(plan, group);
  F* tile = as<F>(scratch);
  F* factors = tile + kTileRows * kTileVectors * kLanes<F>;
  F* panels = factors + group * factor_size;
  for (int64_t i = 0; i < group; ++i)
    pack_rows(as<A>(plan.a) + b * plan.a_batch + (h + i) * plan.a_head, plan.a_row, plan.a_col, plan.rows,
              plan.cols, balanced_rows(plan.rows), factors + i * factor_size);
  const T* x = as<T>(plan.x) + b * plan.x_batch + h * plan.width * plan.x_channel;
  T* out = as<T>(plan.out) + b * plan.out_batch + h * plan.width;
  for (int64_t f = begin; f < end; f += step) {
    const int64_t fibres = end - f < step ? end - f : step;
    const int64_t columns = fibres * plan.width, row = padded_row<F>(columns), panel_size = plan.cols * row;
    for (int64_t n = 0; n < plan.cols; ++n) {
      pack_group(plan, x + n * plan.x_mode, plan.x_fibre + f, fibres, group, panels + n * row, panel_size);
      for (int64_t i = 0; i < group; ++i)
        for (int64_t c = columns; c < row; ++c) panels[i * panel_size + n * row + c] = 0;
    }
    for (int64_t i = 0; i < group; ++i)
      multiply_panel<T>(plan, factors + i * factor_size, panels + i * panel_size, row, fibres,
                        plan.out_fibre + f, out + i * plan.width, tile);
  }
}

// ---- contraction ----

// 16 accumulators of 32 registers, or 12 of 16.
constexpr int kDotRows = kVectorBytes == 64 ? 4 : 3, kDotCols = kVectorBytes == 64 ? 4 : 2;
constexpr int64_t kContractBytes = 256 * 1024;

template <class F>
int64_t contract_fibres(const ContractPlan& plan) {
  const int64_t columns = kContractBytes / static_cast<int64_t>(sizeof(F)) / (plan.rows + plan.cols + 1);
  const int64_t fibres = (columns < 512 ? 512 : columns) / (plan.width > 0 ? plan.width : 1);
  return fibres < 1 ? 1 : fibres < plan.fibres ? fibres : plan.fibres;
}

template <class T>
int64_t contract_scratch(const ContractPlan& plan) {
  using F = Accumulate<T>;
  return ((plan.rows + plan.cols) * padded_row<F>(contract_fibres<F>(plan) * plan.width) + 64) *
         static_cast<int64_t>(sizeof(F));
}

// out[m · out_row + n] += Σ_p a[m · row + p] x[n · row + p], p in lanes, summed by a tree. Rows of a and x
// are whole cache lines.
template <class F, int Rows, int Cols>
void tile_dot(const F* a, const F* x, int64_t row, int64_t columns, F* out, int64_t out_row) {
  Vector<F> sum[Rows][Cols][kWideParts] = {};
  for (int64_t p = 0; p < columns; p += kWideLanes<F>) {
#pragma GCC unroll 4
    for (int i = 0; i < kWideParts; ++i) {
      const int64_t at = p + i * kLanes<F>;
      Vector<F> right[Cols];
#pragma GCC unroll 4
      for (int n = 0; n < Cols; ++n) right[n] = load(x + n * row + at);
#pragma GCC unroll 4
      for (int m = 0; m < Rows; ++m) {
        const Vector<F> left = load(a + m * row + at);
#pragma GCC unroll 4
        for (int n = 0; n < Cols; ++n) sum[m][n][i] += left * right[n];
      }
    }
  }
  constexpr int kSums = Rows * Cols;
  Vector<F> folded[(kSums + kLanes<F> - 1) / kLanes<F> * kLanes<F>] = {};
#pragma GCC unroll 16
  for (int k = 0; k < kSums; ++k) {
    Wide<F> lanes;
#pragma GCC unroll 4
    for (int i = 0; i < kWideParts; ++i) lanes.part[i] = sum[k / Cols][k % Cols][i];
    folded[k] = lanes.folded();
  }
  if constexpr (2 * kSums > kLanes<F>) {
    for (int first = 0; first < kSums; first += kLanes<F>) {
      F sums[kLanes<F>];
      store(sums, lane_sums<F>(folded + first));
      for (int k = first; k < kSums && k < first + kLanes<F>; ++k)
        out[k / Cols * out_row + k % Cols] += sums[k - first];
    }
  } else {
    for (int k = 0; k < kSums; ++k) out[k / Cols * out_row + k % Cols] += lane_sum<F>(folded[k]);
  }
}

template <class F, int Rows>
void tile_dots(const F* a, const F* x, int64_t row, int64_t columns, int64_t cols, F* out, int64_t out_row) {
  int64_t n = 0;
  for (; n + kDotCols <= cols; n += kDotCols)
    tile_dot<F, Rows, kDotCols>(a, x + n * row, row, columns, out + n, out_row);
  for (; n < cols; ++n) tile_dot<F, Rows, 1>(a, x + n * row, row, columns, out + n, out_row);
}

template <class T>
void contract(const ContractPlan& plan, int64_t b, int64_t h, int64_t begin, int64_t end, void* scratch) {
  using F = Accumulate<T>;
  const int64_t step = contract_fibres<F>(plan);
  F* out = as<F>(plan.out) + ((b * plan.heads + h) * plan.rows + begin) * plan.cols;
  for (int64_t i = 0; i < (end - begin) * plan.cols; ++i) out[i] = 0;
  const T* a = as<T>(plan.a) + b * plan.a_batch + h * plan.width * plan.a_channel;
  const T* x = as<T>(plan.x) + b * plan.x_batch + h * plan.width * plan.x_channel;
  for (int64_t f = 0; f < plan.fibres; f += step) {
    const int64_t fibres = plan.fibres - f < step ? plan.fibres - f : step;
    const int64_t columns = fibres * plan.width, row = padded_row<F>(columns);
    F* left = as<F>(scratch);
    F* right = left + (end - begin) * row;
    for (int64_t m = begin; m < end; ++m) {
      F* to = left + (m - begin) * row;
      pack_fibres(a + m * plan.a_mode, plan.a_channel, plan.width, plan.a_fibre + f, fibres, to);
      for (int64_t i = columns; i < row; ++i) to[i] = 0;
    }
    for (int64_t n = 0; n < plan.cols; ++n) {
      F* to = right + n * row;
      pack_fibres(x + n * plan.x_mode, plan.x_channel, plan.width, plan.x_fibre + f, fibres, to);
      for (int64_t i = columns; i < row; ++i) to[i] = 0;
    }
    int64_t m = 0;
    for (; m + kDotRows <= end - begin; m += kDotRows)
      tile_dots<F, kDotRows>(left + m * row, right, row, columns, plan.cols, out + m * plan.cols, plan.cols);
    for (; m < end - begin; ++m)
      tile_dots<F, 1>(left + m * row, right, row, columns, plan.cols, out + m * plan.cols, plan.cols);
  }
}

template <class T>
constexpr ProductLoops<T> loops_of() {
  return {head_group<T>,       product_scratch<T>, product<T, T>, product<T, Accumulate<T>>,
          contract_scratch<T>, contract<T>};
}

}  // namespace

extern constexpr ProductLoops<float> product_f32 = loops_of<float>();
extern constexpr ProductLoops<double> product_f64 = loops_of<double>();
extern constexpr ProductLoops<Half16> product_bf16 = loops_of<Half16>();

}  // namespace modewise::ops::MODEWISE_ISA
