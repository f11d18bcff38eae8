// Tiled attention of summary_attention (as in FlashAttention). A tile is a few query tokens of one head in
// the same block of level 2; its keys are segments of rows: the window, the first tokens, and the summary
// tokens of each level visible to some token of the tile. Logits are stored transposed, [key][query], so that
// a softmax works on whole vectors and only the tile's queries need packing. Everything of a (sample, key
// head, strip or chunk) is computed by one thread in a fixed order.

#include "modewise/ops/cpu/loops/strip.h"
#include "modewise/ops/cpu/loops/tile_gemm.h"
#include "modewise/ops/cpu/loops/transpose.h"
#include "modewise/ops/cpu/loops/vector.h"
#include "modewise/ops/cpu/loops/vector_math.h"

namespace modewise::ops::MODEWISE_ISA {

// Gradient reduction.
template <class T>
void gather_tokens(const SummaryPlan& plan, int64_t b, int64_t g, int64_t first, int64_t last);
template <class T>
void gather_summaries(const SummaryPlan& plan, int level, int64_t b, int64_t g);
template <class T>
void store_tokens(const SummaryPlan& plan, int64_t b, int64_t g, int64_t first, int64_t last);

// Block summaries.
template <class T>
int64_t summary_scratch(const SummaryPlan& plan, int level);
template <class T>
void summarise(const SummaryPlan& plan, int level, int64_t b, int64_t g, int64_t begin, int64_t end,
               void* scratch);
template <class T>
void summarise_backward(const SummaryPlan& plan, int level, int64_t b, int64_t g, int64_t begin, int64_t end,
                        void* grad_latents, void* scratch);

namespace {

template <class F>
constexpr int64_t kTile = 2 * kLanes<F>;
template <class F>
constexpr F kHidden = -__builtin_inff();

inline float log_of(float x) {
  return __builtin_logf(x);
}
inline double log_of(double x) {
  return __builtin_log(x);
}

/// Keys of one kind of a tile: `count` rows of `keys` and `values`, compared with the query of level `query`.
template <class F>
struct Segment {
  const F* keys;
  const F* values;
  int64_t count;
  int query;
  F *grad_keys, *grad_values;
};

template <class T>
class Strip {
 public:
  using F = Accumulate<T>;
  static constexpr int64_t kRows = kTile<F>;

  Strip(const SummaryPlan& plan, int64_t b, int64_t g, void* scratch, bool backward)
      : plan_(plan), b_(b), g_(g), d_(plan.d_row), e_(plan.e_row), half_(plan.d / 2) {
    const Sizes sizes(plan);
    F* at = as<F>(scratch);
    const auto take = [&](int64_t count) {
      F* block = at;
      at += count;
      return block;
    };
    keys_ = take(sizes.tokens * d_);
    values_ = take(sizes.tokens * e_);
    sink_keys_ = take(plan.sinks * d_);
    sink_values_ = take(plan.sinks * e_);
    summary_keys_ = take(sizes.summary_tokens * d_);
    queries_ = take(sizes.queries * kRows * d_);
    columns_ = take(kRows * d_);
    logits_ = take(sizes.keys * kRows);
    out_ = take(kRows * e_);
    if (!backward) return;
    grad_logits_ = take(sizes.keys * kRows);
    grad_rows_ = take(kRows * e_);
    grad_columns_ = take(kRows * e_);
    grad_query_ = take(kRows * d_);
    total_ = take(kRows * d_);
  }

  static int64_t scratch_bytes(const SummaryPlan& plan, bool backward) {
    const Sizes sizes(plan);
    const int64_t d = plan.d_row, e = plan.e_row;
    int64_t count = (sizes.tokens + plan.sinks) * (d + e) + sizes.summary_tokens * d +
                    (sizes.queries + 1) * kRows * d + sizes.keys * kRows + kRows * e;
    if (backward) count += sizes.keys * kRows + 2 * kRows * (d + e);
    return (count + 64) * static_cast<int64_t>(sizeof(F));
  }

  /// Loads the keys of tokens [first, last) and of visible summary tokens, rotated.
  void load_keys(int64_t first, int64_t last) {
    first_key_ = maximum(0, first - plan_.window + 1);
    base_ = code_base(plan_, first / plan_.chunk);
    const T* k = token_row(plan_.k, plan_.k_batch, plan_.k_head);
    const T* v = token_row(plan_.v, plan_.v_batch, plan_.v_head);
    for (int64_t s = first_key_; s < last; ++s) {
      F* key = keys_ + (s - first_key_) * d_;
      // Rows of one head are far apart, so the hardware prefetcher misses them.
      fetch_row(k + (s + kAhead) * plan_.k_row, plan_.d, s + kAhead < last);
      fetch_row(v + (s + kAhead) * plan_.v_row, plan_.e, s + kAhead < last);
      widen_row(k + s * plan_.k_row, plan_.d, d_, key);
      if (plan_.cosine != nullptr) turn_row(key, cosine(s), sine(s), half_, F{1}, key);
      widen_row(v + s * plan_.v_row, plan_.e, e_, values_ + (s - first_key_) * e_);
    }
    for (int64_t s = 0; s < minimum(plan_.sinks, plan_.n); ++s) {
      widen_row(k + s * plan_.k_row, plan_.d, d_, sink_keys_ + s * d_);
      widen_row(v + s * plan_.v_row, plan_.e, e_, sink_values_ + s * e_);
    }
    F* to = summary_keys_;
    for (int l = 0; l < plan_.levels; ++l) {
      const SummaryLevel& level = plan_.level[l];
      first_block_[l] = first / level.tokens / level.siblings * level.siblings;
      rotated_[l] = to;
      const int64_t end = (last - 1) / level.tokens;
      const F* from = summary_row(level.keys, l, first_block_[l], d_);
      for (int64_t block = first_block_[l]; block < end; ++block) {
        const int64_t place = block % level.siblings;
        for (int64_t s = 0; s < plan_.summary_tokens; ++s, from += d_, to += d_) {
          for (int64_t c = 0; c < d_; ++c) to[c] = from[c];
          if (level.cosine != nullptr)
            turn_row(from, as<F>(level.cosine) + place * half_, as<F>(level.sine) + place * half_, half_,
                     F{1}, to);
        }
      }
    }
  }

  int64_t tile_end(int64_t from, int64_t last) const {
    int64_t end = minimum(from + kRows, last);
    if (plan_.levels > 1) end = minimum(end, (from / plan_.level[1].tokens + 1) * plan_.level[1].tokens);
    return end;
  }

  void forward(int64_t h, int64_t from, int64_t end) {
    open_tile(h, from, end);
    write_logits();
    for (int64_t m = 0; m < rows_; ++m) {
      F* row = out_ + m * e_;
      for (int64_t c = 0; c < e_; ++c) row[c] = 0;
    }
    Vector<F> sums[2];
    softmax(sums);
    const F* weights = logits_;
    for (int i = 0; i < segments_; ++i) {
      const Segment<F>& s = segment_[i];
      gemm<F, true>(weights, 1, kRows, rows_, s.count, s.values, e_, e_, out_, e_);
      weights += s.count * kRows;
    }
    F sum[kRows];
    store(sum, sums[0]);
    store(sum + kLanes<F>, sums[1]);
    T* out = as<T>(plan_.out) + ((b_ * plan_.n + from) * plan_.heads + h) * plan_.e;
    for (int64_t m = 0; m < rows_; ++m, out += plan_.heads * plan_.e) {
      const F inverse = 1 / sum[m];
      for (int64_t c = 0; c < plan_.e; ++c) out[c] = narrow<T>(out_[m * e_ + c] * inverse);
    }
  }

  void open_chunk(int64_t chunk) { chunk_ = chunk; }

  void backward(int64_t h, int64_t from, int64_t end) {
    open_tile(h, from, end);
    write_logits();
    F sum[kRows], delta[kRows];
    load_gradient(h, delta, sum);
    for (int64_t i = 0; i < kRows * d_; ++i) total_[i] = 0;
    F *weights = logits_, *grads = grad_logits_;
    for (int i = 0; i < segments_; ++i) {
      const Segment<F>& s = segment_[i];
      gemm<F, false>(s.values, e_, 1, s.count, plan_.e, grad_columns_, kRows, kRows, grads, kRows);
      for (int64_t j = 0; j < s.count; ++j) {
        for (int64_t lane = 0; lane < kRows; lane += kLanes<F>) {
          const Vector<F> p = exp_lanes(load(weights + j * kRows + lane) - load(sum + lane));
          store(weights + j * kRows + lane, p);
          store(grads + j * kRows + lane, p * (load(grads + j * kRows + lane) - load(delta + lane)));
        }
      }
      const F* query = queries_ + s.query * kRows * d_;
      gemm<F, true>(grads, kRows, 1, s.count, rows_, query, d_, d_, s.grad_keys, d_);
      gemm<F, true>(weights, kRows, 1, s.count, rows_, grad_rows_, e_, e_, s.grad_values, e_);
      gemm<F, false>(grads, 1, kRows, rows_, s.count, s.keys, d_, d_, grad_query_, d_);
      add_query_gradient(s.query);
      weights += s.count * kRows;
      grads += s.count * kRows;
    }
    T* to = as<T>(plan_.grad_q) + ((b_ * plan_.n + from) * plan_.heads + h) * plan_.d;
    for (int64_t m = 0; m < rows_; ++m, to += plan_.heads * plan_.d)
      for (int64_t c = 0; c < plan_.d; ++c) to[c] = narrow<T>(total_[m * d_ + c]);
  }

 private:
  struct Sizes {
    int64_t tokens, summary_tokens = 0, keys, queries;
    explicit Sizes(const SummaryPlan& plan) {
      tokens = minimum(plan.strip, plan.n) + minimum(plan.window, plan.n);
      keys = minimum(plan.window + kRows, plan.n + kRows) + plan.sinks;
      for (int l = 0; l < plan.levels; ++l) {
        const SummaryLevel& level = plan.level[l];
        // A strip needs the groups that it overlaps, from the start of the first.
        const int64_t in_strip = plan.strip / level.tokens + 2;
        summary_tokens += minimum(level.finished, level.siblings + in_strip) * plan.summary_tokens;
        keys += minimum(level.finished, level.siblings) * plan.summary_tokens;
      }
      queries = plan.levels + 2;
    }
  };

  const T* token_row(const void* x, int64_t batch, int64_t head) const {
    return as<T>(x) + b_ * batch + g_ * head;
  }
  F* summary_row(void* x, int level, int64_t block, int64_t row) const {
    const int64_t finished = plan_.level[level].finished;
    return as<F>(x) + ((b_ * plan_.kv_heads + g_) * finished + block) * plan_.summary_tokens * row;
  }
  const F* cosine(int64_t token) const { return as<F>(plan_.cosine) + (token - base_) * half_; }
  const F* sine(int64_t token) const { return as<F>(plan_.sine) + (token - base_) * half_; }

  static constexpr int64_t kAhead = 12;
  static void fetch_row(const T* row, int64_t width, bool there) {
    if (!there) return;
    for (int64_t i = 0; i < width; i += 64 / static_cast<int64_t>(sizeof(T))) __builtin_prefetch(row + i);
  }

  static void widen_row(const T* from, int64_t width, int64_t padded, F* to) {
    for (int64_t i = 0; i < width; ++i) to[i] = widen(from[i]);
    for (int64_t i = width; i < padded; ++i) to[i] = 0;
  }

  /// Rotation of query `from_ + m` at a level; false without rotary embedding.
  bool query_code(int level, int64_t m, const F*& cos_row, const F*& sin_row) const {
    const int64_t token = from_ + m;
    if (plan_.cosine == nullptr) return false;
    if (level == 0) {
      cos_row = cosine(token), sin_row = sine(token);
    } else if (level > plan_.levels) {
      cos_row = as<F>(plan_.far_cosine), sin_row = as<F>(plan_.far_sine);
    } else {
      const SummaryLevel& own = plan_.level[level - 1];
      const int64_t place = token / own.tokens % own.siblings;
      cos_row = as<F>(own.cosine) + place * half_, sin_row = as<F>(own.sine) + place * half_;
    }
    return true;
  }

  F query_scale(int level) const {
    return static_cast<F>(plan_.query_scale[level > plan_.levels ? 0 : level]);
  }

  void open_tile(int64_t h, int64_t from, int64_t end) {
    h_ = h, from_ = from, rows_ = end - from;
    segments_ = 0;
    const int64_t first = maximum(0, from - plan_.window + 1);
    add_window(first, end);
    const int64_t sinks = minimum(plan_.sinks, end - plan_.window);
    if (sinks > 0) {
      const int64_t row = ((b_ * plan_.kv_heads + g_) * plan_.chunks + chunk_) * plan_.sinks;
      add_segment(sink_keys_, sink_values_, sinks, plan_.levels + 1, plan_.sink_k, plan_.sink_v, row);
    }
    for (int l = 0; l < plan_.levels; ++l) {
      const SummaryLevel& level = plan_.level[l];
      const int64_t group = from / level.tokens / level.siblings * level.siblings;
      const int64_t count = ((end - 1) / level.tokens - group) * plan_.summary_tokens;
      if (count == 0) continue;
      int64_t row = 0;
      if (plan_.part_row != nullptr) {
        const int64_t entry = chunk_ * plan_.levels + l;
        row = (b_ * plan_.kv_heads + g_) * plan_.part_rows + plan_.part_row[entry] +
              (group - plan_.part_first[entry]) * plan_.summary_tokens;
      }
      add_segment(rotated_[l] + (group - first_block_[l]) * plan_.summary_tokens * d_,
                  summary_row(level.values, l, group, e_), count, l + 1, plan_.part_k, plan_.part_v, row);
    }
    load_queries();
  }

  void add_segment(const F* keys, const F* values, int64_t count, int query, void* grad_k, void* grad_v,
                   int64_t row) {
    segment_[segments_++] = {keys,
                             values,
                             count,
                             query,
                             grad_k == nullptr ? nullptr : as<F>(grad_k) + row * d_,
                             grad_v == nullptr ? nullptr : as<F>(grad_v) + row * e_};
  }

  // Gradients of tokens before the chunk go to its halo, so that no two chunks write the same rows.
  void add_window(int64_t first, int64_t end) {
    const int64_t border =
        plan_.sum_k == nullptr ? first : minimum(maximum(chunk_ * plan_.chunk, first), end);
    const int64_t head = b_ * plan_.kv_heads + g_;
    const auto add = [&](int64_t begin, int64_t stop, void* grad_k, void* grad_v, int64_t row) {
      if (stop > begin)
        add_segment(keys_ + (begin - first_key_) * d_, values_ + (begin - first_key_) * e_, stop - begin, 0,
                    grad_k, grad_v, row);
    };
    const int64_t halo = plan_.window - 1, halo_first = chunk_ * plan_.chunk - halo;
    add(first, border, plan_.halo_k, plan_.halo_v,
        (head * plan_.chunks + chunk_) * halo + first - halo_first);
    add(border, end, plan_.sum_k, plan_.sum_v, head * plan_.n + border);
  }

  void load_queries() {
    const T* q = as<T>(plan_.q) + b_ * plan_.q_batch + from_ * plan_.q_row + h_ * plan_.q_head;
    for (int64_t m = rows_; m < 2 * rows_; ++m)  // prefetches the next tile
      fetch_row(q + m * plan_.q_row, plan_.d, from_ + m < plan_.n);
    F* raw = columns_;
    int loaded = -1;
    for (int i = 0; i < segments_; ++i) {
      const int level = segment_[i].query;
      if (level == loaded) continue;
      loaded = level;
      F* rows = queries_ + level * kRows * d_;
      const F scale = query_scale(level);
      for (int64_t m = 0; m < rows_; ++m) {
        widen_row(q + m * plan_.q_row, plan_.d, d_, raw);
        const F *cos_row = nullptr, *sin_row = nullptr;
        F* row = rows + m * d_;
        for (int64_t c = plan_.d; c < d_; ++c) row[c] = 0;
        if (query_code(level, m, cos_row, sin_row))
          turn_row(raw, cos_row, sin_row, half_, scale, row);
        else
          for (int64_t c = 0; c < plan_.d; ++c) row[c] = raw[c] * scale;
      }
    }
  }

  // Transposes rows [count, width] to columns [width, kRows], zero-padded; width in whole vectors.
  static void transpose(const F* rows, int64_t count, int64_t width, F* columns) {
    constexpr int64_t kLane = kLanes<F>;
    for (int64_t first = 0; first < kRows; first += kLane) {
      for (int64_t c = 0; c < width; c += kLane) {
        Vector<F> block[kLane];
        for (int64_t m = 0; m < kLane; ++m)
          block[m] = first + m < count ? load(rows + (first + m) * width + c) : Vector<F>{};
        transpose_lanes<F>(block);
        for (int64_t m = 0; m < kLane; ++m) store(columns + (c + m) * kRows + first, block[m]);
      }
    }
  }

  void write_logits() {
    F* to = logits_;
    int loaded = -1;
    for (int i = 0; i < segments_; ++i) {
      const Segment<F>& s = segment_[i];
      if (s.query != loaded) transpose(queries_ + s.query * kRows * d_, rows_, d_, columns_);
      loaded = s.query;
      gemm<F, false>(s.keys, d_, 1, s.count, plan_.d, columns_, kRows, kRows, to, kRows);
      if (s.query == 0)
        hide_window(from_key(s), s.count, to);
      else if (s.query > plan_.levels)
        hide_sinks(s.count, to);
      else if (s.query == 1)
        hide_summaries(s.count, to);
      if (s.query > 0 && s.query <= plan_.levels) keep_share(plan_.level[s.query - 1], s.count, to);
      to += s.count * kRows;
    }
    total_keys_ = (to - logits_) / kRows;
  }

  int64_t from_key(const Segment<F>& s) const { return first_key_ + (s.keys - keys_) / d_; }

  // Sliding-window mask: key s is visible to tokens s … s + window − 1.
  void hide_window(int64_t first, int64_t count, F* logits) const {
    const int64_t partial =
        from_ + rows_ - plan_.window;  // keys before it are outside the last query's window
    for (int64_t j = 0; j < count; ++j) {
      const int64_t key = first + j;
      if (key >= partial && key <= from_) continue;
      F* row = logits + j * kRows;
      for (int64_t m = 0; m < minimum(key - from_, kRows); ++m) row[m] = kHidden<F>;
      for (int64_t m = maximum(key + plan_.window - from_, 0); m < rows_; ++m) row[m] = kHidden<F>;
    }
  }
  void hide_sinks(int64_t count, F* logits) const {
    for (int64_t s = 0; s < count; ++s)
      for (int64_t m = 0; m < minimum(s + plan_.window - from_, kRows); ++m)
        logits[s * kRows + m] = kHidden<F>;
  }
  // Summary tokens of a block are visible to tokens after its end.
  void hide_summaries(int64_t count, F* logits) const {
    const SummaryLevel& level = plan_.level[0];
    const int64_t group = from_ / level.tokens / level.siblings * level.siblings;
    const int64_t first = maximum(from_ / level.tokens - group, 0);
    for (int64_t j = first * plan_.summary_tokens; j < count; ++j) {
      const int64_t behind = (group + j / plan_.summary_tokens + 1) * level.tokens - from_;
      for (int64_t m = 0; m < minimum(behind, kRows); ++m) logits[j * kRows + m] = kHidden<F>;
    }
  }

  // Subtracts FoldLevel::excess for each token.
  void keep_share(const SummaryLevel& level, int64_t count, F* logits) const {
    if (level.known == 0 || (from_ + rows_ - 1) / level.tokens <= level.known) return;
    F excess[kRows] = {};
    for (int64_t m = 0; m < rows_; ++m) {
      const int64_t seen = (from_ + m) / level.tokens;
      if (m > 0 && (from_ + m) % level.tokens != 0)
        excess[m] = excess[m - 1];  // same block
      else if (seen > level.known)
        excess[m] = log_of(static_cast<F>(seen) / static_cast<F>(level.known));
    }
    for (int64_t i = 0; i < count * kRows; i += kLanes<F>)
      store(logits + i, load(logits + i) - load(excess + i % kRows));
  }

  // Converts logits to softmax numerators; computes their sums and the logsumexp.
  void softmax(Vector<F>* sums) {
    constexpr int64_t kLane = kLanes<F>;
    for (int half = 0; half < 2; ++half) {
      F* column = logits_ + half * kLane;
      Vector<F> high = load(column);
      for (int64_t j = 1; j < total_keys_; ++j) {
        const Vector<F> x = load(column + j * kRows);
        high = high < x ? x : high;
      }
      // Columns after the last query have no keys.
      high = high > kHidden<F> ? high : Vector<F>{};
      Vector<F> sum = {};
      for (int64_t j = 0; j < total_keys_; ++j) {
        const Vector<F> p = exp_lanes(load(column + j * kRows) - high);
        store(column + j * kRows, p);
        sum += p;
      }
      sums[half] = sum;
      F* to = as<F>(plan_.logsumexp) + (b_ * plan_.heads + h_) * plan_.n + from_;
      for (int64_t lane = 0; lane < kLane; ++lane)
        if (half * kLane + lane < rows_) to[half * kLane + lane] = high[lane] + log_of(sum[lane]);
    }
  }

  // Loads the output gradient by rows and by columns; delta = Σ_c grad · out.
  void load_gradient(int64_t h, F* delta, F* logsumexp) {
    const int64_t first = ((b_ * plan_.n + from_) * plan_.heads + h) * plan_.e;
    const T *grad = as<T>(plan_.grad) + first, *out = as<T>(plan_.out) + first;
    const F* sums = as<F>(plan_.logsumexp) + (b_ * plan_.heads + h) * plan_.n + from_;
    for (int64_t m = 0; m < kRows; ++m) delta[m] = 0, logsumexp[m] = m < rows_ ? sums[m] : F{0};
    for (int64_t m = 0; m < rows_; ++m, grad += plan_.heads * plan_.e, out += plan_.heads * plan_.e) {
      widen_row(grad, plan_.e, e_, grad_rows_ + m * e_);
      for (int64_t c = 0; c < plan_.e; ++c) delta[m] = fused(grad_rows_[m * e_ + c], widen(out[c]), delta[m]);
    }
    transpose(grad_rows_, rows_, e_, grad_columns_);
  }

  // grad_query_ is the gradient of queries rotated and scaled for `level`.
  void add_query_gradient(int level) {
    const F scale = query_scale(level);
    for (int64_t m = 0; m < rows_; ++m) {
      F* row = grad_query_ + m * d_;
      const F *cos_row = nullptr, *sin_row = nullptr;
      if (query_code(level, m, cos_row, sin_row)) turn_row<F, true>(row, cos_row, sin_row, half_, F{1}, row);
      for (int64_t c = 0; c < d_; c += kLanes<F>)
        store(total_ + m * d_ + c, load(total_ + m * d_ + c) + load(row + c) * scale);
    }
  }

  const SummaryPlan& plan_;
  int64_t b_, g_, d_, e_, half_;
  F *keys_, *values_, *sink_keys_, *sink_values_, *summary_keys_, *queries_, *columns_, *logits_, *out_;
  F *grad_logits_ = nullptr, *grad_rows_ = nullptr, *grad_columns_ = nullptr, *grad_query_ = nullptr,
    *total_ = nullptr;
  F* rotated_[kMaxLevels] = {};
  int64_t first_block_[kMaxLevels] = {};
  int64_t first_key_ = 0, base_ = 0, chunk_ = 0, h_ = 0, from_ = 0, rows_ = 0, total_keys_ = 0;
  Segment<F> segment_[kMaxLevels + 3];
  int segments_ = 0;
};

template <class T>
int64_t attend_scratch(const SummaryPlan& plan, bool backward) {
  return Strip<T>::scratch_bytes(plan, backward);
}

template <class T>
void attend(const SummaryPlan& plan, int64_t b, int64_t g, int64_t first, int64_t last, void* scratch) {
  Strip<T> strip(plan, b, g, scratch, false);
  strip.load_keys(first, last);
  const int64_t repeats = plan.heads / plan.kv_heads;
  for (int64_t h = g * repeats; h < (g + 1) * repeats; ++h)
    for (int64_t from = first, end; from < last; from = end) {
      end = strip.tile_end(from, last);
      strip.forward(h, from, end);
    }
}

template <class T>
void attend_backward(const SummaryPlan& plan, int64_t b, int64_t g, int64_t chunk, void* scratch) {
  Strip<T> strip(plan, b, g, scratch, true);
  strip.open_chunk(chunk);
  const int64_t repeats = plan.heads / plan.kv_heads, stop = minimum((chunk + 1) * plan.chunk, plan.n);
  for (int64_t first = chunk * plan.chunk; first < stop; first += plan.strip) {
    const int64_t last = minimum(first + plan.strip, stop);
    strip.load_keys(first, last);
    for (int64_t h = g * repeats; h < (g + 1) * repeats; ++h)
      for (int64_t from = first, end; from < last; from = end) {
        end = strip.tile_end(from, last);
        strip.backward(h, from, end);
      }
  }
}

template <class T>
constexpr SummaryLoops<T> loops_of() {
  return {summary_scratch<T>, summarise<T>,        attend_scratch<T>,     attend<T>,      attend_backward<T>,
          gather_tokens<T>,   gather_summaries<T>, summarise_backward<T>, store_tokens<T>};
}

}  // namespace

extern constexpr SummaryLoops<float> summary_f32 = loops_of<float>();
extern constexpr SummaryLoops<double> summary_f64 = loops_of<double>();
extern constexpr SummaryLoops<Half16> summary_bf16 = loops_of<Half16>();

}  // namespace modewise::ops::MODEWISE_ISA
