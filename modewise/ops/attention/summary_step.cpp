#include "modewise/ops/attention/summary_step.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/empty.h>
#include <torch/library.h>

#include "modewise/ops/accumulate_type.h"
#include "modewise/ops/arguments.h"
#include "modewise/ops/attention/summary_step_checks.h"

namespace modewise::ops {
namespace {

constexpr auto kSummaryStep = "summary_step";

at::Tensor summary_step_meta(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                             const at::Tensor& rotated, const at::Tensor& ring_keys,
                             const at::Tensor& ring_values, const at::Tensor& first_keys,
                             const at::Tensor& first_values, at::TensorList summary_keys,
                             at::TensorList summary_values, at::IntArrayRef places,
                             at::ArrayRef<double> excess, const OptionalTensor& latents,
                             const OptionalTensor& high, const OptionalTensor& total,
                             const OptionalTensor& sum_keys, const OptionalTensor& sum_values,
                             const OptionalTensor& frequencies, at::ArrayRef<double> gains, int64_t first,
                             int64_t window, double scale, bool attends) {
  check_summary_step_args(q, k, v, rotated, {ring_keys, ring_values}, {first_keys, first_values},
                          visible_summaries(summary_keys, summary_values, places, excess),
                          partial_blocks(latents, high, total, sum_keys, sum_values),
                          {frequencies.value_or(at::Tensor()), gains.vec(), {}},
                          {first, window, scale, attends});
  if (!attends) return at::empty({0}, q.options());
  return at::empty_symint({q.sym_size(0), q.sym_size(1), q.sym_size(2), v.sym_size(3)}, q.options());
}

void summary_join_meta(const at::Tensor& keys, const at::Tensor& values, const at::Tensor& latents,
                       const at::Tensor& high, const at::Tensor& total, const at::Tensor& sum_keys,
                       const at::Tensor& sum_values) {
  check_summary_join_args("summary_join", {keys, values}, {latents, high, total, sum_keys, sum_values});
}

/// Checks cached rows against k and v: dtype, device and sizes, contiguous within a sample.
void check_step_rows(const char* keys_name, const char* values_name, const KeyRows& rows, const at::Tensor& k,
                     const at::Tensor& v) {
  const auto check = [&](const char* name, const at::Tensor& x, const at::Tensor& like) {
    check_same(kSummaryStep, name, x, "k", k);
    TORCH_CHECK_VALUE(x.dim() == 4 && x.sym_size(0) == like.sym_size(0) &&
                          x.sym_size(1) == rows.keys.sym_size(1) && x.sym_size(2) == like.sym_size(2) &&
                          x.sym_size(3) == like.sym_size(3),
                      kSummaryStep, ": ", name, " must be [", like.sym_size(0), ", rows, ", like.sym_size(2),
                      ", ", like.sym_size(3), "], got ", x.sym_sizes());
    const auto width = like.sym_size(3);
    TORCH_CHECK_VALUE(x.sym_numel() == 0 || (x.sym_stride(3) == 1 && x.sym_stride(2) == width &&
                                             x.sym_stride(1) == width * like.sym_size(2)),
                      kSummaryStep, ": the rows of ", name, " must be contiguous");
  };
  check(keys_name, rows.keys, k);
  check(values_name, rows.values, v);
}

}  // namespace

void check_summary_join_args(const char* op, const KeyRows& rows, const PartialBlocks& open) {
  const at::Tensor &keys = rows.keys, &values = rows.values;
  check_floating(op, "keys", keys);
  check_same(op, "values", values, "keys", keys);
  TORCH_CHECK_VALUE(keys.dim() == 4 && values.dim() == 4 &&
                        keys.sym_sizes().slice(0, 3) == values.sym_sizes().slice(0, 3) &&
                        keys.is_contiguous() && values.is_contiguous(),
                    op, ": keys and values must be contiguous [B, n, G, d] and [B, n, G, e], got ",
                    keys.sym_sizes(), " and ", values.sym_sizes());
  const auto type = accumulate_type(keys.scalar_type());
  TORCH_CHECK_VALUE(open.latents.dim() == 3 && open.latents.sym_size(0) == keys.sym_size(2) &&
                        open.latents.sym_size(2) == keys.sym_size(3),
                    op, ": latents must be [", keys.sym_size(2), ", r, ", keys.sym_size(3), "], got ",
                    open.latents.sym_sizes());
  const auto check = [&](const char* name, const at::Tensor& x, const c10::SymInt& width) {
    check_device(op, name, x, "keys", keys);
    const c10::SymInt wanted[] = {keys.sym_size(0), keys.sym_size(2), open.latents.sym_size(1), width};
    TORCH_CHECK_VALUE(
        x.scalar_type() == type && x.sym_sizes() == c10::SymIntArrayRef(wanted) && x.is_contiguous(), op,
        ": ", name, " must be contiguous ", type, " ", c10::SymIntArrayRef(wanted), ", got ", x.scalar_type(),
        " ", x.sym_sizes());
  };
  check_device(op, "latents", open.latents, "keys", keys);
  TORCH_CHECK_VALUE(open.latents.scalar_type() == type && open.latents.is_contiguous(), op,
                    ": latents must be contiguous ", type, ", got ", open.latents.scalar_type());
  check("high", open.high, 1);
  check("total", open.total, 1);
  check("sum_keys", open.keys, keys.sym_size(3));
  check("sum_values", open.values, values.sym_size(3));
}

void check_summary_step_args(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                             const at::Tensor& rotated, const KeyRows& ring, const KeyRows& first,
                             const std::vector<VisibleSummaries>& summary_tokens, const PartialBlocks& open,
                             const RotaryEmbedding& rotary, const StepOptions& options) {
  check_floating(kSummaryStep, "q", q);
  check_same(kSummaryStep, "k", k, "q", q);
  check_same(kSummaryStep, "v", v, "q", q);
  check_same(kSummaryStep, "turned", rotated, "q", q);
  TORCH_CHECK_VALUE(q.dim() == 4 && k.dim() == 4 && v.dim() == 4 && q.sym_size(0) == k.sym_size(0) &&
                        q.sym_size(1) == k.sym_size(1) && q.sym_size(3) == k.sym_size(3) &&
                        k.sym_size(2) > 0 && q.sym_size(2) % k.sym_size(2) == 0 &&
                        v.sym_sizes().slice(0, 3) == k.sym_sizes().slice(0, 3) &&
                        rotated.sym_sizes() == k.sym_sizes(),
                    kSummaryStep,
                    ": q, k, turned and v must be [B, t, H, d], [B, t, G, d], [B, t, G, d] and [B, t, G, e], "
                    "G a divisor of H; got ",
                    q.sym_sizes(), ", ", k.sym_sizes(), ", ", rotated.sym_sizes(), " and ", v.sym_sizes());
  TORCH_CHECK_VALUE(q.is_contiguous() && k.is_contiguous() && v.is_contiguous() && rotated.is_contiguous(),
                    kSummaryStep, ": q, k, v and turned must be contiguous");
  check_step_rows("ring_keys", "ring_values", ring, k, v);
  check_step_rows("first_keys", "first_values", first, k, v);
  for (const VisibleSummaries& level : summary_tokens)
    check_step_rows("slot_keys", "slot_values", level.rows, k, v);
  for (const VisibleSummaries& level : summary_tokens)
    check_integer(kSummaryStep, "each of places", level.place, 0);
  check_integer(kSummaryStep, "first", options.first, 0);
  check_integer(kSummaryStep, "window", options.window, 1);
  const auto so_far = q.sym_size(1) + options.first;
  TORCH_CHECK_VALUE(ring.keys.sym_size(1) >= (so_far < options.window ? so_far : c10::SymInt(options.window)),
                    kSummaryStep, ": the ring must have a row for each of the last ", options.window, " of ",
                    so_far, " tokens, got ", ring.keys.sym_size(1));
  if (open.used()) check_summary_join_args(kSummaryStep, {k, v}, open);
  if (!rotary.used()) return;
  check_device(kSummaryStep, "frequencies", rotary.frequencies, "q", q);
  TORCH_CHECK_VALUE(rotary.frequencies.scalar_type() == at::kDouble && rotary.frequencies.dim() == 2 &&
                        rotary.frequencies.sym_size(0) > 0 &&
                        rotary.frequencies.sym_size(1) * 2 == q.sym_size(3),
                    kSummaryStep, ": frequencies must be float64 [levels, d/2] for q ", q.sym_sizes(),
                    ", got ", rotary.frequencies.scalar_type(), " ", rotary.frequencies.sym_sizes());
}

at::Tensor summary_step(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                        const at::Tensor& rotated, const KeyRows& ring, const KeyRows& first,
                        const std::vector<VisibleSummaries>& summary_tokens, const PartialBlocks& open,
                        const RotaryEmbedding& rotary, const StepOptions& options) {
  static const auto op = c10::Dispatcher::singleton()
                             .findSchemaOrThrow("modewise::summary_step", "")
                             .typed<decltype(summary_step_meta)>();
  std::vector<at::Tensor> summary_keys, summary_values;
  std::vector<int64_t> places;
  std::vector<double> excess;
  for (const VisibleSummaries& level : summary_tokens) {
    summary_keys.push_back(level.rows.keys);
    summary_values.push_back(level.rows.values);
    places.push_back(level.place);
    excess.push_back(level.excess);
  }
  return op.call(q, k, v, rotated, ring.keys, ring.values, first.keys, first.values, summary_keys,
                 summary_values, places, excess, optional(open.latents), optional(open.high),
                 optional(open.total), optional(open.keys), optional(open.values),
                 optional(rotary.frequencies), rotary.gains, options.first, options.window, options.scale,
                 options.attends);
}

void summary_join(const KeyRows& rows, const PartialBlocks& open) {
  static const auto op = c10::Dispatcher::singleton()
                             .findSchemaOrThrow("modewise::summary_join", "")
                             .typed<decltype(summary_join_meta)>();
  op.call(rows.keys, rows.values, open.latents, open.high, open.total, open.keys, open.values);
}

TORCH_LIBRARY_FRAGMENT(modewise, m) {
  m.def(
      "summary_step(Tensor q, Tensor k, Tensor v, Tensor turned, Tensor(a!) ring_keys, Tensor(b!) "
      "ring_values, "
      "Tensor(c!) first_keys, Tensor(d!) first_values, Tensor[] slot_keys, Tensor[] slot_values, int[] "
      "places, "
      "float[] excess, Tensor? latents, Tensor(e!)? high, Tensor(f!)? total, Tensor(g!)? sum_keys, "
      "Tensor(h!)? "
      "sum_values, Tensor? frequencies, float[] gains, int first, int window, float scale, bool attends) -> "
      "Tensor");
  m.def(
      "summary_join(Tensor keys, Tensor values, Tensor latents, Tensor(a!) high, Tensor(b!) total, "
      "Tensor(c!) "
      "sum_keys, Tensor(d!) sum_values) -> ()");
}

TORCH_LIBRARY_IMPL(modewise, Meta, m) {
  m.impl("summary_step", summary_step_meta);
  m.impl("summary_join", summary_join_meta);
}

}  // namespace modewise::ops
