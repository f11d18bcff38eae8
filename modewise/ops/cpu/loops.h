#pragma once
// Inner loops of the CPU kernels, as function tables over raw pointers. Each file of loops/ is compiled once
// per instruction set in its own namespace; `loops()` returns the active table. Those files include only each
// other and plain structs such as those below: an inline function of a library header, compiled there for
// AVX-512, could otherwise be the copy that the linker keeps for all machines.

#include <cstdint>

#include "modewise/ops/cpu/gemm_plan.h"
#include "modewise/ops/cpu/step_plan.h"
#include "modewise/ops/cpu/summary_plan.h"

namespace modewise::ops {

/// Storage type of bfloat16.
struct Half16 {
  uint16_t bits;
};

/// Mode product: out[b, m, f, h, c] = Σ_n a[b, h, m, n] x[b, n, f, h, c], f a fibre (a position of the other
/// modes). Strides in elements. One call computes sample b, head h and fibres [begin, end) and writes nothing
/// else.
struct ProductPlan {
  const void* x;
  const void* a;
  void* out;
  int64_t rows, cols, width, heads;    // M, N, d, H
  int64_t x_batch, x_mode, x_channel;  // head h begins at channel h·d
  int64_t a_batch, a_head, a_row, a_col;
  int64_t out_batch, out_mode;  // channels are contiguous
  const int64_t* x_fibre;       // offset of each fibre
  const int64_t* out_fibre;
};

/// out[b, h, m, n] = Σ_{f, c} a[b, m, f, h, c] x[b, n, f, h, c]; one call computes (b, h) rows [begin, end).
struct ContractPlan {
  const void* a;
  const void* x;
  void* out;  // accumulate type, [B, H, M, N] contiguous
  int64_t rows, cols, width, heads, fibres;
  int64_t a_batch, a_mode, a_channel;
  int64_t x_batch, x_mode, x_channel;
  const int64_t* a_fibre;
  const int64_t* x_fibre;
};

/// Mode pooling: sums of x over all modes but one, for every mode at once. One call computes sample b and
/// channels [begin, end) (at most kPoolChannels), which no other call writes.
constexpr int64_t kPoolChannels = 64;
constexpr int kMaxModes = 16;
struct PoolPlan {
  const void* x;
  const uint8_t* mask;  // [B, cells] contiguous, or null
  int modes;
  int64_t channels, cells;
  int64_t size[kMaxModes], stride[kMaxModes];
  int64_t x_batch, x_channel;
  void* out[kMaxModes];          // [B, N_i, D] contiguous
  const void* scale[kMaxModes];  // accumulate type [B, N_i], or null for 1
};
/// x[b, cell, c] = Σ_i grad_i[b, n_i, c]: one call writes sample b, first index n_1 = `first`.
struct PoolBackwardPlan {
  const void* grad[kMaxModes];  // accumulate type [B, N_i, D] contiguous, already scaled
  const uint8_t* mask;
  int modes;
  int64_t channels, cells;
  int64_t size[kMaxModes];
  void* out;  // [B, N_1 … N_k, D] contiguous
};

/// S = softmax(q kᵀ · scale) per (sample, head); rows without a key are 0.
struct ScorePlan {
  const void* q;
  const void* k;
  int64_t n, m, width, heads;              // n queries, m keys
  int64_t q_batch, q_row, k_batch, k_row;  // channels are contiguous
  const uint8_t* key_mask;                 // [B, m], or [B, H, m] if per head, contiguous; or null
  bool key_mask_per_head;
  const uint8_t* mode_mask;  // [n, m] contiguous or null
  double scale;
  void* scores;      // [B, H, n, m] contiguous
  const void* grad;  // backward only: of the scores, [B, H, n, m] contiguous
  void* grad_q;      // [B, n, H·d] contiguous
  void* grad_k;      // [B, m, H·d] contiguous
};

/// Softmax numerators exp(scale · s − t) of rows of scores s, t the row maximum, and the denominators; 0 and
/// 1 for a row without any key.
struct WeightPlan {
  void* scores;   // accumulate type [rows, keys] contiguous, changed
  void* weights;  // like scores; scores itself where the types are equal
  void* sums;     // accumulate type [rows]
  int64_t keys;
  double scale;
};
/// Keys of a row: the first `count`, restricted by a mask (every `step`-th byte; null: all).
struct SeenKeys {
  int64_t count;
  const uint8_t* mask;
  int64_t step;
};

struct DropoutPlan {
  uint32_t key[2], step, site, threshold;
  double scale;
  uint64_t first_group = 0;  // group of 64 elements that contains the first element
};

struct NormPlan {
  const void* x;         // [rows, D] contiguous
  const void* residual;  // fused dropout_add before the norm; null: none
  void* sum;             // residual + dropout(x); null: no fusion, x itself is normalised
  const void* weight;    // accumulate type [D] or null
  const void* bias;
  void* out;
  void* mean;  // accumulate type [rows]
  void* rstd;
  int64_t channels;
  double eps;
  bool centred;         // false: the mean is not subtracted (RMS norm), `mean` is not written
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

/// Batch normalisation of x [rows, C], contiguous. Per-channel values and sums have the accumulate type.
struct BatchNormPlan {
  const void* x;
  const void* grad;    // [rows, C], backward only
  const void* mean;    // [C], like those below
  const void* factor;  // weight / standard deviation
  const void* shift;   // bias; backward: mean of grad
  const void* slope;   // backward: mean of grad · (x − mean), over the variance
  void* out;           // as x
  int64_t channels;
};

/// Parameters of one Adam update, rounded to the parameter's dtype (adam_step.h).
template <class T>
struct AdamPlan {
  T gradient_scale, keep, added_decay, beta1_rest, beta2, beta2_rest, step_size, root_scale, epsilon;
};

/// T is the storage type, sums are float (double for double). Scratch sizes are in bytes.
template <class T>
struct ProductLoops {
  /// Number of heads that one call of `product` computes; divides H.
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
  /// Softmax numerators of one row; 0 for masked keys. A row without any key becomes NaN.
  void (*weigh)(const WeightPlan&, int64_t row, const SeenKeys&);
};
template <class T>
struct ElementLoops {
  /// Elements [begin, end), begin a multiple of 64; residual may be null.
  void (*dropout_add)(const DropoutPlan&, const T* x, const T* residual, T* out, int64_t begin, int64_t end);
  void (*norm)(const NormPlan&, int64_t begin, int64_t end);
  /// Rows [begin, end) in order; adds their part of the weight and bias gradients to grad_weight, grad_bias
  /// [D] (accumulate type, null: not needed).
  void (*norm_backward)(const NormBackwardPlan&, int64_t begin, int64_t end, void* grad_weight,
                        void* grad_bias);
  /// Elements [begin, end) of parameter, gradient and moments. Null for bfloat16, which parameters never
  /// have.
  void (*adam_step)(const AdamPlan<T>&, T* parameter, const T* gradient, T* first, T* second, int64_t begin,
                    int64_t end);
};
/// Rows [begin, end), in partial sums of 16 rows each, in order.
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
/// grad [rows, M] -> grad_x [rows, C]; recomputes out if it is not null.
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

/// The active table (see kernel_info.h).
const Loops& loops();

}  // namespace modewise::ops
