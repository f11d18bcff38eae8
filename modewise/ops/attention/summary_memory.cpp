// A chunk of tokens is split at block ends, so that its tokens see the same summary tokens; summary_step
// processes each part, and complete blocks become summary tokens that join the blocks of the next level.

#include "modewise/ops/attention/summary_memory.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/full.h>
#include <ATen/ops/zeros.h>

#include <limits>
#include <vector>

#include "modewise/core/integer_bounds.h"
#include "modewise/ops/accumulate_type.h"
#include "modewise/ops/attention/attention_types.h"
#include "modewise/ops/attention/fold_levels.h"
#include "modewise/ops/attention/summary_step.h"

namespace modewise::ops {

namespace {

/// Empty partial blocks for latents [G, r, d] and tokens of keys [B, t, G, d] and values [B, t, G, e].
PartialBlocks new_blocks(const at::Tensor& latents, const at::Tensor& keys, const at::Tensor& values) {
  PartialBlocks open;
  open.latents = latents.to(accumulate_type(keys.scalar_type())).contiguous();
  const auto options = open.latents.options();
  const int64_t batch = keys.size(0), groups = open.latents.size(0), summary_tokens = open.latents.size(1);
  open.high = at::full({batch, groups, summary_tokens, 1}, -std::numeric_limits<double>::infinity(), options);
  open.total = at::zeros({batch, groups, summary_tokens, 1}, options);
  open.keys = at::zeros({batch, groups, summary_tokens, keys.size(3)}, options);
  open.values = at::zeros({batch, groups, summary_tokens, values.size(3)}, options);
  return open;
}

void empty_blocks(const PartialBlocks& open) {
  open.high.fill_(-std::numeric_limits<double>::infinity());
  open.total.zero_(), open.keys.zero_(), open.values.zero_();
}

/// Summary tokens of the complete blocks [B, r, G, ·] in `type`.
at::Tensor complete_summaries(const PartialBlocks& open, const at::Tensor& sums, at::ScalarType type) {
  return (sums / open.total).transpose(1, 2).to(type).contiguous();
}

int64_t bytes_of_sums(const PartialBlocks& open) {
  return bytes_of(open.high) + bytes_of(open.total) + bytes_of(open.keys) + bytes_of(open.values);
}

class SummaryMemory final : public AttentionCache::Memory {
 public:
  SummaryMemory(const TensorAttentionOptions& options, double scale, at::Tensor latents,
                const RotaryEmbedding& rotary)
      : scale_(scale),
        window_(window_of(options, kMaxInteger)),
        sinks_(options.type == "lambda" ? options.sinks : 0),
        latents_(std::move(latents)),
        code_(rotary),
        ring_keys_(window_),
        ring_values_(window_),
        first_keys_(sinks_),
        first_values_(sinks_) {
    if (!attention_type(options.type).latents) return;
    const int64_t summary_tokens = latents_.defined() ? latents_.size(2) : 1;
    for (const FoldLevel& fold : cached_levels(options.fold)) {
      const int64_t maximum = kept_summary_tokens(fold, summary_tokens);
      levels_.push_back({fold, Rows(maximum), Rows(maximum), {}});
    }
  }

  at::Tensor attend(const Piece& piece) override { return take(piece, true); }
  void keep(const Piece& piece) override { take(piece, false); }

  int64_t bytes() const override {
    int64_t sum = ring_keys_.bytes() + ring_values_.bytes() + first_keys_.bytes() + first_values_.bytes();
    for (const Level& level : levels_)
      sum += level.keys.bytes() + level.values.bytes() + (level.open.used() ? bytes_of_sums(level.open) : 0);
    return sum;
  }

 private:
  struct Level {
    FoldLevel fold;
    Rows keys, values;  // summary tokens of complete siblings, rotated by their positions
    PartialBlocks open;
  };

  at::Tensor take(const Piece& given, bool attends) {
    const Piece piece = {given.q.contiguous(), given.k.contiguous(), given.v.contiguous(), given.first};
    for (size_t l = 0; l < levels_.size(); ++l)
      if (!levels_[l].open.used())
        levels_[l].open = new_blocks(latents_[static_cast<int64_t>(l)], piece.k, piece.v);
    // Rotated keys of the whole chunk; the ring buffer takes them one by one.
    const auto rotated = code_.turn(piece.k, 0, piece.first);
    const int64_t block = levels_.empty() ? kCachePart : levels_[0].fold.tokens;
    std::vector<at::Tensor> out;
    for (int64_t begin = 0, count; begin < piece.size(); begin += count) {
      count = std::min({piece.size() - begin, kCachePart, block - (piece.first + begin) % block});
      make_room(piece, begin, count);
      out.push_back(take_part(piece.part(begin, count), rotated.narrow(1, begin, count), attends));
      finish_blocks(piece.first + begin + count, piece.k.scalar_type());
    }
    return !attends ? at::Tensor() : out.size() == 1 ? out[0] : at::cat(out, 1);
  }

  /// Grows the ring buffer and the buffer of the first tokens.
  void make_room(const Piece& piece, int64_t begin, int64_t count) {
    const int64_t end = piece.first + begin + count;
    const auto extend = [&](Rows& keys, Rows& values, int64_t maximum) {
      const int64_t missing = std::min(maximum, end) - keys.count();
      if (missing <= 0) return;
      keys.extend(piece.k, missing);
      values.extend(piece.v, missing);
    };
    extend(ring_keys_, ring_values_, window_);
    extend(first_keys_, first_values_, sinks_);
  }

  at::Tensor take_part(const Piece& part, const at::Tensor& rotated, bool attends) {
    const auto rows_of = [&](const Rows& keys, const Rows& values) {
      return keys.count() > 0 ? KeyRows{keys.all(), values.all()}
                              : KeyRows{part.k.narrow(1, 0, 0), part.v.narrow(1, 0, 0)};
    };
    std::vector<VisibleSummaries> summary_tokens;
    for (const Level& level : levels_) {
      const int64_t own = part.first / level.fold.tokens;
      summary_tokens.push_back(
          {rows_of(level.keys, level.values), own % level.fold.siblings, level.fold.excess(own)});
    }
    return summary_step(part.q.contiguous(), part.k.contiguous(), part.v.contiguous(), rotated.contiguous(),
                        rows_of(ring_keys_, ring_values_), rows_of(first_keys_, first_values_),
                        summary_tokens, levels_.empty() ? PartialBlocks() : levels_[0].open, code_.rotary(),
                        {part.first, window_, scale_, attends});
  }

  /// Converts blocks that end before token `end` to summary tokens, which join the block of the next level.
  void finish_blocks(int64_t end, at::ScalarType type) {
    for (size_t l = 0; l < levels_.size() && end % levels_[l].fold.tokens == 0; ++l) {
      Level& level = levels_[l];
      const auto keys = complete_summaries(level.open, level.open.keys, type),
                 values = complete_summaries(level.open, level.open.values, type);
      empty_blocks(level.open);
      if (l + 1 < levels_.size()) summary_join({keys, values}, levels_[l + 1].open);
      const int64_t place = (end / level.fold.tokens - 1) % level.fold.siblings;
      if (place + 1 == level.fold.siblings) {  // last sibling of its group
        level.keys.clear();
        level.values.clear();
      } else {
        level.keys.append(code_.turn(keys, static_cast<int64_t>(l) + 1, place, true));
        level.values.append(values);
      }
    }
  }

  double scale_;
  int64_t window_, sinks_;
  at::Tensor latents_;  // [m − 1, G, r, d]
  PositionEncoding code_;
  Rows ring_keys_, ring_values_;    // token t at row t mod window, rotated by its position
  Rows first_keys_, first_values_;  // the first tokens, not rotated
  std::vector<Level> levels_;
};

}  // namespace

std::vector<FoldLevel> cached_levels(const std::vector<int64_t>& fold) {
  // Level sizes do not depend on the length; with the largest length the outermost level is unbounded.
  constexpr int64_t kLongest = int64_t{1} << 62;
  std::vector<FoldLevel> levels = fold_levels(fold, kLongest);
  std::erase_if(levels, [](const FoldLevel& level) { return level.tokens > kLongest; });
  return levels;
}

int64_t kept_summary_tokens(const FoldLevel& level, int64_t summary_tokens) {
  constexpr int64_t kUnbounded = int64_t{1} << 40;
  return level.siblings > kUnbounded ? level.siblings : (level.siblings - 1) * summary_tokens;
}

std::unique_ptr<AttentionCache::Memory> make_summary_memory(const TensorAttentionOptions& options,
                                                            double scale, const at::Tensor& latents,
                                                            const RotaryEmbedding& rotary) {
  return std::make_unique<SummaryMemory>(options, scale, latents, rotary);
}

}  // namespace modewise::ops
