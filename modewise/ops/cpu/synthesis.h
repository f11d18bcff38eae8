#pragma once
// Partition of synthesized_attention into parts of the samples and blocks of rows, depending only on the
// sizes. Small matrices use parts whose weights stay in a core's cache from the logits to the last product,
// one thread per part; large ones use blocks whose products run in parallel. A block contains whole groups of
// rows that share a row of `outer`, or lies within one group, so that its slice of the Kronecker product is a
// product of two slices. Sums over samples are added in order, part by part.

#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/Tensor.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "modewise/ops/accumulate_type.h"
#include "modewise/ops/attention/synthesized_attention.h"
#include "modewise/ops/cpu/row_tasks.h"

namespace modewise::ops {

/// Samples [first, first + count).
struct SamplePart {
  int64_t number, first, count;
};

/// Checked arguments of synthesized_attention.
struct Synthesis {
  Synthesis(const at::Tensor& values, const SynthesizedLogits& logits, int64_t row_count,
            const std::optional<at::Tensor>& mask, bool is_causal)
      : v(values), key_mask(mask), causal(is_causal), rows(row_count) {
    const auto type = accumulate_type(v.scalar_type());
    left = logits.left;
    right = logits.right;
    if (!logits.outer.defined()) return;
    outer = logits.outer.to(type);
    inner = logits.inner.to(type);
  }

  /// The same arguments for some of the samples.
  Synthesis samples(const SamplePart& part) const {
    const auto own = [&](const at::Tensor& x) {
      return x.defined() && x.size(0) == batch() ? x.narrow(0, part.first, part.count) : x;
    };
    Synthesis out = *this;
    out.v = own(v), out.left = own(left), out.right = own(right);
    if (key_mask) out.key_mask = own(*key_mask);
    return out;
  }

  at::Tensor v, left, right, outer, inner;  // the last two in the accumulate type
  std::optional<at::Tensor> key_mask;
  bool causal;
  int64_t rows;

  int64_t batch() const { return v.size(0); }
  int64_t keys() const { return v.size(1); }
  int64_t heads() const { return v.size(2); }
  bool shared_right() const { return right.defined() && right.size(0) == 1; }
  at::TensorOptions wide() const { return v.options().dtype(accumulate_type(v.scalar_type())); }
};

/// Rows [first, first + count) of all heads.
struct RowBlock {
  int64_t first, count;
};

/// Samples per part: all of them if a sample has many weights, or if a part's share of gradients common to
/// all samples would be larger than the values.
int64_t part_samples(const Synthesis& a);
int64_t parts_of(const Synthesis& a);

/// Calls body(part) for all parts; within several parts autograd is off.
template <class Body>
void for_parts(const Synthesis& a, const Body& body) {
  const int64_t each = part_samples(a), parts = parts_of(a);
  if (parts == 1) return body(SamplePart{0, 0, a.batch()});
  const int64_t task_work = each * a.heads() * a.rows * a.keys();
  for_tasks(parts, task_work, [&](int64_t begin, int64_t end) {
    const at::AutoDispatchBelowADInplaceOrView below;
    for (int64_t i = begin; i < end; ++i) body(SamplePart{i, i * each, std::min(each, a.batch() - i * each)});
  });
}

/// Rows per block: as many as fit, whole groups of the rows of inner or a piece of one group.
int64_t block_rows(const Synthesis& a, int64_t first);

/// Calls body(block) for all rows, one block after another.
template <class Body>
void for_row_blocks(const Synthesis& a, const Body& body) {
  for (int64_t first = 0, count; first < a.rows; first += count) {
    count = block_rows(a, first);
    body(RowBlock{first, count});
  }
}

/// Slices of outer and inner whose Kronecker product contains the rows of a block.
struct KroneckerSlices {
  KroneckerSlices(const Synthesis& a, const RowBlock& block);
  /// [H, r, 1, β, 1]
  at::Tensor outer(const at::Tensor& x) const {
    return x.narrow(1, first_outer, outer_rows).unsqueeze(2).unsqueeze(4);
  }
  /// [H, 1, r', 1, β']
  at::Tensor inner(const at::Tensor& x) const {
    return x.narrow(1, first_inner, inner_rows).unsqueeze(1).unsqueeze(3);
  }
  int64_t first_outer, outer_rows, first_inner, inner_rows;
};

/// The matrices of all samples and heads in one tensor, with strides in elements.
struct HeadMatrices {
  /// x [B, n, H, width], or [1, n, H, width] shared by all samples.
  static HeadMatrices tokens(const at::Tensor& x) {
    return {x.const_data_ptr(), x.element_size(), x.size(0) == 1 ? 0 : x.stride(0),
            x.stride(2),        x.stride(1),      x.stride(3),
            x.size(1),          x.size(3),        x.scalar_type()};
  }
  /// x [B, H, n, m]
  static HeadMatrices matrices(const at::Tensor& x) {
    return {x.const_data_ptr(), x.element_size(), x.stride(0), x.stride(1),    x.stride(2),
            x.stride(3),        x.size(2),        x.size(3),   x.scalar_type()};
  }
  HeadMatrices transposed() const {
    HeadMatrices out = *this;
    std::swap(out.row, out.column);
    std::swap(out.rows, out.columns);
    return out;
  }
  const void* at(int64_t b, int64_t h) const {
    return static_cast<const char*>(data) + (b * sample + h * head) * bytes;
  }

  const void* data;
  int64_t bytes, sample, head, row, column, rows, columns;
  at::ScalarType type;
};

/// out[b, h] = left[b, h] · right[b, h], or += with `add`; out has contiguous rows.
void multiply_heads(const Synthesis& a, const HeadMatrices& left, const HeadMatrices& right,
                    const HeadMatrices& out, bool add = false);

/// Softmax of the logits of a block, [B, H, rows, m], in the accumulate type.
at::Tensor block_weights(const Synthesis& a, const RowBlock& block);

}  // namespace modewise::ops
