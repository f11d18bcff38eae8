// Each (sample, key head) is independent; threads share them.

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <torch/library.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "modewise/ops/accumulate_type.h"
#include "modewise/ops/attention/summary_step_checks.h"
#include "modewise/ops/autograd/written_tensors.h"
#include "modewise/ops/cpu/dispatch_type.h"
#include "modewise/ops/cpu/row_tasks.h"
#include "modewise/ops/cpu/scratch.h"
#include "modewise/ops/cuda/summary_step.h"
#include "modewise/ops/kernel_list.h"
#include "modewise/ops/reference/reference.h"

namespace modewise::ops {

namespace {

/// Cosine and sine table of positions, one row each, in the accumulate type.
class RotationTable {
 public:
  RotationTable(int64_t rows, int64_t half, at::ScalarType type)
      : half_(half), cosine_(at::empty({rows, half}, type)), sine_(at::empty({rows, half}, type)) {}

  void set(int64_t row, const at::Tensor& frequencies, int64_t position) {
    const double* frequency = frequencies.const_data_ptr<double>();
    const auto fill = [&](auto* cosine, auto* sine) {
      using F = std::remove_pointer_t<decltype(cosine)>;
      for (int64_t c = 0; c < half_; ++c) {
        const double angle = static_cast<double>(position) * frequency[c];
        cosine[row * half_ + c] = static_cast<F>(std::cos(angle));
        sine[row * half_ + c] = static_cast<F>(std::sin(angle));
      }
    };
    if (cosine_.scalar_type() == at::kDouble)
      fill(cosine_.mutable_data_ptr<double>(), sine_.mutable_data_ptr<double>());
    else
      fill(cosine_.mutable_data_ptr<float>(), sine_.mutable_data_ptr<float>());
  }
  const void* cosine() const { return cosine_.const_data_ptr(); }
  const void* sine() const { return sine_.const_data_ptr(); }

 private:
  int64_t half_;
  at::Tensor cosine_, sine_;
};

/// Row stride between samples.
int64_t rows_of_a_sample(const at::Tensor& rows) {
  return rows.stride(0) / (rows.size(2) * rows.size(3));
}

StepRows step_rows(const KeyRows& rows, int64_t code, double scale, double excess) {
  return {rows.keys.const_data_ptr(),
          rows.values.const_data_ptr(),
          rows.keys.size(1),
          rows_of_a_sample(rows.keys),
          code,
          scale,
          excess};
}

OpenPlan open_plan(const KeyRows& rows, const PartialBlocks& open) {
  if (!open.used()) return {};
  return {.keys = rows.keys.const_data_ptr(),
          .values = rows.values.const_data_ptr(),
          .keys_batch = rows.keys.stride(0),
          .values_batch = rows.values.stride(0),
          .kv_heads = rows.keys.size(2),
          .d = rows.keys.size(3),
          .e = rows.values.size(3),
          .summary_tokens = open.latents.size(1),
          .latents = open.latents.const_data_ptr(),
          .high = open.high.mutable_data_ptr(),
          .total = open.total.mutable_data_ptr(),
          .sum_keys = open.keys.mutable_data_ptr(),
          .sum_values = open.values.mutable_data_ptr()};
}

/// Copies row `row` of x [B·t, G, ·] of key head g to row `at` of sample b.
template <class T>
void put_row(const void* x, int64_t row, const at::Tensor& rows, int64_t b, int64_t at, int64_t g) {
  const int64_t groups = rows.size(2), width = rows.size(3);
  std::memcpy(static_cast<T*>(rows.mutable_data_ptr()) + b * rows.stride(0) + (at * groups + g) * width,
              static_cast<const T*>(x) + (row * groups + g) * width, static_cast<size_t>(width) * sizeof(T));
}

struct StepArguments {
  const at::Tensor &q, &k, &v, &rotated;
  const KeyRows &ring, &first;
  const std::vector<VisibleSummaries>& summary_tokens;
  const PartialBlocks& open;
  const RotaryEmbedding& rotary;
  const StepOptions& options;

  int64_t tokens() const { return q.size(1); }
  double gain(int64_t level) const { return rotary.used() ? rotary.gain(level) : 1; }
};

/// Rotation table: one row per token, one for the first tokens, one per level.
void set_step_codes(const StepArguments& a, RotationTable& codes, StepPlan& plan) {
  const auto row_of = [&](int64_t level) { return a.rotary.level_frequencies(level).contiguous(); };
  const at::Tensor tokens = row_of(0);
  const int64_t count = a.tokens();
  for (int64_t i = 0; i < count; ++i) codes.set(i, tokens, a.options.first + i);
  codes.set(count, tokens, a.options.window);
  for (size_t l = 0; l < a.summary_tokens.size(); ++l) {
    const auto level = static_cast<int64_t>(l) + 1;
    codes.set(count + level, row_of(level), a.summary_tokens[l].place);
  }
  plan.cosine = codes.cosine(), plan.sine = codes.sine();
}

/// Visible rows of the tokens; the counts of ring and first tokens are those of the last token.
StepPlan step_plan(const StepArguments& a, RotationTable& codes) {
  StepPlan plan = {};
  plan.heads = a.q.size(2), plan.kv_heads = a.k.size(2), plan.d = a.k.size(3), plan.e = a.v.size(3);
  plan.q_batch = a.tokens() * plan.heads * plan.d, plan.out_batch = a.tokens() * plan.heads * plan.e;
  if (!a.options.attends) return plan;
  const double scale = a.options.scale, gain = a.gain(0);
  const int64_t count = a.tokens();
  plan.part[plan.parts++] = step_rows(a.ring, 0, scale * gain, 0);
  // The first tokens are cached at position 0, not rotated, and seen at distance `window`.
  if (a.first.keys.size(1) > 0) plan.part[plan.parts++] = step_rows(a.first, count, scale * gain * gain, 0);
  for (size_t l = 0; l < a.summary_tokens.size(); ++l) {
    const auto level = static_cast<int64_t>(l) + 1;
    if (a.summary_tokens[l].rows.keys.size(1) > 0)
      plan.part[plan.parts++] = step_rows(a.summary_tokens[l].rows, count + level, scale * a.gain(level),
                                          a.summary_tokens[l].excess);
  }
  if (a.rotary.used()) set_step_codes(a, codes, plan);
  return plan;
}

template <class T>
void take_tokens(const StepArguments& a, const at::Tensor& out) {
  const StepLoops<T>& step = *loops().of<T>().step;
  const int64_t batch = a.q.size(0), tokens = a.tokens(), window = a.options.window;
  const int64_t heads = a.q.size(2), groups = a.k.size(2), d = a.k.size(3), e = a.v.size(3);
  const int64_t sinks = a.first.keys.size(1);
  const bool attends = a.options.attends;
  RotationTable codes(attends && a.rotary.used() ? tokens + 1 + std::ssize(a.summary_tokens) : 0, d / 2,
                      accumulate_type(a.q.scalar_type()));
  const StepPlan plan = step_plan(a, codes);
  const bool has_first = attends && sinks > 0;
  int64_t all_work = 0;
  for (int p = 0; p < plan.parts; ++p) all_work += plan.part[p].count;
  const int64_t task_work = all_work * (d + e) * heads / groups * tokens;
  const OpenPlan open = open_plan({a.k, a.v}, a.open);
  const void *k = a.k.const_data_ptr(), *v = a.v.const_data_ptr(), *rotated = a.rotated.const_data_ptr();
  for_tasks(batch * groups, task_work, [&](int64_t task, int64_t last) {
    StepPlan mine = plan;
    void* scratch = attends ? thread_scratch(step.attend_scratch(plan)) : nullptr;
    for (; task < last; ++task) {
      const int64_t b = task / groups, g = task % groups;
      for (int64_t i = 0; i < tokens; ++i) {
        const int64_t t = a.options.first + i, row = b * tokens + i;
        put_row<T>(rotated, row, a.ring.keys, b, t % window, g);
        put_row<T>(v, row, a.ring.values, b, t % window, g);
        if (t < sinks) {
          put_row<T>(k, row, a.first.keys, b, t, g);
          put_row<T>(v, row, a.first.values, b, t, g);
        }
        if (attends) {
          mine.q = static_cast<const T*>(a.q.const_data_ptr()) + i * heads * d;
          mine.out = static_cast<T*>(out.mutable_data_ptr()) + i * heads * e;
          mine.part[0].count = std::min(t + 1, window);
          mine.part[0].code = i;
          if (has_first) mine.part[1].count = std::clamp<int64_t>(t + 1 - window, 0, sinks);
          step.attend(mine, b, g, scratch);
        }
        if (a.open.used()) step.join(open, b, g, i);
      }
    }
  });
}

at::Tensor summary_step_loops(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                              const at::Tensor& rotated, const KeyRows& ring, const KeyRows& first,
                              const std::vector<VisibleSummaries>& summary_tokens, const PartialBlocks& open,
                              const RotaryEmbedding& rotary, const StepOptions& options) {
  const auto out = options.attends ? at::empty({q.size(0), q.size(1), q.size(2), v.size(3)}, q.options())
                                   : at::empty({0}, q.options());
  const StepArguments arguments = {q, k, v, rotated, ring, first, summary_tokens, open, rotary, options};
  dispatch_floating(q.scalar_type(), "summary_step", [&]<class T>() { take_tokens<T>(arguments, out); });
  return out;
}

std::string too_many_levels(const at::Tensor&, const at::Tensor&, const at::Tensor&, const at::Tensor&,
                            const KeyRows&, const KeyRows&,
                            const std::vector<VisibleSummaries>& summary_tokens, const PartialBlocks&,
                            const RotaryEmbedding&, const StepOptions&) {
  return std::ssize(summary_tokens) > kMaxLevels ? "more block levels than supported" : "";
}

using StepKernels =
    KernelList<at::Tensor(const at::Tensor&, const at::Tensor&, const at::Tensor&, const at::Tensor&,
                          const KeyRows&, const KeyRows&, const std::vector<VisibleSummaries>&,
                          const PartialBlocks&, const RotaryEmbedding&, const StepOptions&)>;
const StepKernels step_kernels("summary_step",
                               {{"triton", cuda::summary_step_refuses, cuda::summary_step,
                                 KernelDevice::triton},
                                {"loops", too_many_levels, summary_step_loops},
                                {"reference", StepKernels::takes_all, reference::summary_step}});

at::Tensor summary_step_checked(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                                const at::Tensor& rotated, const at::Tensor& ring_keys,
                                const at::Tensor& ring_values, const at::Tensor& first_keys,
                                const at::Tensor& first_values, at::TensorList summary_keys,
                                at::TensorList summary_values, at::IntArrayRef places,
                                at::ArrayRef<double> excess, const OptionalTensor& latents,
                                const OptionalTensor& high, const OptionalTensor& total,
                                const OptionalTensor& sum_keys, const OptionalTensor& sum_values,
                                const OptionalTensor& frequencies, at::ArrayRef<double> gains, int64_t first,
                                int64_t window, double scale, bool attends) {
  const KeyRows ring = {ring_keys, ring_values}, kept = {first_keys, first_values};
  const auto summary_tokens = visible_summaries(summary_keys, summary_values, places, excess);
  const PartialBlocks open = partial_blocks(latents, high, total, sum_keys, sum_values);
  const RotaryEmbedding rotary = {frequencies.value_or(at::Tensor()), gains.vec(), {}};
  const StepOptions options = {first, window, scale, attends};
  check_summary_step_args(q, k, v, rotated, ring, kept, summary_tokens, open, rotary, options);
  const auto out =
      step_kernels.run(q.device(), q, k, v, rotated, ring, kept, summary_tokens, open, rotary, options);
  count_writes(
      {ring_keys, ring_values, first_keys, first_values, open.high, open.total, open.keys, open.values});
  return out;
}

void summary_join_loops(const KeyRows& rows, const PartialBlocks& open) {
  const OpenPlan plan = open_plan(rows, open);
  dispatch_floating(rows.keys.scalar_type(), "summary_join", [&]<class T>() {
    for (int64_t b = 0; b < rows.keys.size(0); ++b)
      for (int64_t g = 0; g < rows.keys.size(2); ++g)
        for (int64_t row = 0; row < rows.keys.size(1); ++row) loops().of<T>().step->join(plan, b, g, row);
  });
}

const KernelList<void(const KeyRows&, const PartialBlocks&)> join_kernels(
    "summary_join", {{"triton", cuda::summary_join_refuses, cuda::summary_join, KernelDevice::triton},
                     {"loops", decltype(join_kernels)::takes_all, summary_join_loops},
                     {"reference", decltype(join_kernels)::takes_all, reference::summary_join}});

void summary_join_checked(const at::Tensor& keys, const at::Tensor& values, const at::Tensor& latents,
                          const at::Tensor& high, const at::Tensor& total, const at::Tensor& sum_keys,
                          const at::Tensor& sum_values) {
  const PartialBlocks open = {latents, high, total, sum_keys, sum_values};
  check_summary_join_args("summary_join", {keys, values}, open);
  join_kernels.run(keys.device(), {keys, values}, open);
  count_writes({high, total, sum_keys, sum_values});
}

}  // namespace

TORCH_LIBRARY_IMPL(modewise, CompositeExplicitAutograd, m) {
  m.impl("summary_step", summary_step_checked);
  m.impl("summary_join", summary_join_checked);
}

}  // namespace modewise::ops
