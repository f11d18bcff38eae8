// All keys in one matrix with a mask: tokens, then the first tokens, then the summary tokens of each level.
// Memory n².

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/einsum.h>
#include <ATen/ops/full.h>
#include <ATen/ops/logsumexp.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/outer.h>
#include <ATen/ops/softmax.h>

#include <limits>

#include "modewise/ops/accumulate_type.h"
#include "modewise/ops/arguments.h"
#include "modewise/ops/attention/fold_levels.h"
#include "modewise/ops/reference/gradients.h"
#include "modewise/ops/reference/reference.h"

namespace modewise::ops::reference {

namespace {

struct Keys {
  std::vector<at::Tensor> logits, values, kept;
};

}  // namespace

std::tuple<at::Tensor, at::Tensor> summary_attention(const at::Tensor& q_in, const at::Tensor& k_in,
                                                     const at::Tensor& v_in,
                                                     const std::optional<at::Tensor>& latents,
                                                     const SummaryOptions& options,
                                                     const RotaryEmbedding& code) {
  const auto type = accumulate_type(q_in.scalar_type());
  const auto q = q_in.to(type), k = k_in.to(type), v = v_in.to(type);
  const int64_t n = q.size(1), repeats = q.size(2) / k.size(2);
  const auto per_head = [&](const at::Tensor& x) { return x.repeat_interleave(repeats, 2); };
  const auto turn = [&](const at::Tensor& x, const at::Tensor& positions, int64_t level) {
    if (!code.used()) return x;
    return rotary(x, at::outer(positions.to(at::kDouble), code.level_frequencies(level)), code.gain(level),
                  false);
  };
  const auto logits = [&](const at::Tensor& queries, const at::Tensor& keys) {
    return at::einsum("bthd,bshd->bhts", {queries, per_head(keys)}) * options.scale;
  };
  const auto integers = q.options().dtype(at::kLong);
  const auto token = at::arange(n, integers).unsqueeze(1);
  const auto positions = code.positions.defined() ? code.positions : at::arange(n, integers);
  const auto distance = token - at::arange(n, integers);
  Keys keys;
  keys.logits.push_back(logits(turn(q, positions, 0), turn(k, positions, 0)));
  keys.values.push_back(v);
  keys.kept.push_back(distance.ge(0).logical_and(distance.lt(options.window)));

  const int64_t sinks = std::min(options.sinks, n);
  if (sinks > 0) {
    const auto far = at::full({n}, options.window, integers), near = at::full({sinks}, 0, integers);
    keys.logits.push_back(logits(turn(q, far, 0), turn(k.narrow(1, 0, sinks), near, 0)));
    keys.values.push_back(v.narrow(1, 0, sinks));
    keys.kept.push_back(distance.narrow(1, 0, sinks).ge(options.window));
  }

  auto child_keys = k, child_values = v;
  int64_t level = 0, summaries_of_child = 1;
  for (const FoldLevel& fold : fold_levels(options.fold, n)) {
    if (fold.finished == 0) break;
    const int64_t children = fold.children * summaries_of_child;
    const auto blocks = [&](const at::Tensor& x) {
      return x.narrow(1, 0, fold.finished * children).unflatten(1, {fold.finished, children});
    };
    const auto z = (*latents)[level].to(type);  // [G, r, d]
    const auto weights = at::softmax(at::einsum("grd,bjcgd->bjgrc", {z, blocks(child_keys)}), -1);
    const auto summary = [&](const at::Tensor& x) {
      return at::einsum("bjgrc,bjcgd->bjrgd", {weights, blocks(x)}).flatten(1, 2);
    };
    child_keys = summary(child_keys);
    child_values = summary(child_values);
    summaries_of_child = z.size(1);
    ++level;
    const auto own = token.floor_divide(fold.tokens);
    const auto block = at::arange(fold.finished, integers).repeat_interleave(summaries_of_child);
    const auto place = [&](const at::Tensor& x) { return x.remainder(fold.siblings); };
    const auto excess = own.to(type).div(std::max<int64_t>(fold.known, 1)).clamp_min(1).log();  // [n, 1]
    const auto level_logits =
        logits(turn(q, place(own).squeeze(1), level), turn(child_keys, place(block), level));
    keys.logits.push_back(fold.known > 0 ? level_logits - excess : level_logits);
    keys.values.push_back(child_values);
    keys.kept.push_back(block.lt(own).logical_and(block.ge(own - place(own))));
  }
  const auto kept = at::cat(keys.kept, -1);
  const auto masked =
      at::cat(keys.logits, -1).masked_fill(kept.logical_not(), -std::numeric_limits<double>::infinity());
  const auto values = per_head(at::cat(keys.values, 1)).transpose(1, 2);
  return {at::matmul(at::softmax(masked, -1), values).transpose(1, 2).contiguous().to(q_in.scalar_type()),
          at::logsumexp(masked, -1)};
}

std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor> summary_attention_backward(
    const at::Tensor& grad, const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
    const std::optional<at::Tensor>& latents, const SummaryOptions& options, const RotaryEmbedding& code) {
  const auto out = gradients(
      [&](const Tensors& in) -> Tensors {
        return {
            std::get<0>(reference::summary_attention(in[0], in[1], in[2], optional(in[3]), options, code))};
      },
      {q, k, v, latents.value_or(at::Tensor())}, {grad});
  return {out[0], out[1], out[2], out[3]};
}

}  // namespace modewise::ops::reference
