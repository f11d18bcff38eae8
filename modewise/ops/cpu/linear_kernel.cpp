// Matrix products cut into pieces by their sizes alone; each piece is one call of the BLAS on one thread. The
// rows of x [R, K] are cut, or where they are few, as in generation, the columns of the result; a weight
// gradient [M, K] is summed over the pieces in order.

#include <ATen/OpMathType.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/addmm.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/mm.h>
#include <torch/library.h>

#include "modewise/ops/accumulate_type.h"
#include "modewise/ops/cpu/one_thread.h"
#include "modewise/ops/cpu/row_tasks.h"
#include "modewise/ops/kernel_list.h"
#include "modewise/ops/linear_checks.h"
#include "modewise/ops/reference/reference.h"

namespace modewise::ops {

namespace {

/// Multiply-adds of a piece: some tens of microseconds on one core. In bfloat16 each call also packs the
/// weight, so its pieces are larger.
int64_t piece_work(at::ScalarType type) {
  return int64_t{1} << (type == at::kBFloat16 ? 24 : 21);
}
/// Pieces of a weight gradient at most, so that their partial sums stay small.
constexpr int64_t kMostPieces = 16;

/// Rows of a piece for products of `work` multiply-adds a row: a multiple of 16.
int64_t piece_rows(int64_t work, at::ScalarType type) {
  return (std::max<int64_t>(piece_work(type) / std::max<int64_t>(work, 1), 1) + 15) / 16 * 16;
}

/// body(first row, rows, piece) of every piece, each on one thread.
template <class Body>
void for_pieces(int64_t rows, int64_t piece, const Body& body) {
  at::parallel_for(0, (rows + piece - 1) / piece, 1, [&](int64_t begin, int64_t end) {
    const OneThread alone;
    const at::AutoDispatchBelowADInplaceOrView below;
    for (int64_t i = begin; i < end; ++i) body(i * piece, std::min(piece, rows - i * piece), i);
  });
}

template <class Body>
void dispatch(at::ScalarType type, const Body& body) {
  if (type == at::kDouble) return body.template operator()<double>();
  if (type == at::kBFloat16) return body.template operator()<at::BFloat16>();
  body.template operator()<float>();
}

at::Tensor as_rows(const at::Tensor& x) {
  return x.dim() == 1 ? x.contiguous().unsqueeze(0) : x.contiguous().flatten(0, -2);
}

at::Tensor linear_pieces(const at::Tensor& x, const at::Tensor& weight,
                         const std::optional<at::Tensor>& bias) {
  auto sizes = x.sizes().vec();
  sizes.back() = weight.size(0);
  const auto out = at::empty(sizes, x.options());
  if (out.numel() == 0) return out;
  const auto rows = as_rows(x), results = out.view({-1, weight.size(0)});
  const auto factor = weight.to(x.scalar_type()).t();
  const at::Tensor added = bias ? bias->to(x.scalar_type()) : at::Tensor();
  const auto multiply = [&](at::Tensor to, const at::Tensor& from, const at::Tensor& by,
                            const at::Tensor& plus) {
    if (plus.defined())
      at::addmm_out(to, plus, from, by);
    else
      at::mm_out(to, from, by);
  };
  const int64_t piece = piece_rows(weight.numel(), x.scalar_type());
  if (rows.size(0) > piece) {
    for_pieces(rows.size(0), piece, [&](int64_t first, int64_t count, int64_t) {
      multiply(results.narrow(0, first, count), rows.narrow(0, first, count), factor, added);
    });
    return out;
  }
  for_pieces(weight.size(0), piece_rows(rows.numel(), x.scalar_type()),
             [&](int64_t first, int64_t count, int64_t) {
               multiply(results.narrow(1, first, count), rows, factor.narrow(1, first, count),
                        added.defined() ? added.narrow(0, first, count) : added);
             });
  return out;
}

const KernelList<at::Tensor(const at::Tensor&, const at::Tensor&, const std::optional<at::Tensor>&)> kernels(
    "linear", {{"pieces", decltype(kernels)::takes_all, linear_pieces},
               {"reference", decltype(kernels)::takes_all, reference::linear}});

at::Tensor linear_cpu(const at::Tensor& x, const at::Tensor& weight, const std::optional<at::Tensor>& bias) {
  check_linear_args(x, weight, bias);
  return kernels.run(x, weight, bias && bias->defined() ? bias : std::nullopt);
}

at::Tensor input_gradient(const at::Tensor& grad, const at::Tensor& weight, at::IntArrayRef sizes) {
  const auto out = at::empty(sizes, grad.options());
  if (out.numel() == 0) return out;
  const auto results = out.view({-1, weight.size(1)});
  const auto factor = weight.to(grad.scalar_type());
  for_pieces(grad.size(0), piece_rows(weight.numel(), grad.scalar_type()),
             [&](int64_t first, int64_t count, int64_t) {
               auto to = results.narrow(0, first, count);
               at::mm_out(to, grad.narrow(0, first, count), factor);
             });
  return out;
}

/// parts [P, n] summed over P in order, in float32 at least, cut along n.
at::Tensor sum_in_order(const at::Tensor& parts, at::IntArrayRef sizes, at::ScalarType type) {
  const auto sum = at::empty(sizes, parts.options().dtype(accumulate_type(parts.scalar_type())));
  const int64_t count = parts.size(0), n = sum.numel();
  dispatch(parts.scalar_type(), [&]<class T>() {
    using Wide = at::opmath_type<T>;
    const auto* from = static_cast<const T*>(parts.const_data_ptr());
    auto* to = static_cast<Wide*>(sum.mutable_data_ptr());
    at::parallel_for(0, n, kChunkElements, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) to[i] = 0;
      for (int64_t p = 0; p < count; ++p)
        for (int64_t i = begin; i < end; ++i) to[i] += static_cast<Wide>(from[p * n + i]);
    });
  });
  return sum.to(type);
}

at::Tensor weight_gradient(const at::Tensor& grad, const at::Tensor& rows, const at::Tensor& weight) {
  const int64_t count = rows.size(0);
  // Larger pieces than elsewhere: each costs a pass over a partial sum of the weight's size.
  const int64_t piece = std::max(4 * piece_rows(weight.numel(), grad.scalar_type()),
                                 ((count + kMostPieces - 1) / kMostPieces + 15) / 16 * 16);
  const auto parts = at::empty({(count + piece - 1) / piece, weight.size(0), weight.size(1)}, grad.options());
  for_pieces(count, piece, [&](int64_t first, int64_t some, int64_t i) {
    auto to = parts.select(0, i);
    at::mm_out(to, grad.narrow(0, first, some).t(), rows.narrow(0, first, some));
  });
  return sum_in_order(parts, weight.sizes(), weight.scalar_type());
}

/// Sums over rows: each piece of rows in order by one thread, then the pieces in order.
at::Tensor bias_gradient(const at::Tensor& grad, const at::Tensor& weight) {
  const int64_t count = grad.size(0), m = grad.size(1), piece = chunk_rows(m);
  const auto wide = grad.options().dtype(accumulate_type(grad.scalar_type()));
  const auto parts = at::empty({(count + piece - 1) / piece, m}, wide);
  dispatch(grad.scalar_type(), [&]<class T>() {
    using Wide = at::opmath_type<T>;
    const auto* from = static_cast<const T*>(grad.const_data_ptr());
    auto* to = static_cast<Wide*>(parts.mutable_data_ptr());
    for_row_chunks(count, piece, [&](int64_t begin, int64_t end) {
      Wide* part = to + begin / piece * m;
      for (int64_t c = 0; c < m; ++c) part[c] = 0;
      for (int64_t row = begin; row < end; ++row)
        for (int64_t c = 0; c < m; ++c) part[c] += static_cast<Wide>(from[row * m + c]);
    });
  });
  return sum_in_order(parts, {m}, weight.scalar_type());
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> linear_backward_cpu(const at::Tensor& grad,
                                                                   const at::Tensor& x,
                                                                   const at::Tensor& weight, bool x_wanted,
                                                                   bool weight_wanted, bool bias_wanted) {
  check_linear_backward_args(grad, x, weight);
  const auto rows = as_rows(x), upstream = as_rows(grad);
  const auto none = [](const at::Tensor& like) { return at::empty({0}, like.options()); };
  return {x_wanted ? input_gradient(upstream, weight, x.sizes()) : none(x),
          weight_wanted ? weight_gradient(upstream, rows, weight) : none(weight),
          bias_wanted ? bias_gradient(upstream, weight) : none(weight)};
}

}  // namespace

TORCH_LIBRARY_IMPL(modewise, CPU, m) {
  m.impl("linear", linear_cpu);
  m.impl("linear_backward", linear_backward_cpu);
}

}  // namespace modewise::ops
