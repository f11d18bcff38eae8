// Token by token, with all visible keys of a token in one matrix.

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/einsum.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/exp.h>
#include <ATen/ops/maximum.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/stack.h>

#include <algorithm>

#include "modewise/ops/accumulate_type.h"
#include "modewise/ops/reference/reference.h"

namespace modewise::ops::reference {

namespace {

/// Logits [B, G, H/G, rows] and values [B, rows, G, e] visible to a token.
struct Seen {
  std::vector<at::Tensor> logits, values;
};

}  // namespace

void summary_join(const KeyRows& rows, const PartialBlocks& open) {
  const auto type = open.latents.scalar_type();
  for (int64_t row = 0; row < rows.keys.size(1); ++row) {
    const auto key = rows.keys.select(1, row).to(type).unsqueeze(2);  // [B, G, 1, d]
    const auto value = rows.values.select(1, row).to(type).unsqueeze(2);
    const auto logit = (open.latents * key).sum(-1, true);  // [B, G, r, 1]
    const auto above = at::maximum(open.high, logit);
    const auto keep = at::exp(open.high - above), weight = at::exp(logit - above);
    open.high.copy_(above);
    open.total.copy_(open.total * keep + weight);
    open.keys.copy_(open.keys * keep + weight * key);
    open.values.copy_(open.values * keep + weight * value);
  }
}

at::Tensor summary_step(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                        const at::Tensor& rotated, const KeyRows& ring, const KeyRows& first,
                        const std::vector<VisibleSummaries>& summary_tokens, const PartialBlocks& open,
                        const RotaryEmbedding& rotary, const StepOptions& options) {
  const auto type = accumulate_type(q.scalar_type());
  const int64_t groups = k.size(2);
  std::vector<at::Tensor> out;
  for (int64_t i = 0; i < q.size(1); ++i) {
    const int64_t t = options.first + i;
    ring.keys.select(1, t % options.window).copy_(rotated.select(1, i));
    ring.values.select(1, t % options.window).copy_(v.select(1, i));
    if (t < first.keys.size(1)) {
      first.keys.select(1, t).copy_(k.select(1, i));
      first.values.select(1, t).copy_(v.select(1, i));
    }
    if (options.attends) {
      Seen seen;
      const auto see = [&](const KeyRows& rows, int64_t count, int64_t level, int64_t position, double gain,
                           double excess) {
        auto query = q.narrow(1, i, 1).to(type);
        if (rotary.used())
          query = reference::rotary(
              query, (rotary.level_frequencies(level) * static_cast<double>(position)).unsqueeze(0), 1,
              false);
        query = query.squeeze(1).unflatten(1, {groups, -1}) * (options.scale * gain);  // [B, G, H/G, d]
        seen.logits.push_back(at::einsum("bghd,bngd->bghn", {query, rows.keys.narrow(1, 0, count).to(type)}) -
                              excess);
        seen.values.push_back(rows.values.narrow(1, 0, count).to(type));
      };
      const auto gain = [&](int64_t level) { return rotary.used() ? rotary.gain(level) : 1.0; };
      see(ring, std::min(t + 1, options.window), 0, t, gain(0), 0);
      see(first, std::clamp<int64_t>(t + 1 - options.window, 0, first.keys.size(1)), 0, options.window,
          gain(0) * gain(0), 0);
      for (size_t l = 0; l < summary_tokens.size(); ++l) {
        const auto level = static_cast<int64_t>(l) + 1;
        see(summary_tokens[l].rows, summary_tokens[l].rows.keys.size(1), level, summary_tokens[l].place,
            gain(level), summary_tokens[l].excess);
      }
      const auto weights = at::softmax(at::cat(seen.logits, -1), -1);
      out.push_back(at::einsum("bghn,bnge->bghe", {weights, at::cat(seen.values, 1)}).flatten(1, 2));
    }
    if (open.used()) reference::summary_join({k.narrow(1, i, 1), v.narrow(1, i, 1)}, open);
  }
  if (!options.attends) return at::empty({0}, q.options());
  return at::stack(out, 1).to(q.scalar_type());
}

}  // namespace modewise::ops::reference
