// q [B, n, H, d], k [B, n, G, d], v [B, n, G, e]. Forward: summary tokens level by level, then a task is a
// strip of tokens of one (sample, key head), which writes their output rows for the query heads of that key
// head. Backward: a task is a chunk of strips; its gradients of summary tokens, of the first tokens and of
// tokens before the chunk go to buffers of its own, which are then added in order of the chunks. Strips and
// chunks depend only on the sizes, so any number of threads gives bitwise equal results. Memory: the gradient
// sums have the size of k and v; all else is smaller.

#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <ATen/ops/outer.h>
#include <ATen/ops/pad.h>
#include <ATen/ops/zeros.h>
#include <torch/library.h>

#include <numeric>

#include "modewise/ops/accumulate_type.h"
#include "modewise/ops/arguments.h"
#include "modewise/ops/attention/fold_levels.h"
#include "modewise/ops/attention/summary_attention.h"
#include "modewise/ops/cpu/dense_channels.h"
#include "modewise/ops/cpu/dispatch_type.h"
#include "modewise/ops/cpu/row_tasks.h"
#include "modewise/ops/cpu/scratch.h"
#include "modewise/ops/cuda/summary_attention.h"
#include "modewise/ops/dense/elementary.h"
#include "modewise/ops/kernel_list.h"
#include "modewise/ops/reference/reference.h"

namespace modewise::ops {

namespace {

using Optional = std::optional<at::Tensor>;

constexpr int64_t kStripTokens = 1024, kMaxChunks = 64;

int64_t padded_width(int64_t width) {
  return (width + 15) / 16 * 16;
}

/// A plan and the tensors that its pointers point into.
class Work {
 public:
  Work(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const Optional& latents,
       const SummaryOptions& options, const RotaryEmbedding& rotary)
      : q_(dense_channels(q)),
        k_(dense_channels(k)),
        v_(dense_channels(v)),
        type_(accumulate_type(q.scalar_type())) {
    plan.n = q.size(1), plan.heads = q.size(2), plan.kv_heads = k.size(2);
    plan.d = q.size(3), plan.e = v.size(3);
    plan.summary_tokens = latents ? latents->size(2) : 1;
    plan.d_row = padded_width(plan.d), plan.e_row = padded_width(plan.e);
    plan.q = q_.const_data_ptr(), plan.k = k_.const_data_ptr(), plan.v = v_.const_data_ptr();
    plan.q_batch = q_.stride(0), plan.q_row = q_.stride(1), plan.q_head = q_.stride(2);
    plan.k_batch = k_.stride(0), plan.k_row = k_.stride(1), plan.k_head = k_.stride(2);
    plan.v_batch = v_.stride(0), plan.v_row = v_.stride(1), plan.v_head = v_.stride(2);
    plan.window = std::min(options.window, plan.n);
    plan.sinks = options.window < plan.n ? std::min(options.sinks, plan.n) : 0;
    batch = q.size(0);
    set_levels(options, latents, rotary);
    int64_t unit = 64;
    if (plan.levels > 1 && plan.level[1].tokens <= kStripTokens) unit = plan.level[1].tokens;
    plan.strip = std::max(kStripTokens / unit, int64_t{1}) * unit;
    const int64_t strips = (plan.n + plan.strip - 1) / plan.strip;
    plan.chunk = plan.strip * std::max((strips + kMaxChunks - 1) / kMaxChunks, int64_t{1});
    plan.chunks = (plan.n + plan.chunk - 1) / plan.chunk;
    for (int l = 0; l <= plan.levels; ++l)
      plan.query_scale[l] = options.scale * rotary.gain(l) * rotary.gain(l);
    if (rotary.used()) set_codes(options, rotary);
  }

  at::Tensor wide(std::vector<int64_t> shape) { return kept(at::empty(shape, q_.options().dtype(type_))); }
  at::Tensor zeros(std::vector<int64_t> shape) { return kept(at::zeros(shape, q_.options().dtype(type_))); }

  const at::Tensor& queries() const { return q_; }
  int64_t key_heads() const { return batch * plan.kv_heads; }

  SummaryPlan plan = {};
  int64_t batch = 0;

 private:
  void set_levels(const SummaryOptions& options, const Optional& latents, const RotaryEmbedding&) {
    at::Tensor rows;
    if (latents) rows = kept(at::pad(latents->to(type_), {0, plan.d_row - plan.d}).contiguous());
    for (const FoldLevel& fold : fold_levels(options.fold, plan.n)) {
      if (fold.finished == 0) break;
      TORCH_CHECK_VALUE(plan.levels < kMaxLevels, "summary_attention: at most ", kMaxLevels,
                        " levels of complete blocks are supported, got fold ", options.fold);
      SummaryLevel& level = plan.level[plan.levels];
      level.children = fold.children, level.tokens = fold.tokens;
      level.siblings = fold.siblings, level.finished = fold.finished, level.known = fold.known;
      level.keys =
          wide({batch, plan.kv_heads, fold.finished * plan.summary_tokens, plan.d_row}).mutable_data_ptr();
      level.values =
          wide({batch, plan.kv_heads, fold.finished * plan.summary_tokens, plan.e_row}).mutable_data_ptr();
      level.latents = kept(rows[plan.levels].contiguous()).const_data_ptr();
      ++plan.levels;
    }
  }

  void set_codes(const SummaryOptions& options, const RotaryEmbedding& rotary) {
    plan.given_positions = rotary.positions.defined();
    const auto table = [&](const at::Tensor& positions, int64_t level, const void*& cosine,
                           const void*& sine) {
      const auto angles = at::outer(positions.to(at::kDouble), rotary.level_frequencies(level));
      cosine = kept(elementary(angles, "cos").to(type_)).const_data_ptr();
      sine = kept(elementary(angles, "sin").to(type_)).const_data_ptr();
    };
    const int64_t rows = std::min(plan.n, plan.chunk + plan.window);
    table(plan.given_positions ? rotary.positions : at::arange(rows), 0, plan.cosine, plan.sine);
    table(at::full({1}, options.window, at::kLong), 0, plan.far_cosine, plan.far_sine);
    for (int l = 0; l < plan.levels; ++l) {
      SummaryLevel& level = plan.level[l];
      table(at::arange(std::min(level.siblings, level.finished + 1)), l + 1, level.cosine, level.sine);
    }
  }

  at::Tensor kept(at::Tensor tensor) {
    held_.push_back(tensor);
    return tensor;
  }

  at::Tensor q_, k_, v_;
  at::ScalarType type_;
  std::vector<at::Tensor> held_;
};

/// Calls body(b, g, piece) for all pieces. The heads of a piece are consecutive (adjacent rows in memory);
/// the pieces are scattered, because later ones attend to more summary tokens.
template <class Body>
void for_pieces(const Work& work, int64_t pieces, int64_t task_work, const Body& body) {
  const int64_t heads = work.plan.kv_heads;
  int64_t step = std::max<int64_t>(pieces * 5 / 8, 1);  // about the golden section
  while (std::gcd(step, pieces) > 1) ++step;
  for_tasks(work.key_heads() * pieces, task_work, [&](int64_t begin, int64_t end) {
    for (int64_t task = begin; task < end; ++task)
      body(task / heads / pieces, task % heads, task / heads % pieces * step % pieces);
  });
}

/// Blocks of a level per task: about a strip of tokens.
int64_t blocks_of_task(const SummaryLevel& level) {
  return std::max<int64_t>(kStripTokens / level.tokens, 1);
}

template <class T>
void make_summaries(const Work& work, const SummaryLoops<T>& table) {
  const SummaryPlan& plan = work.plan;
  for (int l = 0; l < plan.levels; ++l) {
    const SummaryLevel& level = plan.level[l];
    const int64_t blocks = blocks_of_task(level), pieces = (level.finished + blocks - 1) / blocks;
    const int64_t bytes = table.summary_scratch(plan, l);
    const int64_t task_work = blocks * level.children * plan.summary_tokens * plan.d;
    for_pieces(work, pieces, task_work, [&](int64_t b, int64_t g, int64_t piece) {
      table.summarise(plan, l, b, g, piece * blocks, std::min((piece + 1) * blocks, level.finished),
                      thread_scratch(bytes));
    });
  }
}

using Forward = std::tuple<at::Tensor, at::Tensor>;

Forward summary_attention_tiled(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                                const Optional& latents, const SummaryOptions& options,
                                const RotaryEmbedding& rotary) {
  const auto out = at::empty({q.size(0), q.size(1), q.size(2), v.size(3)}, q.options());
  const auto sums =
      at::empty({q.size(0), q.size(2), q.size(1)}, q.options().dtype(accumulate_type(q.scalar_type())));
  if (sums.numel() == 0) return {out, sums};
  Work work(q, k, v, latents, options, rotary);
  work.plan.out = out.mutable_data_ptr();
  work.plan.logsumexp = sums.mutable_data_ptr();
  const SummaryPlan& plan = work.plan;
  dispatch_floating(q.scalar_type(), "summary_attention", [&]<class T>() {
    const auto& table = *loops().of<T>().summary;
    make_summaries(work, table);
    const int64_t strips = (plan.n + plan.strip - 1) / plan.strip, bytes = table.attend_scratch(plan, false);
    const int64_t task_work = std::min(plan.strip, plan.n) * plan.d * 64;
    for_pieces(work, strips, task_work, [&](int64_t b, int64_t g, int64_t strip) {
      table.attend(plan, b, g, strip * plan.strip, std::min((strip + 1) * plan.strip, plan.n),
                   thread_scratch(bytes));
    });
  });
  return {out, sums};
}

const KernelList<Forward(const at::Tensor&, const at::Tensor&, const at::Tensor&, const Optional&,
                         const SummaryOptions&, const RotaryEmbedding&)>
    summary_kernels("summary_attention",
                    {{"triton", cuda::summary_attention_refuses, cuda::summary_attention,
                      KernelDevice::triton},
                     {"tiled", decltype(summary_kernels)::takes_all, summary_attention_tiled},
                     {"reference", decltype(summary_kernels)::takes_all, reference::summary_attention}});

/// Buffer rows of the chunks' partial gradients of summary tokens.
struct Parts {
  std::vector<int64_t> first, row;
  int64_t rows = 0;

  explicit Parts(const SummaryPlan& plan) {
    for (int64_t c = 0; c < plan.chunks; ++c) {
      const int64_t begin = c * plan.chunk, last = std::min((c + 1) * plan.chunk, plan.n) - 1;
      for (int l = 0; l < plan.levels; ++l) {
        const SummaryLevel& level = plan.level[l];
        first.push_back(begin / level.tokens / level.siblings * level.siblings);
        row.push_back(rows);
        rows += std::max<int64_t>(last / level.tokens - first.back(), 0) * plan.summary_tokens;
      }
    }
  }
};

at::Tensor summaries_backward(Work& work, const auto& table, const at::Tensor& latents) {
  const SummaryPlan& plan = work.plan;
  const auto grad = at::zeros(latents.sizes(), latents.options());
  for (int l = plan.levels; l-- > 0;) {
    const SummaryLevel& level = plan.level[l];
    const int64_t blocks = blocks_of_task(level), pieces = (level.finished + blocks - 1) / blocks;
    const auto parts = work.wide({work.batch, plan.kv_heads, pieces, plan.summary_tokens * plan.d_row});
    auto* rows = static_cast<std::byte*>(parts.mutable_data_ptr());
    const int64_t row_bytes = plan.summary_tokens * plan.d_row * parts.element_size(),
                  bytes = table.summary_scratch(plan, l);
    const int64_t task_work = blocks * level.children * plan.summary_tokens * plan.d * 4;
    for_pieces(work, pieces, task_work, [&](int64_t b, int64_t g, int64_t piece) {
      table.summarise_backward(plan, l, b, g, piece * blocks, std::min((piece + 1) * blocks, level.finished),
                               rows + ((b * plan.kv_heads + g) * pieces + piece) * row_bytes,
                               thread_scratch(bytes));
    });
    auto sum = parts.select(0, 0).select(1, 0).clone();
    for (int64_t b = 0; b < work.batch; ++b)
      for (int64_t piece = b == 0 ? 1 : 0; piece < pieces; ++piece)
        sum.add_(parts.select(0, b).select(1, piece));
    grad[l].copy_(sum.unflatten(-1, {plan.summary_tokens, plan.d_row}).narrow(-1, 0, plan.d));
  }
  return grad;
}

using Gradients = std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor>;

Gradients backward_tiled(const at::Tensor& grad, const at::Tensor& q, const at::Tensor& k,
                         const at::Tensor& v, const Optional& latents, const at::Tensor& out,
                         const at::Tensor& sums, const SummaryOptions& options,
                         const RotaryEmbedding& rotary) {
  const auto grad_q = at::empty(q.sizes(), q.options()), grad_k = at::empty(k.sizes(), k.options());
  const auto grad_v = at::empty(v.sizes(), v.options());
  auto grad_latents = latents ? at::zeros(latents->sizes(), latents->options()) : at::empty({0}, q.options());
  if (sums.numel() == 0) return {grad_q, grad_k.zero_(), grad_v.zero_(), grad_latents};
  Work work(q, k, v, latents, options, rotary);
  SummaryPlan& plan = work.plan;
  const auto dense_grad = grad.contiguous(), dense_out = out.contiguous(), dense_sums = sums.contiguous();
  plan.grad = dense_grad.const_data_ptr();
  plan.out = const_cast<void*>(dense_out.const_data_ptr());
  plan.logsumexp = const_cast<void*>(dense_sums.const_data_ptr());
  plan.grad_q = grad_q.mutable_data_ptr();
  plan.grad_k = grad_k.mutable_data_ptr(), plan.grad_v = grad_v.mutable_data_ptr();
  const Parts parts(plan);
  plan.part_first = parts.first.data(), plan.part_row = parts.row.data(), plan.part_rows = parts.rows;
  const auto sums_of = [&](int64_t rows, int64_t width) {
    return work.zeros({work.batch, plan.kv_heads, rows, width}).mutable_data_ptr();
  };
  plan.sum_k = sums_of(plan.n, plan.d_row), plan.sum_v = sums_of(plan.n, plan.e_row);
  plan.halo_k = sums_of(plan.chunks * (plan.window - 1), plan.d_row);
  plan.halo_v = sums_of(plan.chunks * (plan.window - 1), plan.e_row);
  plan.sink_k = sums_of(plan.chunks * plan.sinks, plan.d_row);
  plan.sink_v = sums_of(plan.chunks * plan.sinks, plan.e_row);
  plan.part_k = sums_of(plan.part_rows, plan.d_row), plan.part_v = sums_of(plan.part_rows, plan.e_row);
  for (int l = 0; l < plan.levels; ++l) {
    const int64_t rows = plan.level[l].finished * plan.summary_tokens;
    plan.level[l].grad_keys = work.wide({work.batch, plan.kv_heads, rows, plan.d_row}).mutable_data_ptr();
    plan.level[l].grad_values = work.wide({work.batch, plan.kv_heads, rows, plan.e_row}).mutable_data_ptr();
  }
  dispatch_floating(q.scalar_type(), "summary_attention_backward", [&]<class T>() {
    const auto& table = *loops().of<T>().summary;
    make_summaries(work, table);
    const int64_t bytes = table.attend_scratch(plan, true), strips = (plan.n + plan.strip - 1) / plan.strip;
    const int64_t task_work = std::min(plan.strip, plan.n) * plan.d, chunk_task_work = task_work * 64;
    const auto strip_end = [&](int64_t strip) { return std::min((strip + 1) * plan.strip, plan.n); };
    for_pieces(work, plan.chunks, chunk_task_work, [&](int64_t b, int64_t g, int64_t chunk) {
      table.attend_backward(plan, b, g, chunk, thread_scratch(bytes));
    });
    for_pieces(work, strips, task_work, [&](int64_t b, int64_t g, int64_t strip) {
      table.gather_tokens(plan, b, g, strip * plan.strip, strip_end(strip));
    });
    for_pieces(work, plan.levels, task_work, [&](int64_t b, int64_t g, int64_t l) {
      table.gather_summaries(plan, static_cast<int>(l), b, g);
    });
    if (latents) grad_latents = summaries_backward(work, table, *latents);
    for_pieces(work, strips, task_work, [&](int64_t b, int64_t g, int64_t strip) {
      table.store_tokens(plan, b, g, strip * plan.strip, strip_end(strip));
    });
  });
  return {grad_q, grad_k, grad_v, grad_latents};
}

Gradients backward_reference(const at::Tensor& grad, const at::Tensor& q, const at::Tensor& k,
                             const at::Tensor& v, const Optional& latents, const at::Tensor&,
                             const at::Tensor&, const SummaryOptions& options,
                             const RotaryEmbedding& rotary) {
  return reference::summary_attention_backward(grad, q, k, v, latents, options, rotary);
}

using SummaryBackwardKernels = KernelList<Gradients(
    const at::Tensor&, const at::Tensor&, const at::Tensor&, const at::Tensor&, const Optional&,
    const at::Tensor&, const at::Tensor&, const SummaryOptions&, const RotaryEmbedding&)>;
const SummaryBackwardKernels summary_backward_kernels(
    "summary_attention_backward", {{"triton", cuda::summary_attention_backward_refuses,
                                    cuda::summary_attention_backward, KernelDevice::triton},
                                   {"tiled", SummaryBackwardKernels::takes_all, backward_tiled},
                                   {"reference", SummaryBackwardKernels::takes_all, backward_reference}});

RotaryEmbedding code_of(const Optional& frequencies, const Optional& positions, at::ArrayRef<double> gains) {
  return {frequencies.value_or(at::Tensor()), gains.vec(), positions.value_or(at::Tensor())};
}

Forward summary_attention_checked(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                                  const Optional& latents, const Optional& frequencies,
                                  const Optional& positions, at::IntArrayRef fold, int64_t window,
                                  int64_t sinks, double scale, at::ArrayRef<double> gains) {
  const SummaryOptions options = {fold.vec(), window, sinks, scale};
  const RotaryEmbedding rotary = code_of(frequencies, positions, gains);
  check_summary_attention_args(q, k, v, latents, options, rotary);
  return summary_kernels.run(q.device(), q, k, v, latents, options, rotary);
}

Gradients summary_attention_backward_checked(const at::Tensor& grad, const at::Tensor& q, const at::Tensor& k,
                                             const at::Tensor& v, const Optional& latents,
                                             const at::Tensor& out, const at::Tensor& sums,
                                             const Optional& frequencies, const Optional& positions,
                                             at::IntArrayRef fold, int64_t window, int64_t sinks,
                                             double scale, at::ArrayRef<double> gains) {
  const SummaryOptions options = {fold.vec(), window, sinks, scale};
  const RotaryEmbedding rotary = code_of(frequencies, positions, gains);
  check_summary_attention_args(q, k, v, latents, options, rotary);
  check_summary_results(grad, out, sums, q, v);
  return summary_backward_kernels.run(q.device(), grad, q, k, v, latents, out, sums, options, rotary);
}

}  // namespace

TORCH_LIBRARY_IMPL(modewise, CompositeExplicitAutograd, m) {
  m.impl("summary_attention", summary_attention_checked);
  m.impl("summary_attention_backward", summary_attention_backward_checked);
}

}  // namespace modewise::ops
