// Full and axial attention are views for dot_product_attention, pooled a chain of mode products;
// causal, window and lambda are summary_attention, random and topk sparse_attention.

#include "modewise/ops/tensor_attention.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/outer.h>
#include <ATen/ops/pad.h>
#include <ATen/ops/where.h>
#include <torch/library.h>

#include <cmath>
#include <limits>

#include "modewise/ops/accumulate_type.h"
#include "modewise/ops/arguments.h"
#include "modewise/ops/attention_form_parts.h"
#include "modewise/ops/dot_product_attention.h"
#include "modewise/ops/matmul.h"
#include "modewise/ops/mode_product.h"
#include "modewise/ops/rotary.h"
#include "modewise/ops/softmax.h"
#include "modewise/ops/sparse_attention.h"
#include "modewise/ops/summary_attention.h"

namespace modewise::ops {

namespace {

constexpr auto kTensorAttention = "tensor_attention";

double scale_of(const TensorAttentionOptions& options, double width) {
  return options.scale != 0 ? options.scale : 1 / std::sqrt(width);
}

/// The sizes of all modes over n tokens, n_1 found where it is 0. The last cells of the folded tensor may be
/// empty.
std::vector<int64_t> folded_sizes(const std::vector<int64_t>& fold, int64_t n) {
  std::vector<int64_t> sizes = fold;
  int64_t rest = 1;
  for (size_t i = 1; i < sizes.size(); ++i) rest *= sizes[i];
  if (sizes[0] == 0) sizes[0] = std::max<int64_t>((n + rest - 1) / rest, 1);
  return sizes;
}

void check_fold(const TensorAttentionOptions& options, int64_t n) {
  TORCH_CHECK_VALUE(!options.fold.empty(), kTensorAttention, ": form ", options.form,
                    " needs a fold n_1 … n_m");
  int64_t cells = 1;
  for (size_t i = options.fold.size(); i-- > 0;) {
    const int64_t size = options.fold[i];
    TORCH_CHECK_VALUE(
        size > 0 || (i == 0 && size == 0), kTensorAttention,
        ": the sizes of a fold must be positive (the first may be 0: as large as the sequence needs), "
        "got ",
        options.fold);
    if (i == 0 && size == 0) return;
    TORCH_CHECK_VALUE(cells <= std::numeric_limits<int64_t>::max() / size, kTensorAttention,
                      ": the product of the fold ", options.fold, " is too large");
    cells *= size;
  }
  TORCH_CHECK_VALUE(cells >= n || attention_form(options.form).latents, kTensorAttention, ": the fold ",
                    options.fold, " holds ", cells, " tokens, the sequence has ", n,
                    "; a first size of 0 grows with the sequence");
}

void check_sequence(const char* name, const at::Tensor& x, const at::Tensor& q) {
  check_same(kTensorAttention, name, x, "q", q);
  TORCH_CHECK_VALUE(x.dim() == 4 && x.sym_size(0) == q.sym_size(0) && x.sym_size(1) == q.sym_size(1),
                    kTensorAttention, ": ", name, " must be [", q.sym_size(0), ", ", q.sym_size(1), ", G, ",
                    name[0] == 'k' ? "d" : "e", "] for q ", q.sym_sizes(), ", got ", x.sym_sizes());
}

/// Of positions and angles: float64 on the device of x.
at::TensorOptions doubles(const at::Tensor& x) {
  return x.options().dtype(at::kDouble);
}

/// The angles of positions 0 … n−1 of a level, or of the given positions at level 0.
at::Tensor angles_of(const at::Tensor& q, const RotaryCode& rotary, int64_t level, int64_t n) {
  const bool given = level == 0 && rotary.positions.defined();
  const auto positions = given ? rotary.positions.to(at::kDouble) : at::arange(n, doubles(q));
  return at::outer(positions, rotary.level_frequencies(level));
}

}  // namespace

at::Tensor attend_tokens(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                         const TensorAttentionOptions& options, const at::Tensor& /*latents*/,
                         const RotaryCode& rotary) {
  auto queries = q, keys = k;
  if (rotary.used()) {
    const auto angles = angles_of(q, rotary, 0, known_size(q, 1));
    queries = ops::rotary(q, angles, rotary.gain(0)), keys = ops::rotary(k, angles, rotary.gain(0));
  }
  const double scale = scale_of(options, static_cast<double>(known_size(q, -1)));
  if (attention_form(options.form).density)
    return sparse_attention(queries, keys, v,
                            {options.form == "random", options.density, options.causal, scale});
  return dot_product_attention(queries, keys, v, {}, options.causal, scale);
}

namespace {

/// [B, n, H, d] -> [B, n_1·…·n_m, H, d], zeros behind the last token.
at::Tensor filled(const at::Tensor& x, int64_t cells) {
  const int64_t n = known_size(x, 1);
  return n == cells ? x : at::pad(x, {0, 0, 0, 0, 0, cells - n});
}

}  // namespace

// The modes before join the batch and those behind join the heads, both by a view.
at::Tensor attend_fibres(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                         const TensorAttentionOptions& options, const at::Tensor& /*latents*/,
                         const RotaryCode& rotary) {
  const int64_t batch = known_size(q, 0), n = known_size(q, 1);
  const auto sizes = folded_sizes(options.fold, n);
  int64_t cells = 1;
  for (int64_t size : sizes) cells *= size;
  const auto queries = filled(q, cells).contiguous(), keys = filled(k, cells).contiguous();
  auto values = filled(v, cells).contiguous();
  // Empty cells stand last, so that a causal mask never shows them; else they are masked as keys.
  at::Tensor present;
  if (!options.causal && n != cells) present = at::arange(cells, q.options().dtype(at::kLong)).lt(n);
  const double scale = scale_of(options, static_cast<double>(known_size(q, -1)));
  int64_t before = 1, behind = cells;
  for (size_t mode = 0; mode < sizes.size(); ++mode) {
    const int64_t size = sizes[mode];
    behind /= size;
    const auto view = [&](const at::Tensor& x) {
      return x.reshape({batch * before, size, behind * known_size(x, -2), known_size(x, -1)});
    };
    const auto turned = [&](const at::Tensor& x) {
      if (!rotary.used()) return view(x);
      const auto level = static_cast<int64_t>(sizes.size() - 1 - mode);
      const auto angles = at::outer(at::arange(size, doubles(q)), rotary.level_frequencies(level));
      return ops::rotary(view(x), angles, rotary.gain(level));
    };
    std::optional<at::Tensor> mask, whole;
    if (present.defined()) {
      // [before, behind, size] -> one row of keys for each element of the batch and head; fibres without any
      // token attend everywhere, and nobody reads them.
      auto kept = present.reshape({before, size, behind}).transpose(1, 2);
      kept = kept.logical_or(kept.any(-1, true).logical_not());
      mask = kept.reshape({1, before, behind, 1, 1, size})
                 .expand({batch, before, behind, known_size(q, 2), 1, size})
                 .reshape({batch * before, behind * known_size(q, 2), 1, size});
    }
    values = dot_product_attention(turned(queries), turned(keys), view(values), mask, options.causal, scale)
                 .reshape({batch, cells, known_size(q, 2), known_size(v, -1)});
    before *= size;
  }
  return values.narrow(1, 0, n).contiguous();
}

// Queries and keys flattened over the other modes: S_i [n_i, n_i] is shared by all fibres along mode i.
at::Tensor attend_shared(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                         const TensorAttentionOptions& options, const at::Tensor& /*latents*/,
                         const RotaryCode& rotary) {
  const int64_t n = known_size(q, 1), heads = known_size(q, 2), repeats = heads / known_size(k, 2);
  const auto sizes = folded_sizes(options.fold, n);
  int64_t cells = 1;
  for (int64_t size : sizes) cells *= size;
  const auto per_head = [&](const at::Tensor& x) {
    const auto all = repeats == 1 || x.sym_size(2) == heads ? x : x.repeat_interleave(repeats, 2);
    return filled(all, cells);
  };
  const auto folded = [&](const at::Tensor& x) {
    std::vector<int64_t> shape = {known_size(x, 0)};
    shape.insert(shape.end(), sizes.begin(), sizes.end());
    shape.push_back(heads);
    shape.push_back(known_size(x, -1));
    return x.reshape(shape);
  };
  const auto queries = folded(per_head(q)), keys = folded(per_head(k));
  auto values = folded(per_head(v)).flatten(-2);
  at::Tensor present;  // [B, n_1 … n_m, H], 1 where there is a token
  if (n != cells) {
    std::vector<int64_t> shape = {1};
    shape.insert(shape.end(), sizes.begin(), sizes.end());
    shape.push_back(1);
    std::vector<int64_t> all = shape;
    all.front() = known_size(q, 0), all.back() = heads;
    present = at::arange(cells, q.options().dtype(at::kLong))
                  .lt(n)
                  .to(q.scalar_type())
                  .reshape(shape)
                  .expand(all)
                  .contiguous();
  }
  const auto type = accumulate_type(q.scalar_type());
  for (size_t mode = 0; mode < sizes.size(); ++mode) {
    const auto level = static_cast<int64_t>(sizes.size() - 1 - mode),
               at_mode = static_cast<int64_t>(mode) + 1;
    const auto rows = [&](const at::Tensor& x) {  // [B, …, H, d] -> [B, n_i, H, rest·d]
      const auto moved = x.movedim({at_mode, -2}, {1, 2}).flatten(3, -2);  // [B, n_i, H, rest, d]
      if (!rotary.used()) return moved.flatten(-2).transpose(1, 2);
      const auto angles = at::outer(at::arange(sizes[mode], doubles(q)), rotary.level_frequencies(level));
      return ops::rotary(moved.flatten(2, 3), angles, rotary.gain(level))
          .unflatten(2, {heads, moved.size(3)})
          .flatten(-2)
          .transpose(1, 2);
    };
    const double width = static_cast<double>(known_size(q, -1)) * static_cast<double>(cells / sizes[mode]);
    const auto logits = ops::matmul(rows(queries).to(type), rows(keys).to(type).transpose(-1, -2));
    const auto weights = ops::softmax(logits * scale_of(options, width)).to(q.scalar_type());
    values = mode_product(values, weights, static_cast<int64_t>(mode));
    if (!present.defined()) continue;
    // Fibres with empty cells are averaged over the others; empty cells stay 0.
    const auto share = mode_product(present, weights, static_cast<int64_t>(mode));
    const auto inverse = present / at::where(present.gt(0), share, present + 1);
    values = (values.unflatten(-1, {heads, known_size(v, -1)}) * inverse.unsqueeze(-1)).flatten(-2);
  }
  return values.unflatten(-1, {heads, known_size(v, -1)}).flatten(1, -3).narrow(1, 0, n).contiguous();
}

at::Tensor attend_summaries(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                            const TensorAttentionOptions& options, const at::Tensor& latents,
                            const RotaryCode& rotary) {
  const AttentionForm& form = attention_form(options.form);
  const SummaryOptions summaries = {.fold = form.fold ? options.fold : std::vector<int64_t>{0},
                                    .window = window_of(options, known_size(q, 1)),
                                    .sinks = form.sinks ? options.sinks : 0,
                                    .scale = scale_of(options, static_cast<double>(known_size(q, -1)))};
  return std::get<0>(summary_attention(q, k, v, optional(latents), summaries, rotary));
}

int64_t window_of(const TensorAttentionOptions& options, int64_t n) {
  const AttentionForm& form = attention_form(options.form);
  if (form.latents && options.window == 0)
    return options.fold.empty()       ? n
           : options.fold.size() == 1 ? std::max<int64_t>(n, 1)
                                      : 2 * options.fold.back();
  return form.window ? options.window : n;
}

void check_tensor_attention_args(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                                 const TensorAttentionOptions& options, const at::Tensor& latents,
                                 const RotaryCode& rotary) {
  const AttentionForm& form = attention_form(options.form);
  TORCH_CHECK_VALUE(
      form.memory != nullptr || !options.causal, kTensorAttention,
      ": form pooled cannot be causal: its weights along a mode are made from all tokens at a "
      "position of that mode, later ones too; take form causal, or causal=False for an encoder");
  check_floating(kTensorAttention, "q", q);
  TORCH_CHECK_VALUE(q.dim() == 4, kTensorAttention, ": q must be [B, n, H, d], got ", q.sym_sizes());
  check_sequence("k", k, q);
  check_sequence("v", v, q);
  TORCH_CHECK_VALUE(k.sym_size(3) == q.sym_size(3), kTensorAttention, ": k must have heads of width ",
                    q.sym_size(3), " as q, got ", k.sym_size(3));
  TORCH_CHECK_VALUE(v.sym_size(2) == k.sym_size(2), kTensorAttention,
                    ": k and v must have as many heads, got ", k.sym_size(2), " and ", v.sym_size(2));
  TORCH_CHECK_VALUE(k.sym_size(2) > 0 && q.sym_size(2) % k.sym_size(2) == 0, kTensorAttention,
                    ": the heads of k ", k.sym_size(2), " must divide those of q, ", q.sym_size(2));
  const int64_t n = known_size(q, 1);
  if (form.fold) check_fold(options, n);
  TORCH_CHECK_VALUE(options.window >= 0 && options.sinks >= 0, kTensorAttention,
                    ": window and sinks must not be negative, got ", options.window, " and ", options.sinks);
  TORCH_CHECK_VALUE(!form.window || form.latents || options.window > 0, kTensorAttention, ": form ",
                    options.form, " needs a window of at least 1 token");
  TORCH_CHECK_VALUE(options.density > 0 && options.density <= 1, kTensorAttention,
                    ": density must be above 0 and at most 1, got ", options.density);
  TORCH_CHECK_VALUE(form.latents || !latents.defined(), kTensorAttention,
                    ": only form causal takes latents, got form ", options.form);
  if (latents.defined()) check_device(kTensorAttention, "latents", latents, "q", q);
  if (form.latents && options.fold.size() > 1)
    TORCH_CHECK_VALUE(window_of(options, n) >= options.fold.back(), kTensorAttention,
                      ": the window must hold the finest mode, ", options.fold.back(), " tokens of fold ",
                      options.fold, ", else a token of an unfinished block would not be seen; got ",
                      window_of(options, n));
  if (rotary.used()) {
    TORCH_CHECK_VALUE(q.sym_size(3) % 2 == 0, kTensorAttention,
                      ": rotary codes need heads of even width, got ", q.sym_size(3));
    TORCH_CHECK_VALUE(rotary.frequencies.dim() == 2 && rotary.frequencies.sym_size(0) > 0 &&
                          rotary.frequencies.sym_size(1) * 2 == q.sym_size(3) &&
                          rotary.frequencies.scalar_type() == at::kDouble,
                      kTensorAttention, ": frequencies must be float64 [levels, ", q.sym_size(3) / 2,
                      "] for q ", q.sym_sizes(), ", got ", rotary.frequencies.scalar_type(), " ",
                      rotary.frequencies.sym_sizes());
    check_device(kTensorAttention, "frequencies", rotary.frequencies, "q", q);
  }
  if (rotary.positions.defined()) {
    check_device(kTensorAttention, "positions", rotary.positions, "q", q);
    TORCH_CHECK_VALUE(rotary.positions.scalar_type() == at::kLong && rotary.positions.dim() == 1 &&
                          rotary.positions.sym_size(0) == q.sym_size(1),
                      kTensorAttention, ": positions must be int64 [", q.sym_size(1), "] for q ",
                      q.sym_sizes(), ", got ", rotary.positions.scalar_type(), " ",
                      rotary.positions.sym_sizes());
    TORCH_CHECK_VALUE(!form.by_modes(), kTensorAttention, ": form ", options.form,
                      " counts positions along the modes and takes no positions of tokens");
  }
}

at::Tensor tensor_attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                            const TensorAttentionOptions& options, const at::Tensor& latents,
                            const RotaryCode& rotary) {
  check_tensor_attention_args(q, k, v, options, latents, rotary);
  return attention_form(options.form).run(q, k, v, options, latents, rotary);
}

namespace {

at::Tensor tensor_attention_op(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                               const std::optional<at::Tensor>& latents,
                               const std::optional<at::Tensor>& frequencies,
                               const std::optional<at::Tensor>& positions, c10::string_view form,
                               at::IntArrayRef fold, int64_t window, int64_t sinks, double density,
                               bool causal, double scale, at::ArrayRef<double> gains) {
  const TensorAttentionOptions options = {.form = std::string(form),
                                          .fold = fold.vec(),
                                          .window = window,
                                          .sinks = sinks,
                                          .density = density,
                                          .causal = causal,
                                          .scale = scale};
  return tensor_attention(q, k, v, options, latents.value_or(at::Tensor()),
                          {.frequencies = frequencies.value_or(at::Tensor()),
                           .gains = gains.vec(),
                           .positions = positions.value_or(at::Tensor())});
}

}  // namespace

TORCH_LIBRARY_FRAGMENT(modewise, m) {
  m.def(
      "tensor_attention(Tensor q, Tensor k, Tensor v, Tensor? latents=None, Tensor? frequencies=None, "
      "Tensor? "
      "positions=None, *, str form='causal', int[] fold=[], int window=0, int sinks=0, float density=0.1, "
      "bool causal=True, "
      "float "
      "scale=0., float[] gains=[]) -> Tensor");
}

TORCH_LIBRARY_IMPL(modewise, CompositeImplicitAutograd, m) {
  m.impl("tensor_attention", tensor_attention_op);
}

}  // namespace modewise::ops
