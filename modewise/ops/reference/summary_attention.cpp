// In strips of consecutive tokens, each with the keys that it sees in one matrix: tokens of its window, the
// first tokens, and summary tokens of each level. Memory is linear in n; the backward pass computes each
// strip again.

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/einsum.h>
#include <ATen/ops/full.h>
#include <ATen/ops/logsumexp.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/outer.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>

#include <algorithm>
#include <limits>

#include "modewise/ops/accumulate_type.h"
#include "modewise/ops/arguments.h"
#include "modewise/ops/attention/fold_levels.h"
#include "modewise/ops/reference/gradients.h"
#include "modewise/ops/reference/reference.h"

namespace modewise::ops::reference {

namespace {

/// Keys and values [B, rows, G, d or e] of the tokens (level 0), or of all summary tokens of a level.
struct KeyLevel {
  at::Tensor keys, values;
};

/// Rows of a level that a strip of tokens sees.
struct SeenRows {
  size_t level;
  int64_t first, count;
  at::Tensor query_positions, key_positions;  // of the rotary embedding: [strip], [count]
  at::Tensor kept;                            // [strip, count] bool
  at::Tensor excess;                          // [strip, 1], subtracted from the logits; undefined: 0
};

class Summary {
 public:
  /// `like` has the device and accumulate type of the computation.
  Summary(const SummaryOptions& options, const RotaryEmbedding& code, int64_t n, const at::Tensor& like)
      : options_(options), code_(code), n_(n), like_(like.options()), levels_(fold_levels(options.fold, n)) {
    const auto complete = [](const FoldLevel& level) { return level.finished > 0; };
    levels_.erase(std::find_if_not(levels_.begin(), levels_.end(), complete), levels_.end());
    positions_ = code.positions.defined() ? code.positions : range(0, n);
  }

  int64_t strips() const { return (n_ + kStrip - 1) / kStrip; }
  int64_t first_of(int64_t strip) const { return strip * kStrip; }
  int64_t rows_of(int64_t strip) const { return std::min(kStrip, n_ - strip * kStrip); }

  /// The tokens, then the summary tokens of each level; latents [levels, G, r, d].
  std::vector<KeyLevel> key_levels(const at::Tensor& k, const at::Tensor& v,
                                   const at::Tensor& latents) const {
    std::vector<KeyLevel> out = {{k, v}};
    int64_t summaries_of_child = 1;
    for (size_t l = 0; l < levels_.size(); ++l) {
      const int64_t finished = levels_[l].finished, children = levels_[l].children * summaries_of_child;
      const auto blocks = [&](const at::Tensor& x) {
        return x.narrow(1, 0, finished * children).unflatten(1, {finished, children});
      };
      const auto z = latents[static_cast<int64_t>(l)];  // [G, r, d]
      const auto weights = at::softmax(at::einsum("grd,bjcgd->bjgrc", {z, blocks(out.back().keys)}), -1);
      const auto summary = [&](const at::Tensor& x) {
        return at::einsum("bjgrc,bjcgd->bjrgd", {weights, blocks(x)}).flatten(1, 2);
      };
      out.push_back({summary(out.back().keys), summary(out.back().values)});
      summaries_of_child = z.size(1);
    }
    return out;
  }

  std::vector<SeenRows> seen_by(int64_t strip, int64_t summaries) const {
    const int64_t begin = first_of(strip), end = begin + rows_of(strip);
    const auto token = range(begin, end).unsqueeze(1);
    const int64_t near = std::max<int64_t>(0, begin - std::min(options_.window, n_) + 1);
    const auto distance = token - range(near, end);
    std::vector<SeenRows> seen;
    seen.push_back({0,
                    near,
                    end - near,
                    positions_.narrow(0, begin, end - begin),
                    positions_.narrow(0, near, end - near),
                    distance.ge(0).logical_and(distance.lt(options_.window)),
                    {}});
    const int64_t sinks = std::min({options_.sinks, n_, std::max<int64_t>(0, end - options_.window)});
    if (sinks > 0)
      seen.push_back({0,
                      0,
                      sinks,
                      at::full({end - begin}, options_.window, token.options()),
                      at::zeros({sinks}, token.options()),
                      (token - range(0, sinks)).ge(options_.window),
                      {}});
    for (size_t l = 0; l < levels_.size(); ++l) {
      const FoldLevel& level = levels_[l];
      const int64_t first = level.group(begin), count = level.own(end - 1) - first;
      if (count == 0) continue;
      const auto own = token.floor_divide(level.tokens);
      const auto block = range(first, first + count).repeat_interleave(summaries);
      const auto place = [&](const at::Tensor& x) { return x.remainder(level.siblings); };
      at::Tensor excess;
      if (level.known > 0)
        excess = own.to(like_.dtype()).div(static_cast<double>(level.known)).clamp_min(1).log();
      seen.push_back({l + 1, first * summaries, count * summaries, place(own).squeeze(1), place(block),
                      block.lt(own).logical_and(block.ge(own - place(own))), excess});
    }
    return seen;
  }

  /// (out [B, strip, H, e], logsumexp [B, H, strip]) of queries q [B, strip, H, d] and the rows that they
  /// see.
  std::tuple<at::Tensor, at::Tensor> attend(const at::Tensor& q, const std::vector<SeenRows>& seen,
                                            const std::vector<KeyLevel>& rows) const {
    std::vector<at::Tensor> logits, values;
    for (size_t i = 0; i < seen.size(); ++i) {
      const SeenRows& part = seen[i];
      const auto level = static_cast<int64_t>(part.level);
      const auto queries = rotated(q, part.query_positions, level);
      const auto keys = per_head(rotated(rows[i].keys, part.key_positions, level), q.size(2));
      auto products = at::einsum("bthd,bshd->bhts", {queries, keys}) * options_.scale;
      if (part.excess.defined()) products = products - part.excess;
      constexpr double kHidden = -std::numeric_limits<double>::infinity();
      logits.push_back(products.masked_fill(part.kept.logical_not(), kHidden));
      values.push_back(per_head(rows[i].values, q.size(2)));
    }
    const auto all = at::cat(logits, -1);
    const auto out = at::matmul(at::softmax(all, -1), at::cat(values, 1).transpose(1, 2));
    return {out.transpose(1, 2), at::logsumexp(all, -1)};
  }

 private:
  static constexpr int64_t kStrip = 512;

  at::Tensor range(int64_t begin, int64_t end) const {
    return at::arange(begin, end, like_.dtype(at::kLong));
  }
  static at::Tensor per_head(const at::Tensor& x, int64_t heads) {
    return x.repeat_interleave(heads / x.size(2), 2);
  }
  at::Tensor rotated(const at::Tensor& x, const at::Tensor& positions, int64_t level) const {
    if (!code_.used()) return x;
    const auto angles = at::outer(positions.to(at::kDouble), code_.level_frequencies(level));
    return rotary(x, angles, code_.gain(level), false);
  }

  const SummaryOptions& options_;
  const RotaryEmbedding& code_;
  int64_t n_;
  at::TensorOptions like_;
  std::vector<FoldLevel> levels_;  // those with complete blocks
  at::Tensor positions_;
};

std::vector<KeyLevel> rows_seen(const std::vector<KeyLevel>& levels, const std::vector<SeenRows>& seen) {
  std::vector<KeyLevel> out;
  for (const SeenRows& part : seen)
    out.push_back({levels[part.level].keys.narrow(1, part.first, part.count),
                   levels[part.level].values.narrow(1, part.first, part.count)});
  return out;
}

struct WideInputs {
  at::Tensor q, k, v, latents;  // in the accumulate type

  WideInputs(const at::Tensor& q_in, const at::Tensor& k_in, const at::Tensor& v_in,
             const std::optional<at::Tensor>& latents_in) {
    const auto type = accumulate_type(q_in.scalar_type());
    q = q_in.to(type), k = k_in.to(type), v = v_in.to(type);
    if (latents_in) latents = latents_in->to(type);
  }
  int64_t summaries() const { return latents.defined() ? latents.size(2) : 1; }
};

}  // namespace

std::tuple<at::Tensor, at::Tensor> summary_attention(const at::Tensor& q, const at::Tensor& k,
                                                     const at::Tensor& v,
                                                     const std::optional<at::Tensor>& latents,
                                                     const SummaryOptions& options,
                                                     const RotaryEmbedding& code) {
  const WideInputs wide(q, k, v, latents);
  const Summary summary(options, code, q.size(1), wide.q);
  const std::vector<KeyLevel> levels = summary.key_levels(wide.k, wide.v, wide.latents);
  Tensors outs = {at::zeros({q.size(0), 0, q.size(2), v.size(3)}, q.options())};
  Tensors sums = {at::zeros({q.size(0), q.size(2), 0}, wide.q.options())};
  for (int64_t strip = 0; strip < summary.strips(); ++strip) {
    const auto seen = summary.seen_by(strip, wide.summaries());
    const auto queries = wide.q.narrow(1, summary.first_of(strip), summary.rows_of(strip));
    const auto [out, sum] = summary.attend(queries, seen, rows_seen(levels, seen));
    outs.push_back(out.to(q.scalar_type()));
    sums.push_back(sum);
  }
  return {at::cat(outs, 1), at::cat(sums, 2)};
}

std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor> summary_attention_backward(
    const at::Tensor& grad, const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
    const std::optional<at::Tensor>& latents, const SummaryOptions& options, const RotaryEmbedding& code) {
  const WideInputs wide(q, k, v, latents);
  const Summary summary(options, code, q.size(1), wide.q);
  const std::vector<KeyLevel> levels = summary.key_levels(wide.k, wide.v, wide.latents);
  std::vector<KeyLevel> slopes;  // gradients of the levels
  for (const KeyLevel& level : levels)
    slopes.push_back({at::zeros_like(level.keys), at::zeros_like(level.values)});
  Tensors of_q = {at::zeros({q.size(0), 0, q.size(2), q.size(3)}, q.options())};
  for (int64_t strip = 0; strip < summary.strips(); ++strip) {
    const auto seen = summary.seen_by(strip, wide.summaries());
    const int64_t first = summary.first_of(strip), count = summary.rows_of(strip);
    Tensors inputs = {wide.q.narrow(1, first, count)};
    for (const KeyLevel& rows : rows_seen(levels, seen))
      inputs.insert(inputs.end(), {rows.keys, rows.values});
    const Tensors out = gradients(
        [&](const Tensors& in) -> Tensors {
          std::vector<KeyLevel> rows;
          for (size_t i = 1; i < in.size(); i += 2) rows.push_back({in[i], in[i + 1]});
          return {std::get<0>(summary.attend(in[0], seen, rows))};
        },
        inputs, {grad.narrow(1, first, count).to(wide.q.scalar_type())});
    of_q.push_back(out[0].to(q.scalar_type()));
    const std::vector<KeyLevel> targets = rows_seen(slopes, seen);
    for (size_t i = 0; i < targets.size(); ++i) {
      targets[i].keys.add_(out[2 * i + 1]);
      targets[i].values.add_(out[2 * i + 2]);
    }
  }
  // Gradients of the summary tokens reach keys, values and latents through their construction.
  Tensors of_levels;
  for (const KeyLevel& slope : slopes) of_levels.insert(of_levels.end(), {slope.keys, slope.values});
  const Tensors out = gradients(
      [&](const Tensors& in) -> Tensors {
        Tensors flat;
        for (const KeyLevel& level : summary.key_levels(in[0], in[1], in[2]))
          flat.insert(flat.end(), {level.keys, level.values});
        return flat;
      },
      {wide.k, wide.v, wide.latents}, of_levels);
  const auto latent_slope = latents ? out[2].to(latents->scalar_type()) : at::zeros({0}, q.options());
  return {at::cat(of_q, 1), out[0].to(k.scalar_type()), out[1].to(v.scalar_type()), latent_slope};
}

}  // namespace modewise::ops::reference
