#include "modewise/ops/attention/tensor_attention.h"

#include <ATen/TensorOperators.h>
#include <torch/library.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "modewise/ops/arguments.h"
#include "modewise/ops/attention/attention_type_parts.h"
#include "modewise/ops/training/dropout_add_checks.h"

namespace modewise::ops {

namespace {

constexpr auto kTensorAttention = "tensor_attention";

void check_fold(const TensorAttentionOptions& options, int64_t n) {
  TORCH_CHECK_VALUE(!options.fold.empty(), kTensorAttention, ": form ", options.type,
                    " needs a fold n_1 … n_m");
  const bool latents = attention_type(options.type).latents;
  // Blocks that are never complete cost nothing; empty cells do.
  const int64_t maximum = latents ? std::numeric_limits<int64_t>::max() : kMaxInteger;
  int64_t cells = 1;
  for (size_t i = options.fold.size(); i-- > 0;) {
    const int64_t size = options.fold[i];
    TORCH_CHECK_VALUE((size > 0 || (i == 0 && size == 0)) && size <= kMaxInteger, kTensorAttention,
                      ": the sizes of a fold must be 1 … ", kMaxInteger,
                      " (the first may be 0: as large as the sequence needs), got ", options.fold);
    if (i == 0 && size == 0) return;
    TORCH_CHECK_VALUE(cells <= maximum / size, kTensorAttention, ": the product of the fold ", options.fold,
                      " must be at most ", maximum);
    cells *= size;
  }
  TORCH_CHECK_VALUE(cells >= n || latents, kTensorAttention, ": the fold ", options.fold, " holds ", cells,
                    " tokens, the sequence has ", n, "; a first size of 0 grows with the sequence");
}

void check_sequence(const char* name, const at::Tensor& x, const at::Tensor& q) {
  check_same(kTensorAttention, name, x, "q", q);
  TORCH_CHECK_VALUE(x.dim() == 4 && x.sym_size(0) == q.sym_size(0) && x.sym_size(1) == q.sym_size(1),
                    kTensorAttention, ": ", name, " must be [", q.sym_size(0), ", ", q.sym_size(1), ", G, ",
                    name[0] == 'k' ? "d" : "e", "] for q ", q.sym_sizes(), ", got ", x.sym_sizes());
}

/// Zeroes queries, keys and values of masked tokens: 0 times NaN would not be 0.
SequenceTensors without_masked(SequenceTensors t) {
  if (!t.token_mask) return t;
  const auto removed = t.token_mask->logical_not().unsqueeze(-1).unsqueeze(-1);
  for (at::Tensor* x : {&t.q, &t.k, &t.v}) *x = x->masked_fill(removed, 0);
  return t;
}

}  // namespace

SoftmaxOptions softmax_options_of(const SequenceTensors& t, const TensorAttentionOptions& options) {
  const auto width = static_cast<double>(known_size(t.q, -1));
  return {options.scale != 0 ? options.scale : 1 / std::sqrt(width), options.dropout, options.key};
}

int64_t window_of(const TensorAttentionOptions& options, int64_t n) {
  const AttentionType& type = attention_type(options.type);
  if (type.latents && options.window == 0)
    return options.fold.empty()       ? n
           : options.fold.size() == 1 ? std::max<int64_t>(n, 1)
                                      : 2 * options.fold.back();
  return type.window ? options.window : n;
}

void check_tensor_attention_args(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                                 const TensorAttentionOptions& options, const at::Tensor& latents,
                                 const RotaryEmbedding& rotary, const std::optional<at::Tensor>& token_mask) {
  const AttentionType& type = attention_type(options.type);
  TORCH_CHECK_VALUE(
      type.causal || !options.causal, kTensorAttention,
      ": form pooled cannot be causal: its weights along a mode are made from all tokens at a "
      "position of that mode, later ones too; use form summary, or causal=False for an encoder");
  check_floating(kTensorAttention, "q", q);
  TORCH_CHECK_VALUE(q.dim() == 4, kTensorAttention, ": q must be [B, n, H, d], got ", q.sym_sizes());
  check_sequence("k", k, q);
  check_sequence("v", v, q);
  TORCH_CHECK_VALUE(k.sym_size(3) == q.sym_size(3), kTensorAttention, ": k must have the head width of q, ",
                    q.sym_size(3), ", got ", k.sym_size(3));
  TORCH_CHECK_VALUE(v.sym_size(2) == k.sym_size(2), kTensorAttention,
                    ": k and v must have equally many heads, got ", k.sym_size(2), " and ", v.sym_size(2));
  TORCH_CHECK_VALUE(k.sym_size(2) > 0 && q.sym_size(2) % k.sym_size(2) == 0, kTensorAttention,
                    ": the heads of k, ", k.sym_size(2), ", must divide the heads of q, ", q.sym_size(2));
  const int64_t n = known_size(q, 1);
  if (type.fold) check_fold(options, n);
  TORCH_CHECK_VALUE(options.modes >= 0 && options.modes <= static_cast<int64_t>(options.fold.size()) &&
                        (options.modes == 0 || type.by_modes()),
                    kTensorAttention,
                    ": modes must be 0, or for form axial or pooled at most the size of the fold ",
                    options.fold, ", got ", options.modes, " for form ", options.type);
  check_dropout(kTensorAttention, options.dropout);
  check_integer(kTensorAttention, "window", options.window, 0);
  check_integer(kTensorAttention, "sinks", options.sinks, 0);
  // A non-causal window is centred on each token and may have a size given by density.
  const bool near = type.window && !type.sinks && !type.latents && !options.causal;
  TORCH_CHECK_VALUE(!type.window || type.latents || near || options.window > 0, kTensorAttention, ": form ",
                    options.type, " needs a window of at least 1 token");
  TORCH_CHECK_VALUE(options.density > 0 && options.density <= 1, kTensorAttention,
                    ": density must be above 0 and at most 1, got ", options.density);
  TORCH_CHECK_VALUE(type.latents || !latents.defined(), kTensorAttention,
                    ": only form summary takes latents, got form ", options.type);
  if (latents.defined()) check_device(kTensorAttention, "latents", latents, "q", q);
  if (type.latents && options.fold.size() > 1)
    TORCH_CHECK_VALUE(window_of(options, n) >= options.fold.back(), kTensorAttention,
                      ": the window must hold the finest mode, ", options.fold.back(), " tokens of fold ",
                      options.fold, ", else a token of a partial block would not be visible; got ",
                      window_of(options, n));
  if (token_mask) {
    check_device(kTensorAttention, "token_mask", *token_mask, "q", q);
    TORCH_CHECK_VALUE(token_mask->scalar_type() == at::kBool && token_mask->dim() == 2 &&
                          token_mask->sym_sizes() == q.sym_sizes().slice(0, 2),
                      kTensorAttention, ": token_mask must be bool [", q.sym_size(0), ", ", q.sym_size(1),
                      "] for q ", q.sym_sizes(), ", got ", token_mask->scalar_type(), " ",
                      token_mask->sym_sizes());
    TORCH_CHECK_VALUE(!rotary.used() || !(type.latents || type.sinks || (type.window && options.causal)),
                      kTensorAttention, ": form ", options.type,
                      " takes a token_mask or a rotary embedding, not both");
  }
  if (rotary.used()) {
    TORCH_CHECK_VALUE(q.sym_size(3) % 2 == 0, kTensorAttention,
                      ": the rotary embedding needs an even head width, got ", q.sym_size(3));
    TORCH_CHECK_VALUE(rotary.frequencies.dim() == 2 && rotary.frequencies.sym_size(0) > 0 &&
                          rotary.frequencies.sym_size(1) * 2 == q.sym_size(3) &&
                          rotary.frequencies.scalar_type() == at::kDouble,
                      kTensorAttention, ": frequencies must be float64 [levels, ", q.sym_size(3) / 2,
                      "] for q ", q.sym_sizes(), ", got ", rotary.frequencies.scalar_type(), " ",
                      rotary.frequencies.sym_sizes());
    check_device(kTensorAttention, "frequencies", rotary.frequencies, "q", q);
  }
  if (rotary.positions.defined()) {
    check_positions(kTensorAttention, rotary.positions, q);
    TORCH_CHECK_VALUE(!type.by_modes(), kTensorAttention, ": form ", options.type,
                      " counts positions along the modes and takes no token positions");
  }
}

at::Tensor tensor_attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                            const TensorAttentionOptions& options, const at::Tensor& latents,
                            const RotaryEmbedding& rotary, const std::optional<at::Tensor>& token_mask) {
  check_tensor_attention_args(q, k, v, options, latents, rotary, token_mask);
  return attention_type(options.type).run(without_masked({q, k, v, latents, rotary, token_mask}), options);
}

namespace {

at::Tensor tensor_attention_op(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                               const std::optional<at::Tensor>& latents,
                               const std::optional<at::Tensor>& frequencies,
                               const std::optional<at::Tensor>& positions,
                               const std::optional<at::Tensor>& token_mask, c10::string_view type,
                               at::IntArrayRef fold, int64_t modes, int64_t window, int64_t sinks,
                               double density, bool causal, double scale, at::ArrayRef<double> gains,
                               double dropout, std::optional<int64_t> seed, int64_t step, int64_t site) {
  const TensorAttentionOptions options = {.type = std::string(type),
                                          .fold = fold.vec(),
                                          .modes = modes,
                                          .window = window,
                                          .sinks = sinks,
                                          .density = density,
                                          .causal = causal,
                                          .scale = scale,
                                          .dropout = dropout,
                                          .key = dropout_key(kTensorAttention, seed, step, site)};
  return tensor_attention(q, k, v, options, latents.value_or(at::Tensor()),
                          {.frequencies = frequencies.value_or(at::Tensor()),
                           .gains = gains.vec(),
                           .positions = positions.value_or(at::Tensor())},
                          token_mask);
}

}  // namespace

TORCH_LIBRARY_FRAGMENT(modewise, m) {
  m.def(
      "tensor_attention(Tensor q, Tensor k, Tensor v, Tensor? latents=None, Tensor? frequencies=None, "
      "Tensor? positions=None, Tensor? token_mask=None, *, str form='causal', int[] fold=[], int modes=0, "
      "int window=0, int sinks=0, float density=0.1, bool causal=True, float scale=0., float[] gains=[], "
      "float dropout=0., int? seed=0, int step=0, int site=0) -> Tensor");
}

TORCH_LIBRARY_IMPL(modewise, CompositeImplicitAutograd, m) {
  m.impl("tensor_attention", tensor_attention_op);
}

}  // namespace modewise::ops
