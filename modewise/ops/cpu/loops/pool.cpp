// Pooling onto every mode in one pass. For a fixed position of the outer modes, the sum over the last mode is
// computed in registers and added once to the accumulators of all outer modes; each cell is added to the last
// mode's own. Both use runs of eight additions, so that no chain is long. Cells are visited in order, so sums
// do not depend on threads; invalid cells are never read.

#include "modewise/ops/cpu/loops/vector.h"

namespace modewise::ops::MODEWISE_ISA {

namespace {

constexpr int64_t kRun = 8;

template <class T>
int64_t pool_scratch(const PoolPlan& plan) {
  int64_t rows = plan.size[plan.modes - 1];  // in the run
  for (int i = 0; i < plan.modes; ++i) rows += plan.size[i];
  return rows * kPoolChannels * static_cast<int64_t>(sizeof(Accumulate<T>)) + 64;
}

// sum += x, last[...] += x for `width` channels; Full: width = kPoolChannels with contiguous channels.
template <bool Full, class T, class F>
inline void add_cell(const T* x, int64_t channel, int64_t width, F* sum, F* last) {
  if constexpr (Full) {
    for (int c = 0; c < kPoolChannels; ++c) {
      const F value = widen(x[c]);
      sum[c] += value;
      last[c] += value;
    }
  } else {
    for (int64_t c = 0; c < width; ++c) {
      const F value = widen(x[c * channel]);
      sum[c] += value;
      last[c] += value;
    }
  }
}

// Steps the indices of the outer modes; false after the last position.
inline bool next_position(const int64_t* size, int outer, int64_t* index) {
  for (int i = outer - 1; i >= 0; --i) {
    if (++index[i] < size[i]) return true;
    index[i] = 0;
  }
  return false;
}

/// sums += run [count]; resets run to 0.
template <class F>
inline void end_run(F* run, int64_t count, F* sums) {
  for (int64_t i = 0; i < count; ++i) {
    sums[i] += run[i];
    run[i] = 0;
  }
}

/// `last` [inner, kPoolChannels] is zero-initialised: the run of the last mode.
template <class T, bool Full>
void add_cells(const PoolPlan& plan, const T* x, const uint8_t* mask, int64_t width,
               Accumulate<T>* const* sums, Accumulate<T>* last) {
  using F = Accumulate<T>;
  const int outer = plan.modes - 1;
  const int64_t inner = plan.size[outer], step = plan.stride[outer];
  int64_t index[kMaxModes] = {}, position = 0;
  do {
    const T* row = x;
    for (int i = 0; i < outer; ++i) row += index[i] * plan.stride[i];
    F line[kPoolChannels] = {};
    for (int64_t begin = 0; begin < inner; begin += kRun) {
      F run[kPoolChannels] = {};
      const int64_t end = begin + kRun < inner ? begin + kRun : inner;
      for (int64_t j = begin; j < end; ++j) {
        if (mask != nullptr && mask[j] == 0) continue;
        add_cell<Full>(row + j * step, plan.x_channel, width, run, last + j * kPoolChannels);
      }
      end_run(run, kPoolChannels, line);
    }
    if (++position % kRun == 0) end_run(last, inner * kPoolChannels, sums[outer]);
    if (mask != nullptr) mask += inner;
    for (int i = 0; i < outer; ++i) {
      F* sum = sums[i] + index[i] * kPoolChannels;
      for (int c = 0; c < kPoolChannels; ++c) sum[c] += line[c];
    }
  } while (next_position(plan.size, outer, index));
  end_run(last, inner * kPoolChannels, sums[outer]);
}

template <class T>
void pool(const PoolPlan& plan, int64_t b, int64_t begin, int64_t end, void* scratch) {
  using F = Accumulate<T>;
  F* sums[kMaxModes];
  F* next = as<F>(scratch);
  for (int i = 0; i < plan.modes; ++i) {
    sums[i] = next;
    next += plan.size[i] * kPoolChannels;
  }
  F* last = next;
  next += plan.size[plan.modes - 1] * kPoolChannels;
  for (F* sum = sums[0]; sum < next; ++sum) *sum = 0;
  const int64_t width = end - begin;
  const T* x = as<T>(plan.x) + b * plan.x_batch + begin * plan.x_channel;
  const uint8_t* mask = plan.mask == nullptr ? nullptr : plan.mask + b * plan.cells;
  if (plan.cells > 0) {
    if (width == kPoolChannels && plan.x_channel == 1)
      add_cells<T, true>(plan, x, mask, width, sums, last);
    else
      add_cells<T, false>(plan, x, mask, width, sums, last);
  }
  for (int i = 0; i < plan.modes; ++i) {
    const F* scale = as<F>(plan.scale[i]);
    for (int64_t j = 0; j < plan.size[i]; ++j) {
      const F factor = scale == nullptr ? F{1} : scale[b * plan.size[i] + j];
      T* out = as<T>(plan.out[i]) + (b * plan.size[i] + j) * plan.channels + begin;
      const F* sum = sums[i] + j * kPoolChannels;
      for (int64_t c = 0; c < width; ++c) out[c] = narrow<T>(sum[c] * factor);
    }
  }
}

template <class T>
void pool_backward(const PoolBackwardPlan& plan, int64_t b, int64_t first, void* scratch) {
  using F = Accumulate<T>;
  const int outer = plan.modes - 1;
  const int64_t d = plan.channels, inner = outer == 0 ? 1 : plan.size[outer];
  const int64_t cells = plan.cells / plan.size[0];
  T* out = as<T>(plan.out) + (b * plan.cells + first * cells) * d;
  const uint8_t* mask = plan.mask == nullptr ? nullptr : plan.mask + b * plan.cells + first * cells;
  F* base = as<F>(scratch);
  int64_t index[kMaxModes] = {};
  do {
    for (int64_t c = 0; c < d; ++c) base[c] = as<F>(plan.grad[0])[(b * plan.size[0] + first) * d + c];
    for (int i = 1; i < outer; ++i) {
      const F* grad = as<F>(plan.grad[i]) + (b * plan.size[i] + index[i]) * d;
      for (int64_t c = 0; c < d; ++c) base[c] += grad[c];
    }
    for (int64_t j = 0; j < inner; ++j, out += d) {
      const bool valid = mask == nullptr || mask[j] != 0;
      if (!valid)
        for (int64_t c = 0; c < d; ++c) out[c] = narrow<T>(F{0});
      else if (outer == 0)
        for (int64_t c = 0; c < d; ++c) out[c] = narrow<T>(base[c]);
      else {
        const F* grad = as<F>(plan.grad[outer]) + (b * plan.size[outer] + j) * d;
        for (int64_t c = 0; c < d; ++c) out[c] = narrow<T>(base[c] + grad[c]);
      }
    }
    if (mask != nullptr) mask += inner;
    // The first mode is fixed; the ones between it and the last are stepped.
  } while (outer > 1 && next_position(plan.size + 1, outer - 1, index + 1));
}

template <class T>
constexpr PoolLoops<T> loops_of() {
  return {pool_scratch<T>, pool<T>, pool_backward<T>};
}

}  // namespace

extern constexpr PoolLoops<float> pool_f32 = loops_of<float>();
extern constexpr PoolLoops<double> pool_f64 = loops_of<double>();
extern constexpr PoolLoops<Half16> pool_bf16 = loops_of<Half16>();

}  // namespace modewise::ops::MODEWISE_ISA
