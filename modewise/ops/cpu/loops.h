#pragma once
// The hot loops, as tables of functions over raw pointers. Each file of loops/ is compiled once for each
// instruction set in a namespace of its own; `loops()` gives the table in use. Those files include nothing
// but each other and plain structs, such as those below: an inline function of a library header, compiled
// there for AVX-512, could otherwise be the copy that the linker keeps for machines without it.

#include <cstdint>

#include "modewise/ops/cpu/gemm_plan.h"
#include "modewise/ops/cpu/step_plan.h"
#include "modewise/ops/cpu/summary_plan.h"

namespace modewise::ops {

/// Storage of a bfloat16.
struct Half16 {
  uint16_t bits;
};

/// out[b, m, f, h, c] = Σ_n a[b, h, m, n] x[b, n, f, h, c], f a fibre (a position of the other modes).
/// Strides in elements. One call of the loop computes sample b, head h and fibres [begin, end) and writes
/// nothing else.
struct ProductPlan {
  const void* x;
  const void* a;
  void* out;
  int64_t rows, cols, width, heads;    // M, N, d, H
  int64_t x_batch, x_mode, x_channel;  // head h begins at channel h·d
  int64_t a_batch, a_head, a_row, a_col;
  int64_t out_batch, out_mode;  // channels are dense
  const int64_t* x_fibre;       // offset of each fibre
  const int64_t* out_fibre;
};

/// out[b, h, m, n] = Σ_{f, c} a[b, m, f, h, c] x[b, n, f, h, c]; one call computes (b, h) rows [begin, end).
struct ContractPlan {
  const void* a;
  const void* x;
  void* out;  // accumulate type, [B, H, M, N] dense
  int64_t rows, cols, width, heads, fibres;
  int64_t a_batch, a_mode, a_channel;
  int64_t x_batch, x_mode, x_channel;
  const int64_t* a_fibre;
  const int64_t* x_fibre;
};

/// Sums of x over all modes but one, for every mode at once. One call handles sample b and channels
/// [begin, end) (at most kPoolChannels), which nobody else writes.
constexpr int64_t kPoolChannels = 64;
constexpr int kMaxModes = 16;
struct PoolPlan {
  const void* x;
  const uint8_t* mask;  // [B, cells] dense, or null
  int modes;
  int64_t channels, cells;
  int64_t size[kMaxModes], stride[kMaxModes];
  int64_t x_batch, x_channel;
  void* out[kMaxModes];          // [B, N_i, D] dense
  const void* scale[kMaxModes];  // accumulate type [B, N_i], or null for 1
};
/// x[b, cell, c] = Σ_i grad_i[b, n_i, c]: one call writes sample b, first index n_1 = `first`.
struct PoolBackwardPlan {
  const void* grad[kMaxModes];  // accumulate type [B, N_i, D] dense, already scaled
  const uint8_t* mask;
  int modes;
  int64_t channels, cells;
  int64_t size[kMaxModes];
  void* out;  // [B, N_1 … N_k, D] dense
};

/// S = softmax(q kᵀ · scale) per (sample, head); rows without a key are 0.
struct ScorePlan {
  const void* q;
  const void* k;
  int64_t n, m, width, heads;              // n queries, m keys
  int64_t q_batch, q_row, k_batch, k_row;  // channels are dense
  const uint8_t* key_mask;                 // [B, m], or [B, H, m] if per head, dense; or null
  bool key_mask_per_head;
  const uint8_t* mode_mask;  // [n, m] dense or null
  double scale;
  void* scores;      // [B, H, n, m] dense
  const void* grad;  // backward only: of the scores, [B, H, n, m] dense
  void* grad_q;      // [B, n, H·d] dense
  void* grad_k;      // [B, m, H·d] dense
};

/// Weights exp(scale · s − t) of rows of scores s, t the largest scale · s of a row, and their sums.
struct WeightPlan {
  void* scores;   // accumulate type [rows, keys] dense, changed
  void* weights;  // as scores; those themselves where the types are the same
  void* sums;     // accumulate type [rows]
  int64_t keys;
  double scale;
};
/// Keys that a row sees: the first `count`, of these where a mask keeps them (every `step`-th byte; null:
/// all).
struct SeenKeys {
  int64_t count;
  const uint8_t* mask;
  int64_t step;
};

struct DropoutPlan {
  uint32_t key[2], step, site, threshold;
  double scale;
  uint64_t first_group = 0;  // of 64 elements, that the first element belongs to
};

struct NormPlan {
  const void* x;         // [rows, D] dense
  const void* residual;  // fused dropout_add before the norm; null: none
  void* sum;             // residual + dropout(x); null: no fusion, x itself is normed
  const void* weight;    // accumulate type [D] or null
  const void* bias;
  void* out;
  void* mean;  // accumulate type [rows]
  void* rstd;
  int64_t channels;
  double eps;
  bool centred;         // false: no mean is taken off (RMS norm), `mean` is not written
  DropoutPlan dropout;  // threshold 0: none
};
struct NormBackwardPlan {
  const void* grad;
  const void* grad_sum;  // further gradient added to that of x, or null
  const void* x;
  const void* mean;
  const void* rstd;
  const void* weight;
  void* grad_x;
  int64_t channels;
  bool centred;  // as in NormPlan; `mean` may be null where it is false
};

/// Batch normalisation of x [rows, C], dense. What there is of each channel, and sums, are of the accumulate
/// type.
struct BatchNormPlan {
  const void* x;
  const void* grad;    // [rows, C], backward only
  const void* mean;    // [C], as those below
  const void* factor;  // weight / deviation
  const void* shift;   // bias; backward: mean of grad
  const void* slope;   // backward: mean of grad · (x − mean), over the variance
  void* out;           // as x
  int64_t channels;
};

/// The numbers of one Adam update, rounded to the parameter's type (adam_step.h).
template <class T>
struct AdamPlan {
  T gradient_scale, keep, added_decay, beta1_rest, beta2, beta2_rest, step_size, root_scale, epsilon;
};

/// T is the type in memory, sums are float (double for double). Scratch is counted in bytes.
template <class T>
struct ProductLoops {
  /// Heads that one call of `product` computes; they divide H.
  int64_t (*product_heads)(const ProductPlan&);
  int64_t (*product_scratch)(const ProductPlan&);
  void (*product)(const ProductPlan&, int64_t b, int64_t h, int64_t begin, int64_t end, void* scratch);
  /// The same with a factor in the accumulate type.
  void (*product_wide)(const ProductPlan&, int64_t b, int64_t h, int64_t begin, int64_t end, void* scratch);
  int64_t (*contract_scratch)(const ContractPlan&);
  void (*contract)(const ContractPlan&, int64_t b, int64_t h, int64_t begin, int64_t end, void* scratch);
};
template <class T>
struct PoolLoops {
  int64_t (*scratch)(const PoolPlan&);
  void (*pool)(const PoolPlan&, int64_t b, int64_t begin, int64_t end, void* scratch);
  void (*backward)(const PoolBackwardPlan&, int64_t b, int64_t first, void* scratch);
};
template <class T>
struct ScoreLoops {
  int64_t (*scratch)(const ScorePlan&, bool backward);
  void (*forward)(const ScorePlan&, int64_t b, int64_t h, void* scratch);
  void (*backward)(const ScorePlan&, int64_t b, int64_t h, void* scratch);
  /// Weights of one row; of keys that are not seen 0. A row without any becomes NaN.
  void (*weigh)(const WeightPlan&, int64_t row, const SeenKeys&);
};
template <class T>
struct ElementLoops {
  /// Elements [begin, end), begin a multiple of 64; residual may be null.
  void (*dropout_add)(const DropoutPlan&, const T* x, const T* residual, T* out, int64_t begin, int64_t end);
  void (*norm)(const NormPlan&, int64_t begin, int64_t end);
  /// Rows [begin, end) in order; adds their part of the weight and bias gradients to grad_weight, grad_bias
  /// [D] (accumulate type, null: not wanted).
  void (*norm_backward)(const NormBackwardPlan&, int64_t begin, int64_t end, void* grad_weight,
                        void* grad_bias);
  /// Elements [begin, end) of parameter, gradient and moments. Null for bfloat16: no parameter is that
  /// narrow.
  void (*adam_step)(const AdamPlan<T>&, T* parameter, const T* gradient, T* first, T* second, int64_t begin,
                    int64_t end);
};
/// Rows [begin, end), 16 of them summed up on their own at a time, in order.
template <class T>
struct BatchNormLoops {
  /// Adds Σ x to sums [C].
  void (*sums)(const BatchNormPlan&, int64_t begin, int64_t end, void* sums);
  /// Adds Σ (x − centre)² to sums [C], centre [C].
  void (*squares)(const BatchNormPlan&, const void* centre, int64_t begin, int64_t end, void* sums);
  /// out = (x − mean) · factor + shift.
  void (*normalise)(const BatchNormPlan&, int64_t begin, int64_t end);
  /// Adds Σ grad to sums [0, C), Σ grad · (x − mean) to sums [C, 2C).
  void (*gradient_sums)(const BatchNormPlan&, int64_t begin, int64_t end, void* sums);
  /// out = (grad − shift − (x − mean) · slope) · factor.
  void (*gradient)(const BatchNormPlan&, int64_t begin, int64_t end);
};
/// Rows [begin, end) of x [rows, C] -> out [rows, M]: silu of the first M channels times the last M (C = 2M),
/// or gelu of each (C = M).
template <class T>
using Activation = void (*)(const T* x, T* out, int64_t begin, int64_t end, int64_t m);
/// grad [rows, M] -> grad_x [rows, C]; and out again, where it is not null.
template <class T>
using ActivationBackward = void (*)(const T* grad, const T* x, T* grad_x, T* out, int64_t begin, int64_t end,
                                    int64_t m);
template <class T>
struct ActivationLoops {
  Activation<T> swiglu;
  ActivationBackward<T> swiglu_backward;
  Activation<T> gelu;
  ActivationBackward<T> gelu_backward;
  void (*exp)(const T* x, T* out, int64_t count);
};
template <class T>
struct TensorLoops {
  const ProductLoops<T>* product;
  const PoolLoops<T>* pool;
  const ScoreLoops<T>* score;
  const ElementLoops<T>* element;
  const BatchNormLoops<T>* batch_norm;
  const ActivationLoops<T>* activation;
  const SummaryLoops<T>* summary;
  const StepLoops<T>* step;
  const GemmLoops<T>* gemm;
};

struct Loops {
  const char* name;
  TensorLoops<float> f32;
  TensorLoops<double> f64;
  TensorLoops<Half16> bf16;

  template <class T>
  const TensorLoops<T>& of() const {
    if constexpr (sizeof(T) == 8)
      return f64;
    else if constexpr (sizeof(T) == 4)
      return f32;
    else
      return bf16;
  }
};

/// The table in use (kernel_info.h says how it is chosen).
const Loops& loops();

}  // namespace modewise::ops
