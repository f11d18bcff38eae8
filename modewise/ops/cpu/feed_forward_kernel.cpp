// "blocks": the weights are packed once, then each task takes a block of rows through both layers; the hidden
// activations stay in scratch, or are written once for backward. "products": one GEMM over all rows per
// layer. Both give bitwise equal results.

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <torch/library.h>

#include <algorithm>

#include "modewise/ops/cpu/dispatch_type.h"
#include "modewise/ops/cpu/feed_forward_rows.h"
#include "modewise/ops/cpu/gemm.h"
#include "modewise/ops/cpu/packed_factor.h"
#include "modewise/ops/cpu/row_tasks.h"
#include "modewise/ops/cpu/scratch.h"
#include "modewise/ops/dense/feed_forward_checks.h"
#include "modewise/ops/kernel_list.h"
#include "modewise/ops/reference/reference.h"
#include "modewise/ops/training/dropout_add_checks.h"

namespace modewise::ops {

namespace {

using Maybe = std::optional<at::Tensor>;
using Pair = std::tuple<at::Tensor, at::Tensor>;

at::Tensor rows_of_width(const at::Tensor& x, int64_t last) {
  auto sizes = x.sizes().vec();
  sizes.back() = last;
  return at::empty(sizes, x.options());
}

/// Bytes of the block's pre-activations and hidden activations, and scratch of the products.
template <class T>
int64_t block_bytes(const FirstMaps<T>& first, const PackedFactor<T>& second, const HiddenRows<T>& hidden) {
  return kFeedRows * (hidden.channels() + hidden.width) * static_cast<int64_t>(sizeof(T)) +
         std::max(first.scratch(kFeedRows), second.scratch(kFeedRows));
}

/// `before` [R, C] may be null.
template <class T>
void feed_blocks(const at::Tensor& x, const FeedForwardWeights& weights, const HiddenRows<T>& hidden,
                 T* before, const at::Tensor& out) {
  const FirstMaps<T> first(weights);
  const PackedFactor<T> second(weights.second.t(), weights.second_bias);
  const int64_t rows = x.size(0), width = hidden.width, channels = hidden.channels(), columns = out.size(1);
  const int64_t bytes = block_bytes(first, second, hidden);
  const int64_t task_work = kFeedRows * width * (x.size(1) + columns);
  for_tasks((rows + kFeedRows - 1) / kFeedRows, task_work, [&](int64_t begin, int64_t end) {
    T* own = static_cast<T*>(thread_scratch(bytes));
    T* activations = own + kFeedRows * channels;
    void* working = activations + kFeedRows * width;
    for (int64_t row = begin * kFeedRows; row < std::min(end * kFeedRows, rows); row += kFeedRows) {
      const int64_t count = std::min(kFeedRows, rows - row);
      T* maps = before == nullptr ? own : before + row * channels;
      first.multiply(x, row, count, maps, working);
      hidden.forward(maps, activations, row, count);
      second.multiply(activations, width, 1, count, static_cast<T*>(out.mutable_data_ptr()) + row * columns,
                      columns, working);
    }
  });
}

Pair feed_in_blocks(const at::Tensor& input, const FeedForwardWeights& given, double p, DropoutKey key,
                    bool keep) {
  const auto x = as_rows(input);
  const auto weights = cast_weights(given, x.scalar_type());
  const auto out = rows_of_width(input, weights.second.size(0));
  const int64_t channels = weights.first.size(0) * (weights.gate.defined() ? 2 : 1);
  const auto kept = keep ? rows_of_width(input, channels) : at::Tensor();
  dispatch_floating(x.scalar_type(), "feed_forward", [&]<class T>() {
    feed_blocks<T>(x, weights, HiddenRows<T>(weights, p, key),
                   keep ? static_cast<T*>(kept.mutable_data_ptr()) : nullptr,
                   out.view({-1, weights.second.size(0)}));
  });
  return {out, kept};
}

std::string refuses_blocks(const at::Tensor& x, const FeedForwardWeights& weights, double, DropoutKey, bool) {
  const int64_t maps = weights.gate.defined() ? 2 : 1;
  const int64_t hidden = weights.first.size(0), in = weights.first.size(1), out = weights.second.size(0);
  const int64_t rows = x.numel() / std::max<int64_t>(in, 1), size = x.element_size();
  if (rows <= kFeedFewRows || hidden == 0 || in == 0 || out == 0) return "few rows";
  if ((maps + 1) * kFeedRows * hidden * size > kFeedScratch / 2) return "hidden activations too wide";
  if (hidden * (maps * in + out) * size > kFeedWeights) return "weights too large";
  return "";
}

Pair feed_by_products(const at::Tensor& input, const FeedForwardWeights& given, double p, DropoutKey key,
                      bool) {
  const auto x = as_rows(input);
  const auto weights = cast_weights(given, x.scalar_type());
  const auto out = rows_of_width(input, weights.second.size(0));
  const int64_t width = weights.first.size(0), rows = x.size(0);
  const auto maps = first_maps(x, weights), activations = at::empty({rows, width}, x.options());
  dispatch_floating(x.scalar_type(), "feed_forward", [&]<class T>() {
    const HiddenRows<T> hidden(weights, p, key);
    const auto* from = static_cast<const T*>(maps.const_data_ptr());
    auto* to = static_cast<T*>(activations.mutable_data_ptr());
    for_row_chunks(rows, chunk_rows(hidden.channels(), kFeedRows), [&](int64_t begin, int64_t end) {
      hidden.forward(from + begin * hidden.channels(), to + begin * width, begin, end - begin);
    });
  });
  gemm(x.scalar_type(), {gemm_plan(activations, weights.second.t(), weights.second_bias,
                                   out.view({rows, weights.second.size(0)}))});
  auto sizes = input.sizes().vec();
  sizes.back() = maps.size(1);
  return {out, maps.view(sizes)};
}

Pair feed_reference(const at::Tensor& x, const FeedForwardWeights& weights, double p, DropoutKey key, bool) {
  return reference::feed_forward(x, weights, p, key);
}

const KernelList<Pair(const at::Tensor&, const FeedForwardWeights&, double, DropoutKey, bool)>
    feed_forward_kernels("feed_forward",
                         {{"blocks", refuses_blocks, feed_in_blocks},
                          {"products", decltype(feed_forward_kernels)::takes_all, feed_by_products},
                          {"reference", decltype(feed_forward_kernels)::takes_all, feed_reference}});

Pair checked_feed_forward(const at::Tensor& x, const FeedForwardWeights& weights, double p, DropoutKey key,
                          bool keep) {
  check_feed_forward_args(x, weights, p);
  return feed_forward_kernels.run(x.device(), x, weights, p, key, keep);
}

at::Tensor feed_forward_checked(const at::Tensor& x, const at::Tensor& first, const at::Tensor& second,
                                const Maybe& gate, const Maybe& first_bias, const Maybe& second_bias,
                                double p, int64_t seed, int64_t step, int64_t site) {
  return std::get<0>(checked_feed_forward(x,
                                          feed_forward_weights(first, second, gate, first_bias, second_bias),
                                          p, dropout_key("feed_forward", seed, step, site), false));
}

Pair feed_forward_kept_checked(const at::Tensor& x, const at::Tensor& first, const at::Tensor& second,
                               const Maybe& gate, const Maybe& first_bias, const Maybe& second_bias, double p,
                               int64_t seed, int64_t step, int64_t site) {
  return checked_feed_forward(x, feed_forward_weights(first, second, gate, first_bias, second_bias), p,
                              dropout_key("feed_forward", seed, step, site), true);
}

}  // namespace

at::Tensor first_maps(const at::Tensor& x, const FeedForwardWeights& weights) {
  const int64_t width = weights.first.size(0), channels = weights.gate.defined() ? 2 * width : width;
  const auto maps = at::empty({x.size(0), channels}, x.options());
  std::vector<GemmPlan> plans = {
      gemm_plan(x, weights.first.t(), weights.first_bias, maps.narrow(1, channels - width, width))};
  if (weights.gate.defined()) plans.push_back(gemm_plan(x, weights.gate.t(), {}, maps.narrow(1, 0, width)));
  gemm(x.scalar_type(), plans);
  return maps;
}

TORCH_LIBRARY_IMPL(modewise, CompositeExplicitAutograd, m) {
  m.impl("feed_forward", feed_forward_checked);
  m.impl("feed_forward_kept", feed_forward_kept_checked);
}

}  // namespace modewise::ops
