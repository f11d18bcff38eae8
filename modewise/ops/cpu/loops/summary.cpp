// Block summaries: r summary tokens from the children of a block, a = softmax(z Kᵀ), keys a K, values a V,
// and their backward. Each block is computed by one thread in a fixed order.

#include "modewise/ops/cpu/loops/vector.h"
#include "modewise/ops/cpu/loops/vector_math.h"

namespace modewise::ops::MODEWISE_ISA {

namespace {

template <class T>
class Blocks {
 public:
  using F = Accumulate<T>;

  Blocks(const SummaryPlan& plan, int level, int64_t b, int64_t g, void* scratch)
      : plan_(plan),
        level_(level),
        b_(b),
        g_(g),
        summary_tokens_(plan.summary_tokens),
        d_(plan.d_row),
        e_(plan.e_row) {
    const SummaryLevel& own = plan.level[level];
    rows_ = own.children * (level == 0 ? 1 : summary_tokens_);
    latents_ = as<F>(own.latents) + g * summary_tokens_ * d_;
    keys_ = as<F>(scratch);
    values_ = keys_ + (level == 0 ? rows_ * d_ : 0);
    weights_ = values_ + (level == 0 ? rows_ * e_ : 0);
    grads_ = weights_ + summary_tokens_ * rows_;
  }

  static int64_t scratch_bytes(const SummaryPlan& plan, int level) {
    const int64_t rows = plan.level[level].children * (level == 0 ? 1 : plan.summary_tokens);
    const int64_t copies = level == 0 ? rows * (plan.d_row + plan.e_row) : 0;
    return (copies + 2 * plan.summary_tokens * rows + 64) * static_cast<int64_t>(sizeof(F));
  }

  void load_block(int64_t block) {
    if (level_ == 0) {
      const T* k = as<T>(plan_.k) + b_ * plan_.k_batch + block * rows_ * plan_.k_row + g_ * plan_.k_head;
      const T* v = as<T>(plan_.v) + b_ * plan_.v_batch + block * rows_ * plan_.v_row + g_ * plan_.v_head;
      for (int64_t c = 0; c < rows_; ++c) {
        copy_row(k + c * plan_.k_row, plan_.d, d_, keys_ + c * d_);
        copy_row(v + c * plan_.v_row, plan_.e, e_, values_ + c * e_);
      }
    } else {
      const SummaryLevel& below = plan_.level[level_ - 1];
      const int64_t first = (b_ * plan_.kv_heads + g_) * below.finished * summary_tokens_ + block * rows_;
      keys_ = as<F>(below.keys) + first * d_;
      values_ = as<F>(below.values) + first * e_;
    }
    for (int64_t s = 0; s < summary_tokens_; ++s) softmax_weights(latents_ + s * d_, weights_ + s * rows_);
  }

  void summarise(int64_t block) {
    F* keys = summary_row(plan_.level[level_].keys, block, d_);
    F* values = summary_row(plan_.level[level_].values, block, e_);
    for (int64_t s = 0; s < summary_tokens_; ++s) {
      weighted_sum(weights_ + s * rows_, keys_, d_, keys + s * d_);
      weighted_sum(weights_ + s * rows_, values_, e_, values + s * e_);
    }
  }

  // Accumulates into grad_latents.
  void backward(int64_t block, F* grad_latents) {
    const F* grad_keys = summary_row(plan_.level[level_].grad_keys, block, d_);
    const F* grad_values = summary_row(plan_.level[level_].grad_values, block, e_);
    F *to_keys, *to_values;
    if (level_ == 0) {
      const int64_t first = (b_ * plan_.kv_heads + g_) * plan_.n + block * rows_;
      to_keys = as<F>(plan_.sum_k) + first * d_;
      to_values = as<F>(plan_.sum_v) + first * e_;
    } else {
      const SummaryLevel& below = plan_.level[level_ - 1];
      const int64_t first = (b_ * plan_.kv_heads + g_) * below.finished * summary_tokens_ + block * rows_;
      to_keys = as<F>(below.grad_keys) + first * d_;
      to_values = as<F>(below.grad_values) + first * e_;
    }
    for (int64_t s = 0; s < summary_tokens_; ++s) {
      const F *gk = grad_keys + s * d_, *gv = grad_values + s * e_, *a = weights_ + s * rows_;
      F* logits = grads_ + s * rows_;
      F mean = 0;
      for (int64_t c = 0; c < rows_; ++c) {
        logits[c] = dot(gk, keys_ + c * d_, d_) + dot(gv, values_ + c * e_, e_);
        mean = fused(a[c], logits[c], mean);
      }
      for (int64_t c = 0; c < rows_; ++c) {
        logits[c] = a[c] * (logits[c] - mean);
        add_scaled(logits[c], keys_ + c * d_, d_, grad_latents + s * d_);
        add_scaled(a[c], gk, d_, to_keys + c * d_);
        add_scaled(logits[c], latents_ + s * d_, d_, to_keys + c * d_);
        add_scaled(a[c], gv, e_, to_values + c * e_);
      }
    }
  }

 private:
  static void copy_row(const T* from, int64_t width, int64_t padded, F* to) {
    for (int64_t i = 0; i < width; ++i) to[i] = widen(from[i]);
    for (int64_t i = width; i < padded; ++i) to[i] = 0;
  }

  F* summary_row(void* summary_tokens, int64_t block, int64_t row) const {
    const SummaryLevel& own = plan_.level[level_];
    return as<F>(summary_tokens) +
           ((b_ * plan_.kv_heads + g_) * own.finished + block) * summary_tokens_ * row;
  }

  static F dot(const F* a, const F* b, int64_t width) { return lane_sum(products(a, b, width)); }

  // Σ_i a[i] b[i] in lanes; width in whole cache lines.
  static Wide<F> products(const F* a, const F* b, int64_t width) {
    Wide<F> sum = {};
    for (int64_t i = 0; i < width; i += kWideLanes<F>) sum.add_products(a + i, b + i);
    return sum;
  }

  static void add_scaled(F scale, const F* from, int64_t width, F* to) {
    for (int64_t i = 0; i < width; i += kLanes<F>) store(to + i, load(to + i) + scale * load(from + i));
  }

  void softmax_weights(const F* z, F* weights) const {
    // The dot products of kLane rows are reduced together.
    constexpr int64_t kLane = kLanes<F>;
    int64_t done = 0;
    for (; done + kLane <= rows_; done += kLane) {
      Vector<F> sums[kLane];
      for (int64_t c = 0; c < kLane; ++c) sums[c] = products(z, keys_ + (done + c) * d_, d_).folded();
      store(weights + done, lane_sums<F>(sums));
    }
    for (; done < rows_; ++done) weights[done] = dot(z, keys_ + done * d_, d_);
    F high = weights[0], sum = 0;
    for (int64_t c = 1; c < rows_; ++c) high = weights[c] > high ? weights[c] : high;
    int64_t c = 0;
    for (; c + kLane <= rows_; c += kLane) store(weights + c, exp_lanes(load(weights + c) - high));
    for (; c < rows_; ++c) weights[c] = exp_lanes(Vector<F>{} + (weights[c] - high))[0];
    for (c = 0; c < rows_; ++c) sum += weights[c];
    for (c = 0; c < rows_; ++c) weights[c] /= sum;
  }

  void weighted_sum(const F* weights, const F* rows, int64_t width, F* to) const {
    for (int64_t i = 0; i < width; i += kLanes<F>) {
      Vector<F> sum = {};
      for (int64_t c = 0; c < rows_; ++c) sum += weights[c] * load(rows + c * width + i);
      store(to + i, sum);
    }
  }

  const SummaryPlan& plan_;
  int level_;
  int64_t b_, g_, summary_tokens_, d_, e_, rows_ = 0;
  const F* latents_;
  F *keys_, *values_, *weights_, *grads_;
};

}  // namespace

template <class T>
int64_t summary_scratch(const SummaryPlan& plan, int level) {
  return Blocks<T>::scratch_bytes(plan, level);
}

template <class T>
void summarise(const SummaryPlan& plan, int level, int64_t b, int64_t g, int64_t begin, int64_t end,
               void* scratch) {
  Blocks<T> blocks(plan, level, b, g, scratch);
  for (int64_t block = begin; block < end; ++block) {
    blocks.load_block(block);
    blocks.summarise(block);
  }
}

template <class T>
void summarise_backward(const SummaryPlan& plan, int level, int64_t b, int64_t g, int64_t begin, int64_t end,
                        void* grad_latents, void* scratch) {
  using F = Accumulate<T>;
  F* grad = as<F>(grad_latents);
  for (int64_t i = 0; i < plan.summary_tokens * plan.d_row; ++i) grad[i] = 0;
  Blocks<T> blocks(plan, level, b, g, scratch);
  for (int64_t block = begin; block < end; ++block) {
    blocks.load_block(block);
    blocks.backward(block, grad);
  }
}

#define MODEWISE_SUMMARY(T)                                                                               \
  template int64_t summary_scratch<T>(const SummaryPlan&, int);                                           \
  template void summarise<T>(const SummaryPlan&, int, int64_t, int64_t, int64_t, int64_t, void*);         \
  template void summarise_backward<T>(const SummaryPlan&, int, int64_t, int64_t, int64_t, int64_t, void*, \
                                      void*);
MODEWISE_SUMMARY(float)
MODEWISE_SUMMARY(double)
MODEWISE_SUMMARY(Half16)

}  // namespace modewise::ops::MODEWISE_ISA
