// Attention scores of one (sample, head): S = softmax(q kᵀ · scale) [n, m] from n and m rows of d numbers,
// and its backward, each computed by one thread in a fixed order. Also softmax numerators of given rows of
// scores.

#include "modewise/ops/cpu/loops/panel.h"
#include "modewise/ops/cpu/loops/vector_math.h"

namespace modewise::ops::MODEWISE_ISA {

namespace {

template <class F>
constexpr F kLowest = -__builtin_inff();

inline int64_t tiles(int64_t rows) {
  return (rows + kTileRows - 1) / kTileRows;
}

template <class T>
int64_t score_scratch(const ScorePlan& plan, bool backward) {
  using F = Accumulate<T>;
  const int64_t wide = padded_row<F>(plan.m), narrow_row = padded_row<F>(plan.width);
  const int64_t longer = plan.n < plan.m ? plan.m : plan.n;
  const int64_t rows = backward ? plan.n * wide + longer * narrow_row + kTileRows * (longer + narrow_row)
                                : plan.width * wide + kTileRows * (plan.width + wide);
  return (rows + 64) * static_cast<int64_t>(sizeof(F));
}

// out[rows, columns] = a · panel, a packed as one tile [n][kTileRows]; columns padded to whole vectors.
template <class F>
void tile_row(const F* a, int64_t rows, int64_t n, const F* panel, int64_t panel_row, int64_t columns, F* out,
              int64_t out_row) {
  constexpr int64_t kTile = kTileVectors * kLanes<F>;
  for (int64_t column = 0; column < columns; column += kTile) {
    const int64_t left = columns - column < kTile ? columns - column : kTile;
    const int vectors = static_cast<int>((left + kLanes<F> - 1) / kLanes<F>);
    F* to[kTileVectors];
    for (int j = 0; j < vectors; ++j) to[j] = out + column + j * kLanes<F>;
    tile_of<F>(static_cast<int>(rows), vectors)(a, panel + column, panel_row, n, to, out_row);
  }
}

// Sets masked keys (null: no mask) in row[0 … n) to the lowest value; false if none is left. The result
// follows the masks, not the row, whose own values may be infinite or NaN.
template <class F>
bool keep_keys(const uint8_t* key_mask, const uint8_t* mode_mask, F* row, int64_t n) {
  if (key_mask == nullptr && mode_mask == nullptr) return true;
  bool any = false;
  for (int64_t j = 0; j < n; ++j) {
    const bool kept =
        (key_mask == nullptr || key_mask[j] != 0) && (mode_mask == nullptr || mode_mask[j] != 0);
    row[j] = kept ? row[j] : kLowest<F>;
    any = any || kept;
  }
  return any;
}

// Softmax of row[0 … n), whose padding up to whole cache lines may be overwritten. If a value is NaN, the
// whole row is: the maximum may skip NaN, but the sum does not.
template <class F>
void softmax_row(F* row, int64_t n, F scale) {
  constexpr int64_t kLane = kLanes<F>, kWide = kWideLanes<F>;
  for (int64_t j = n; j % kWide != 0; ++j) row[j] = kLowest<F>;
  Vector<F> high = load(row);
  for (int64_t j = kLane; j < n; j += kLane) {
    const Vector<F> value = load(row + j);
    high = high < value ? value : high;
  }
  F top = high[0];
  for (int lane = 1; lane < kLane; ++lane) top = high[lane] > top ? high[lane] : top;
  Wide<F> sum = {};
  for (int64_t j = 0; j < n; j += kWide) {
#pragma GCC unroll 4
    for (int i = 0; i < kWideParts; ++i) {
      const Vector<F> value = exp_lanes((load(row + j + i * kLane) - top) * scale);
      store(row + j + i * kLane, value);
      sum.part[i] += value;
    }
  }
  const F inverse = 1 / lane_sum(sum);
  for (int64_t j = 0; j < n; ++j) row[j] *= inverse;
}

/// Sum of row[0 … n), whose padding up to whole cache lines is overwritten.
template <class F>
F row_sum(F* row, int64_t n) {
  for (int64_t j = n; j % kWideLanes<F> != 0; ++j) row[j] = 0;
  Wide<F> sum = {};
  for (int64_t j = 0; j < n; j += kWideLanes<F>)
    for (int i = 0; i < kWideParts; ++i) sum.part[i] += load(row + j + i * kLanes<F>);
  return lane_sum(sum);
}

/// Maximum of row[0 … n); NaN is skipped.
template <class F>
F largest(const F* row, int64_t n) {
  constexpr int64_t kLane = kLanes<F>;
  F top = kLowest<F>;
  int64_t j = 0;
  if (n >= kLane) {
    Vector<F> high = load(row);
    for (j = kLane; j + kLane <= n; j += kLane) {
      const Vector<F> value = load(row + j);
      high = high < value ? value : high;
    }
    for (int lane = 0; lane < kLane; ++lane) top = high[lane] > top ? high[lane] : top;
  }
  for (; j < n; ++j) top = row[j] > top ? row[j] : top;
  return top;
}

template <class T>
void weigh(const WeightPlan& plan, int64_t row, const SeenKeys& seen) {
  using F = Accumulate<T>;
  constexpr int64_t kLane = kLanes<F>, kWide = kWideLanes<F>;
  F* x = as<F>(plan.scores) + row * plan.keys;
  T* out = as<T>(plan.weights) + row * plan.keys;
  const F scale = static_cast<F>(plan.scale);
  const int64_t n = seen.count;
  if (seen.mask == nullptr) {
    for (int64_t j = 0; j < n; ++j) x[j] *= scale;
  } else {
    uint8_t any = 0;
    for (int64_t j = 0; j < n; ++j) {
      any |= seen.mask[j * seen.step];
      x[j] = seen.mask[j * seen.step] != 0 ? x[j] * scale : kLowest<F>;
    }
    if (any == 0) {
      for (int64_t j = 0; j < plan.keys; ++j) out[j] = narrow<T>(F{0});
      as<F>(plan.sums)[row] = 1;
      return;
    }
  }
  const F top = largest(x, n);
  Wide<F> sum = {};
  int64_t j = 0;
  for (; j + kWide <= n; j += kWide) {
#pragma GCC unroll 4
    for (int i = 0; i < kWideParts; ++i) {
      const Vector<F> value = exp_lanes(load(x + j + i * kLane) - top);
      store_narrow<T>(out + j + i * kLane, value);
      sum.part[i] += value;
    }
  }
  if (j < n) {
    F lanes[kWide];
    for (int64_t i = 0; i < kWide; ++i) lanes[i] = j + i < n ? x[j + i] : kLowest<F>;
    for (int i = 0; i < kWideParts; ++i) {
      const Vector<F> value = exp_lanes(load(lanes + i * kLane) - top);
      store(lanes + i * kLane, value);
      sum.part[i] += value;
    }
    for (int64_t i = 0; j + i < n; ++i) out[j + i] = narrow<T>(lanes[i]);
  }
  for (j = n; j < plan.keys; ++j) out[j] = narrow<T>(F{0});
  as<F>(plan.sums)[row] = lane_sum(sum);
}

template <class T>
void forward(const ScorePlan& plan, int64_t b, int64_t h, void* scratch) {
  using F = Accumulate<T>;
  const int64_t n = plan.n, m = plan.m, d = plan.width, wide = padded_row<F>(m);
  F* keys = as<F>(scratch);  // [d][wide]
  F* queries = keys + d * wide;
  F* rows = queries + kTileRows * d;
  const T* k = as<T>(plan.k) + b * plan.k_batch + h * d;
  const T* q = as<T>(plan.q) + b * plan.q_batch + h * d;
  for (int64_t c = 0; c < d; ++c) {
    for (int64_t j = 0; j < m; ++j) keys[c * wide + j] = widen(k[j * plan.k_row + c]);
    for (int64_t j = m; j < wide; ++j) keys[c * wide + j] = 0;
  }
  const uint8_t* key_mask = plan.key_mask == nullptr
                                ? nullptr
                                : plan.key_mask + (plan.key_mask_per_head ? b * plan.heads + h : b) * m;
  T* out = as<T>(plan.scores) + (b * plan.heads + h) * n * m;
  for (int64_t first = 0; first < n; first += kTileRows) {
    const int64_t count = n - first < kTileRows ? n - first : kTileRows;
    pack_rows(q + first * plan.q_row, plan.q_row, int64_t{1}, count, d, static_cast<int64_t>(kTileRows),
              queries);
    tile_row(queries, count, d, keys, wide, m, rows, wide);
    for (int64_t i = 0; i < count; ++i) {
      F* row = rows + i * wide;
      const uint8_t* kept = plan.mode_mask == nullptr ? nullptr : plan.mode_mask + (first + i) * m;
      if (keep_keys(key_mask, kept, row, m))
        softmax_row(row, m, static_cast<F>(plan.scale));
      else
        for (int64_t j = 0; j < m; ++j) row[j] = 0;
      T* to = out + (first + i) * m;
      for (int64_t j = 0; j < m; ++j) to[j] = narrow<T>(row[j]);
    }
  }
}

// grad_out rows [n, d] = weights · panel, with weights [n, m] given by strides and panel [m][narrow].
template <class T, class F>
void weighted_rows(const F* weights, int64_t row, int64_t col, int64_t n, int64_t m, int64_t d,
                   const F* panel, F* packed, F* rows, T* out, int64_t out_row) {
  const int64_t narrow_row = padded_row<F>(d);
  for (int64_t first = 0; first < n; first += kTileRows) {
    const int64_t count = n - first < kTileRows ? n - first : kTileRows;
    pack_rows(weights + first * row, row, col, count, m, static_cast<int64_t>(kTileRows), packed);
    tile_row(packed, count, m, panel, narrow_row, d, rows, narrow_row);
    for (int64_t i = 0; i < count; ++i)
      for (int64_t c = 0; c < d; ++c) out[(first + i) * out_row + c] = narrow<T>(rows[i * narrow_row + c]);
  }
}

template <class T>
void backward(const ScorePlan& plan, int64_t b, int64_t h, void* scratch) {
  using F = Accumulate<T>;
  const int64_t n = plan.n, m = plan.m, d = plan.width, wide = padded_row<F>(m),
                narrow_row = padded_row<F>(d), longer = n < m ? m : n;
  F* logits = as<F>(scratch);  // gradient of the logits [n][wide]
  F* panel = logits + n * wide;
  F* packed = panel + longer * narrow_row;
  F* rows = packed + kTileRows * longer;
  const T* scores = as<T>(plan.scores) + (b * plan.heads + h) * n * m;
  const T* grad = as<T>(plan.grad) + (b * plan.heads + h) * n * m;
  for (int64_t i = 0; i < n; ++i, scores += m, grad += m) {
    F* row = logits + i * wide;
    for (int64_t j = 0; j < m; ++j) row[j] = widen(scores[j]) * widen(grad[j]);
    const F dot = row_sum(row, m);
    for (int64_t j = 0; j < m; ++j)
      row[j] = fused(-widen(scores[j]), dot, row[j]) * static_cast<F>(plan.scale);
  }
  const auto pack_panel = [&](const T* from, int64_t row, int64_t count) {
    for (int64_t i = 0; i < count; ++i) {
      F* to = panel + i * narrow_row;
      for (int64_t c = 0; c < d; ++c) to[c] = widen(from[i * row + c]);
      for (int64_t c = d; c < narrow_row; ++c) to[c] = 0;
    }
  };
  const int64_t out_row = plan.heads * d;
  pack_panel(as<T>(plan.k) + b * plan.k_batch + h * d, plan.k_row, m);
  weighted_rows(logits, wide, int64_t{1}, n, m, d, panel, packed, rows,
                as<T>(plan.grad_q) + b * n * out_row + h * d, out_row);
  pack_panel(as<T>(plan.q) + b * plan.q_batch + h * d, plan.q_row, n);
  weighted_rows(logits, int64_t{1}, wide, m, n, d, panel, packed, rows,
                as<T>(plan.grad_k) + b * m * out_row + h * d, out_row);
}

template <class T>
constexpr ScoreLoops<T> loops_of() {
  return {score_scratch<T>, forward<T>, backward<T>, weigh<T>};
}

}  // namespace

extern constexpr ScoreLoops<float> score_f32 = loops_of<float>();
extern constexpr ScoreLoops<double> score_f64 = loops_of<double>();
extern constexpr ScoreLoops<Half16> score_bf16 = loops_of<Half16>();

}  // namespace modewise::ops::MODEWISE_ISA
