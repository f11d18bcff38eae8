// Attention types axial and pooled: along one mode after another of the folded sequence. Axial attention is
// dot_product_attention on views, pooled attention a chain of mode products.

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/outer.h>
#include <ATen/ops/pad.h>
#include <ATen/ops/where.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "modewise/ops/accumulate_type.h"
#include "modewise/ops/arguments.h"
#include "modewise/ops/attention/attention_type_parts.h"
#include "modewise/ops/attention/rotary.h"
#include "modewise/ops/attention/softmax.h"
#include "modewise/ops/dense/elementary.h"
#include "modewise/ops/dense/mode_product.h"
#include "modewise/ops/training/dropout_add.h"

namespace modewise::ops {
namespace {

/// Folded shape of n tokens. Its last cells may be empty.
struct Folded {
  std::vector<int64_t> sizes;  // n_1 resolved where it is 0
  int64_t cells = 1;
  size_t first = 0;  // first attended mode: earlier modes act as batch

  Folded(const TensorAttentionOptions& options, int64_t n) : sizes(options.fold) {
    int64_t rest = 1;
    for (size_t i = 1; i < sizes.size(); ++i) rest *= sizes[i];
    if (sizes[0] == 0) sizes[0] = std::max<int64_t>((n + rest - 1) / rest, 1);
    for (const int64_t size : sizes) cells *= size;
    if (options.modes > 0) first = sizes.size() - static_cast<size_t>(options.modes);
  }
  int64_t level(size_t mode) const { return static_cast<int64_t>(sizes.size() - 1 - mode); }
};

/// [B, n, H, d] -> [B, n_1·…·n_m, H, d], zero-padded at the end.
at::Tensor filled(const at::Tensor& x, int64_t cells) {
  const int64_t n = known_size(x, 1);
  return n == cells ? x : at::pad(x, {0, 0, 0, 0, 0, cells - n});
}

/// Cells with a valid token, [1 or B, cells] bool; undefined if all are valid.
at::Tensor present_cells(const SequenceTensors& t, int64_t cells) {
  const int64_t n = known_size(t.q, 1);
  if (t.token_mask) return n == cells ? *t.token_mask : at::pad(*t.token_mask, {0, cells - n});
  if (n == cells) return {};
  return at::arange(cells, t.q.options().dtype(at::kLong)).lt(n).unsqueeze(0);
}

/// Rotary embedding of positions 0 … size−1 of a mode, x [.., size, H, d].
at::Tensor rotated_along(const at::Tensor& x, const RotaryEmbedding& rotary, int64_t size, int64_t level) {
  if (!rotary.used()) return x;
  const auto positions = at::arange(size, x.options().dtype(at::kDouble));
  return ops::rotary(x, at::outer(positions, rotary.level_frequencies(level)), rotary.gain(level));
}

/// Each mode has its own random stream.
DropoutKey key_of_mode(DropoutKey key, size_t mode) {
  key.seed += static_cast<uint64_t>(mode) * 0x9E3779B97F4A7C15;
  return key;
}

/// Fibres along one mode as sequences: [B·before, size, behind·H, d].
struct Fibres {
  int64_t batch, before, size, behind;

  at::Tensor view(const at::Tensor& x) const {
    return x.reshape({batch * before, size, behind * known_size(x, -2), known_size(x, -1)});
  }
  /// Key mask of each fibre and head from present [1 or B, cells]: [B·before, behind·H, 1, size].
  at::Tensor kept(const at::Tensor& present, int64_t heads) const {
    return present.reshape({-1, before, size, behind})
        .transpose(2, 3)
        .unsqueeze(3)
        .expand({batch, before, behind, heads, size})
        .reshape({batch * before, behind * heads, 1, size});
  }
};

}  // namespace

// Modes before the axis join the batch and modes after it join the heads, both as views.
at::Tensor attend_fibres(const SequenceTensors& t, const TensorAttentionOptions& options) {
  const int64_t batch = known_size(t.q, 0), n = known_size(t.q, 1), heads = known_size(t.q, 2);
  const Folded folded(options, n);
  const auto queries = filled(t.q, folded.cells).contiguous(), keys = filled(t.k, folded.cells).contiguous();
  auto values = filled(t.v, folded.cells).contiguous();
  // Empty cells are last, so that a causal mask hides them; otherwise the key mask does.
  at::Tensor present;
  if (!options.causal || t.token_mask) present = present_cells(t, folded.cells);
  Fibres fibres = {batch, 1, 1, folded.cells};
  for (size_t mode = 0; mode < folded.sizes.size(); ++mode, fibres.before *= fibres.size) {
    fibres.size = folded.sizes[mode];
    fibres.behind /= fibres.size;
    if (mode < folded.first) continue;
    const auto rotated = [&](const at::Tensor& x) {
      return rotated_along(fibres.view(x), t.rotary, fibres.size, folded.level(mode));
    };
    std::optional<at::Tensor> kept;
    if (present.defined()) kept = fibres.kept(present, heads);
    SoftmaxOptions softmax_options = softmax_options_of(t, options);
    softmax_options.key = key_of_mode(softmax_options.key, mode);
    values = weighted_values(rotated(queries), rotated(keys), fibres.view(values), kept, options.causal,
                             softmax_options)
                 .reshape({batch, folded.cells, heads, known_size(t.v, -1)});
  }
  return values.narrow(1, 0, n).contiguous();
}

// Queries and keys are flattened over the other modes: S_i [n_i, n_i] is shared by all fibres along mode i.
at::Tensor attend_shared(const SequenceTensors& t, const TensorAttentionOptions& options) {
  const int64_t batch = known_size(t.q, 0), n = known_size(t.q, 1), heads = known_size(t.q, 2),
                repeats = heads / known_size(t.k, 2), width = known_size(t.v, -1);
  const Folded fold(options, n);
  std::vector<int64_t> grid = {batch};  // [B, n_1 … n_m, H]
  grid.insert(grid.end(), fold.sizes.begin(), fold.sizes.end());
  grid.push_back(heads);
  const auto folded = [&](const at::Tensor& x) {
    const auto all = repeats == 1 || x.sym_size(2) == heads ? x : x.repeat_interleave(repeats, 2);
    std::vector<int64_t> shape = grid;
    shape.push_back(known_size(x, -1));
    return filled(all, fold.cells).reshape(shape);
  };
  const auto queries = folded(t.q), keys = folded(t.k);
  auto values = folded(t.v).flatten(-2);
  at::Tensor present = present_cells(t, fold.cells);
  if (present.defined())  // as numbers [B, n_1 … n_m, H], 1 for valid tokens
    present = present.to(t.q.scalar_type()).unsqueeze(-1).expand({batch, fold.cells, heads}).reshape(grid);
  const auto type = accumulate_type(t.q.scalar_type());
  for (size_t mode = fold.first; mode < fold.sizes.size(); ++mode) {
    const auto at_mode = static_cast<int64_t>(mode) + 1;
    const auto rows = [&](const at::Tensor& x) {  // [B, …, H, d] -> [B, n_i, rest, H·d]
      const int64_t rest = fold.cells / fold.sizes[mode] * heads;
      const auto moved = x.movedim(at_mode, 1).reshape({batch, fold.sizes[mode], rest, known_size(x, -1)});
      return rotated_along(moved, t.rotary, fold.sizes[mode], fold.level(mode))
          .unflatten(2, {rest / heads, heads})
          .flatten(-2)
          .to(type);
    };
    const double compared =
        static_cast<double>(known_size(t.q, -1)) * static_cast<double>(fold.cells / fold.sizes[mode]);
    const double scale = options.scale != 0 ? options.scale : 1 / std::sqrt(compared);
    const auto logits = mode_contract(rows(queries), rows(keys), 0, heads);
    const auto weights = ops::softmax(logits * scale).to(t.q.scalar_type());
    const auto dropped = [&](const at::Tensor& x) {
      return options.dropout == 0 ? x : dropout_add({}, x, options.dropout, key_of_mode(options.key, mode));
    };
    const auto mixed = dropped(weights);
    if (!present.defined()) {
      values = mode_product(values, mixed, static_cast<int64_t>(mode));
      continue;
    }
    // Fibres with empty cells are renormalised over the other cells; empty cells stay 0.
    const auto share = mode_product(present, weights, static_cast<int64_t>(mode));
    const auto quotient = [&](const at::Tensor& value, const at::Tensor& matrix, const at::Tensor& weight,
                              const at::Tensor& cells) {
      const auto inverse = cells / at::where(cells.gt(0), weight, cells + 1);
      const auto out = mode_product(value, matrix, static_cast<int64_t>(mode));
      return (out.unflatten(-1, {heads, width}) * inverse.unsqueeze(-1)).flatten(-2);
    };
    const auto for_logits = samples_of_tiny_weight(share, [&] { return present.gt(0); });
    if (!for_logits.defined()) {
      values = quotient(values, mixed, share, present);
      continue;
    }
    const auto kept = options.dropout == 0 ? at::Tensor() : dropped(at::ones_like(weights));
    values = by_sample(
        for_logits,
        [&](const at::Tensor& samples) {
          const auto cells = present.index_select(0, samples);
          const WeightedCells weighted = {values.index_select(0, samples).to(type),
                                          elementary(cells.to(type), "log")};
          const auto of = [&](const at::Tensor& x) { return x.defined() ? x.index_select(0, samples) : x; };
          const auto out =
              average_along_mode(weighted, static_cast<int64_t>(mode), of(logits * scale), of(kept));
          return (out.value.to(values.scalar_type()).unflatten(-1, {heads, width}) * cells.unsqueeze(-1))
              .flatten(-2);
        },
        [&](const at::Tensor& samples) {
          return quotient(values.index_select(0, samples), mixed.index_select(0, samples),
                          share.index_select(0, samples), present.index_select(0, samples));
        });
  }
  return values.unflatten(-1, {heads, width}).flatten(1, -3).narrow(1, 0, n).contiguous();
}

}  // namespace modewise::ops
