// "blocks": a task processes one part of the rows (cpu/weight_gradient.h) through the whole backward. Blocks
// of rows compute the gradients of the activations, which stay in scratch until a piece of kGemmPiece rows is
// complete and is added to the weight gradients. "products": one GEMM over all rows per gradient. Both give
// bitwise equal results.

#include <ATen/Parallel.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/ones.h>
#include <torch/library.h>

#include <algorithm>

#include "modewise/ops/accumulate_type.h"
#include "modewise/ops/cpu/dispatch_type.h"
#include "modewise/ops/cpu/feed_forward_rows.h"
#include "modewise/ops/cpu/gemm.h"
#include "modewise/ops/cpu/packed_factor.h"
#include "modewise/ops/cpu/row_sums.h"
#include "modewise/ops/cpu/row_tasks.h"
#include "modewise/ops/cpu/scratch.h"
#include "modewise/ops/cpu/weight_gradient.h"
#include "modewise/ops/dense/feed_forward_checks.h"
#include "modewise/ops/kernel_list.h"
#include "modewise/ops/reference/reference.h"
#include "modewise/ops/training/dropout_add_checks.h"

namespace modewise::ops {

namespace {

using Maybe = std::optional<at::Tensor>;

static_assert(kGemmPiece % kFeedRows == 0);

/// Arguments of backward: activations as matrices of R rows, weights in their dtype.
struct Backward {
  at::Tensor grad, x, before;  // [R, N], [R, K], [R, C]: pre-activations; undefined: not saved
  at::Tensor maps;             // [C, K]: gate stacked on first, or only first
  FeedForwardWeights weights;
  double p;
  DropoutKey key;
  bool maps_wanted, second_wanted, bias_wanted;
  at::Tensor grad_x;  // [R, K], undefined if not needed

  int64_t rows() const { return grad.size(0); }
};

/// Gradients of the first layer [C, K], of second [N, M] and of the first bias [1, M] in the accumulate type.
struct WeightSums {
  at::Tensor maps, second, bias;
};

GemmPlan sum_over_piece(int64_t rows, int64_t columns, int64_t a_row, int64_t a_col, int64_t b_row,
                        bool wide) {
  return {.rows = rows,
          .columns = columns,
          .depth = kGemmPiece,
          .a = nullptr,
          .a_row = a_row,
          .a_col = a_col,
          .b = nullptr,
          .b_row = b_row,
          .b_col = 1,
          .bias = nullptr,
          .out = nullptr,
          .out_row = columns,
          .wide = wide};
}

/// Sums over rows of products of activations, per part of the rows: [parts, rows, columns] of aᵀ b.
template <class T>
class PartSums {
 public:
  /// `b_row`: row stride of b in elements.
  PartSums(const at::Tensor& a, int64_t columns, int64_t b_row, int64_t parts)
      : loops_(*loops().of<T>().gemm),
        a_(static_cast<const T*>(a.const_data_ptr())),
        plan_(sum_over_piece(a.size(1), columns, a.stride(1), a.stride(0), b_row, sizeof(T) < 4)),
        panels_((columns + loops_.panel - 1) / loops_.panel),
        sums_(at::empty({parts, a.size(1), columns}, a.options().dtype(accumulate_type(a.scalar_type())))) {}

  int64_t scratch() const { return loops_.scratch(plan_, plan_.rows, panels_); }

  /// Adds rows [row, row + count) of a and the `count` rows at b; `start` marks the first ones of a part.
  void add(int64_t part, bool start, int64_t row, int64_t count, const T* b, void* working) const {
    GemmPlan plan = plan_;
    plan.depth = count;
    plan.a = a_ + row * plan.a_col;
    plan.b = b;
    plan.out = static_cast<char*>(sums_.mutable_data_ptr()) +
               part * plan.rows * plan.columns * static_cast<int64_t>(sums_.element_size());
    plan.add = !start;
    loops_.multiply(plan, 0, plan.rows, 0, panels_, nullptr, working);
  }

  at::Tensor sum() const { return sum_in_order(sums_, sums_.scalar_type()); }

 private:
  const GemmLoops<T>& loops_;
  const T* a_;
  GemmPlan plan_;
  int64_t panels_;
  at::Tensor sums_;
};

at::Tensor a_one_each_row(const at::Tensor& rows) {
  return at::ones({1, 1}, rows.options()).expand({rows.size(0), 1});
}

/// Scratch bytes of the blocks of one piece: gradients of pre-activations and hidden activations of a piece,
/// gradients of hidden activations of a block, and its recomputed pre-activations if they were not saved.
int64_t piece_bytes(int64_t channels, int64_t width, int64_t size, bool maps_kept) {
  return (kGemmPiece * (channels + width) + kFeedRows * (width + (maps_kept ? 0 : channels))) * size;
}

template <class T>
WeightSums gradients_in_blocks(const Backward& call) {
  const auto [each, parts] = row_parts(call.rows());
  const HiddenRows<T> hidden(call.weights, call.p, call.key);
  const int64_t width = hidden.width, channels = hidden.channels(), out = call.grad.size(1);
  const PackedFactor<T> second(call.weights.second, {}), maps(call.maps, {});
  std::optional<FirstMaps<T>> again;
  if (!call.before.defined()) again.emplace(call.weights);
  const at::Tensor ones = a_one_each_row(call.grad);
  const PartSums<T> of_maps(call.x, channels, channels, parts), of_second(call.grad, width, width, parts),
      of_bias(ones, width, channels, parts);
  const int64_t own_bytes = piece_bytes(channels, width, sizeof(T), !again);
  const int64_t working_bytes =
      std::max({second.scratch(kFeedRows), maps.scratch(kFeedRows), again ? again->scratch(kFeedRows) : 0,
                of_maps.scratch(), of_second.scratch(), of_bias.scratch()});
  const auto* grad = static_cast<const T*>(call.grad.const_data_ptr());
  const auto* before = again ? nullptr : static_cast<const T*>(call.before.const_data_ptr());
  T* grad_x = call.grad_x.defined() ? static_cast<T*>(call.grad_x.mutable_data_ptr()) : nullptr;

  /// Rows [row, row + count) of one block: gradients of the pre-activations, hidden activations, and grad_x.
  const auto block = [&](int64_t row, int64_t count, T* in_front, T* activations, T* behind, void* working) {
    T* made = behind + kFeedRows * width;
    if (again) again->multiply(call.x, row, count, made, working);
    second.multiply(grad + row * out, out, 1, count, behind, width, working);
    hidden.backward(again ? made : before + row * channels, behind, in_front, activations, row, count);
    if (grad_x != nullptr)
      maps.multiply(in_front, channels, 1, count, grad_x + row * call.x.size(1), call.x.size(1), working);
  };
  const int64_t task_work = each * width * (channels + out);
  for_tasks(parts, task_work, [&, each = each](int64_t begin, int64_t end) {
    T* in_front = static_cast<T*>(thread_scratch(own_bytes + working_bytes));
    T* activations = in_front + kGemmPiece * channels;
    T* behind = activations + kGemmPiece * width;
    void* working = reinterpret_cast<std::byte*>(in_front) + own_bytes;
    for (int64_t part = begin; part < end; ++part) {
      const int64_t first = part * each, last = std::min(first + each, call.rows());
      for (int64_t piece = first; piece < last; piece += kGemmPiece) {
        const int64_t count = std::min(kGemmPiece, last - piece);
        for (int64_t at = 0; at < count; at += kFeedRows)
          block(piece + at, std::min(kFeedRows, count - at), in_front + at * channels,
                activations + at * width, behind, working);
        const bool start = piece == first;
        if (call.maps_wanted) of_maps.add(part, start, piece, count, in_front, working);
        if (call.second_wanted) of_second.add(part, start, piece, count, activations, working);
        if (call.bias_wanted) of_bias.add(part, start, piece, count, in_front + channels - width, working);
      }
    }
  });
  return {call.maps_wanted ? of_maps.sum().t() : at::Tensor(),
          call.second_wanted ? of_second.sum() : at::Tensor(),
          call.bias_wanted ? of_bias.sum() : at::Tensor()};
}

template <class T>
WeightSums gradients_by_products(const Backward& call) {
  const HiddenRows<T> hidden(call.weights, call.p, call.key);
  const auto type = call.grad.scalar_type(), wide = accumulate_type(type);
  const int64_t rows = call.rows(), width = hidden.width, channels = hidden.channels();
  const auto behind = at::empty({rows, width}, call.grad.options()), activations = at::empty_like(behind),
             in_front = at::empty({rows, channels}, call.grad.options());
  gemm(type, {gemm_plan(call.grad, call.weights.second, {}, behind)});
  const at::Tensor made = call.before.defined() ? call.before : first_maps(call.x, call.weights);
  const auto* before = static_cast<const T*>(made.const_data_ptr());
  auto* from = static_cast<T*>(behind.mutable_data_ptr());
  auto* to = static_cast<T*>(in_front.mutable_data_ptr());
  auto* again = static_cast<T*>(activations.mutable_data_ptr());
  for_row_chunks(rows, chunk_rows(channels + width, kFeedRows), [&](int64_t begin, int64_t end) {
    hidden.backward(before + begin * channels, from + begin * width, to + begin * channels,
                    again + begin * width, begin, end - begin);
  });
  if (call.grad_x.defined()) gemm(type, {gemm_plan(in_front, call.maps, {}, call.grad_x)});
  WeightSums sums;
  if (call.maps_wanted) sums.maps = product_over_rows(in_front, call.x, wide);
  if (call.second_wanted) sums.second = product_over_rows(call.grad, activations, wide);
  if (call.bias_wanted)
    sums.bias =
        product_over_rows(a_one_each_row(in_front), in_front.narrow(1, channels - width, width), wide);
  return sums;
}

/// Whole parts are assigned to threads; if some threads would idle, the GEMM path is faster.
bool shares_well(int64_t parts) {
  const int64_t threads = at::in_parallel_region() ? 1 : at::get_num_threads();
  return 4 * parts >= 3 * threads * ((parts + threads - 1) / threads);
}

std::string refuses_blocks_of(const at::Tensor& grad, const at::Tensor&, const at::Tensor& kept,
                              const FeedForwardWeights& weights, double, DropoutKey, FeedForwardWanted) {
  const int64_t size = grad.element_size(), width = weights.first.size(0), in = weights.first.size(1);
  const int64_t channels = weights.gate.defined() ? 2 * width : width, out = weights.second.size(0);
  const int64_t rows = grad.numel() / std::max<int64_t>(out, 1);
  if (rows <= kFeedFewRows || width == 0 || in == 0 || out == 0) return "few rows";
  if (piece_bytes(channels, width, size, kept.defined()) > kFeedScratch * 3 / 4)
    return "hidden activations too wide";
  if ((channels * in * (kept.defined() ? 1 : 2) + width * out) * size > kFeedWeights)
    return "weights too large";
  if (!shares_well(row_parts(rows).count)) return "too few parts of rows for the threads";
  return "";
}

template <bool kInBlocks>
FeedForwardGradients backward(const at::Tensor& grad, const at::Tensor& x, const at::Tensor& kept,
                              const FeedForwardWeights& given, double p, DropoutKey key,
                              FeedForwardWanted wanted) {
  const auto weights = cast_weights(given, x.scalar_type());
  const bool gated = weights.gate.defined();
  const auto rows = as_rows(x);
  const auto grad_x = wanted[0] ? at::empty(x.sizes(), x.options()) : at::empty({0}, x.options());
  const Backward call = {.grad = as_rows(grad).contiguous(),
                         .x = rows,
                         .before = kept.defined() ? as_rows(kept).contiguous() : at::Tensor(),
                         .maps = gated ? at::cat({weights.gate, weights.first}) : weights.first,
                         .weights = weights,
                         .p = p,
                         .key = key,
                         .maps_wanted = wanted[1] || wanted[3],
                         .second_wanted = wanted[2],
                         .bias_wanted = wanted[4],
                         .grad_x = wanted[0] ? grad_x.view(rows.sizes()) : at::Tensor()};
  WeightSums sums;
  dispatch_floating(x.scalar_type(), "feed_forward_backward", [&]<class T>() {
    sums = kInBlocks ? gradients_in_blocks<T>(call) : gradients_by_products<T>(call);
  });
  const at::Tensor& first = given.first;
  const auto none = at::empty({0}, first.options());
  const auto type = first.scalar_type();
  const int64_t width = first.size(0);
  const auto of_maps = [&](int64_t from) {  // gradients must not share memory
    return at::empty(first.sizes(), first.options()).copy_(sums.maps.narrow(0, from, width));
  };
  return {grad_x,
          wanted[1] ? of_maps(gated ? width : 0) : none,
          wanted[2] ? sums.second.to(type) : none,
          wanted[3] ? of_maps(0) : none,
          wanted[4] ? sums.bias.view({width}).to(type) : none,
          wanted[5] ? sum_over_rows(call.grad, type) : none};
}

using BackwardKernels =
    KernelList<FeedForwardGradients(const at::Tensor&, const at::Tensor&, const at::Tensor&,
                                    const FeedForwardWeights&, double, DropoutKey, FeedForwardWanted)>;
const BackwardKernels backward_kernels("feed_forward_backward",
                                       {{"blocks", refuses_blocks_of, backward<true>},
                                        {"products", BackwardKernels::takes_all, backward<false>},
                                        {"reference", BackwardKernels::takes_all,
                                         reference::feed_forward_backward}});

FeedForwardGradients feed_forward_backward_checked(const at::Tensor& grad, const at::Tensor& x,
                                                   const Maybe& kept, const at::Tensor& first,
                                                   const at::Tensor& second, const Maybe& gate,
                                                   const Maybe& first_bias, double p, int64_t seed,
                                                   int64_t step, int64_t site, FeedForwardWanted wanted) {
  const auto weights = feed_forward_weights(first, second, gate, first_bias, {});
  check_feed_forward_backward_args(grad, x, kept, weights, p);
  return backward_kernels.run(x.device(), grad, x, kept.value_or(at::Tensor()), weights, p,
                              dropout_key("feed_forward_backward", seed, step, site), wanted);
}

}  // namespace

TORCH_LIBRARY_IMPL(modewise, CompositeExplicitAutograd, m) {
  m.impl("feed_forward_backward", feed_forward_backward_checked);
}

}  // namespace modewise::ops
