// A piece of tokens is cut where a block ends, so that its tokens see the same slots. Its tokens then come
// one after another: each takes its place in the ring, attends, and joins the finest block that is being
// filled. Nothing of one (sample, key head) depends on another, which is how threads share the work.

#include "modewise/ops/summary_memory.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/full.h>
#include <ATen/ops/zeros.h>

#include <cmath>
#include <cstring>
#include <optional>

#include "modewise/ops/accumulate_type.h"
#include "modewise/ops/cpu/dispatch_type.h"
#include "modewise/ops/cpu/row_tasks.h"
#include "modewise/ops/cpu/scratch.h"
#include "modewise/ops/fold_levels.h"

namespace modewise::ops {

namespace {

/// Cosines and sines of positions, one row each, in the accumulate type.
class CodeTable {
 public:
  CodeTable(int64_t rows, int64_t half, at::ScalarType type)
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

/// The blocks of one level that are being filled.
class OpenBlocks {
 public:
  /// latents [G, r, d]; keys [B, t, G, d] and values [B, t, G, e] give the sizes.
  OpenBlocks(const at::Tensor& latents, const at::Tensor& keys, const at::Tensor& values)
      : latents_(latents.to(accumulate_type(keys.scalar_type())).contiguous()) {
    const auto options = latents_.options();
    const int64_t batch = keys.size(0), groups = latents_.size(0), slots = latents_.size(1);
    high_ = at::empty({batch, groups, slots, 1}, options), total_ = at::empty_like(high_);
    keys_ = at::empty({batch, groups, slots, keys.size(3)}, options);
    values_ = at::empty({batch, groups, slots, values.size(3)}, options);
    clear();
  }

  void clear() {
    high_.fill_(-std::numeric_limits<double>::infinity());
    total_.zero_(), keys_.zero_(), values_.zero_();
  }
  /// Rows [B, rows, G, ·], dense, that are to be joined.
  OpenPlan plan(const at::Tensor& keys, const at::Tensor& values) const {
    return {.keys = keys.const_data_ptr(),
            .values = values.const_data_ptr(),
            .keys_batch = keys.stride(0),
            .values_batch = values.stride(0),
            .kv_heads = keys.size(2),
            .d = keys.size(3),
            .e = values.size(3),
            .slots = latents_.size(1),
            .latents = latents_.const_data_ptr(),
            .high = high_.mutable_data_ptr(),
            .total = total_.mutable_data_ptr(),
            .sum_keys = keys_.mutable_data_ptr(),
            .sum_values = values_.mutable_data_ptr()};
  }
  at::Tensor keys(at::ScalarType type) const { return slots(keys_, type); }
  at::Tensor values(at::ScalarType type) const { return slots(values_, type); }
  int64_t bytes() const { return bytes_of(high_) + bytes_of(total_) + bytes_of(keys_) + bytes_of(values_); }

 private:
  at::Tensor slots(const at::Tensor& sums, at::ScalarType type) const {
    return (sums / total_).transpose(1, 2).to(type).contiguous();
  }

  at::Tensor latents_;  // [G, r, d]
  at::Tensor high_, total_, keys_, values_;
};

class SummaryMemory final : public AttentionCache::Memory {
 public:
  SummaryMemory(const TensorAttentionOptions& options, double scale, at::Tensor latents,
                const RotaryCode& rotary)
      : scale_(scale),
        window_(window_of(options, std::numeric_limits<int64_t>::max())),
        sinks_(options.form == "lambda" ? options.sinks : 0),
        latents_(std::move(latents)),
        code_(rotary),
        ring_keys_(window_),
        ring_values_(window_),
        first_keys_(sinks_),
        first_values_(sinks_) {
    if (options.form != "causal") return;
    const int64_t slots = latents_.defined() ? latents_.size(2) : 1;
    for (const FoldLevel& fold : cached_levels(options.fold)) {
      TORCH_CHECK_VALUE(std::ssize(levels_) < kMaxLevels, "attention_cache: at most ", kMaxLevels,
                        " levels of blocks are possible, got fold ", options.fold);
      const int64_t most = kept_slots(fold, slots);
      levels_.push_back({fold, Rows(most), Rows(most), {}});
    }
  }

  at::Tensor attend(const Piece& piece) override {
    auto out =
        at::empty({piece.q.size(0), piece.size(), piece.q.size(2), piece.v.size(3)}, piece.q.options());
    take(piece, out);
    return out;
  }
  void keep(const Piece& piece) override { take(piece, {}); }

  int64_t bytes() const override {
    int64_t sum = ring_keys_.bytes() + ring_values_.bytes() + first_keys_.bytes() + first_values_.bytes();
    for (const Level& level : levels_)
      sum += level.keys.bytes() + level.values.bytes() + (level.open ? level.open->bytes() : 0);
    return sum;
  }

 private:
  struct Level {
    FoldLevel fold;
    Rows keys, values;  // slots of finished siblings, turned by their places
    std::optional<OpenBlocks> open;
  };

  void take(const Piece& given, const at::Tensor& out) {
    const Piece piece = {given.q.contiguous(), given.k.contiguous(), given.v.contiguous(), given.first};
    const at::ScalarType type = piece.k.scalar_type();
    for (size_t l = 0; l < levels_.size(); ++l)
      if (!levels_[l].open) levels_[l].open.emplace(latents_[static_cast<int64_t>(l)], piece.k, piece.v);
    // Rotated keys of the whole piece; the ring takes them one by one.
    const auto turned = code_.turn(piece.k, 0, piece.first);
    const int64_t block = levels_.empty() ? kCachePart : levels_[0].fold.tokens;
    for (int64_t begin = 0, count; begin < piece.size(); begin += count) {
      count = std::min({piece.size() - begin, kCachePart, block - (piece.first + begin) % block});
      make_room(piece, begin, count);
      dispatch_floating(type, "attention_cache",
                        [&]<class T>() { take_part<T>(piece, turned, begin, count, out); });
      finish_blocks(piece.first + begin + count, type);
    }
  }

  /// In the ring, and for the first tokens that stay.
  void make_room(const Piece& piece, int64_t begin, int64_t count) {
    const int64_t end = piece.first + begin + count;
    const auto extend = [&](Rows& keys, Rows& values, int64_t most) {
      const int64_t missing = std::min(most, end) - keys.count();
      if (missing <= 0) return;
      keys.extend(piece.k, missing);
      values.extend(piece.v, missing);
    };
    extend(ring_keys_, ring_values_, window_);
    extend(first_keys_, first_values_, sinks_);
  }

  template <class T>
  void take_part(const Piece& piece, const at::Tensor& turned, int64_t begin, int64_t count,
                 const at::Tensor& out) {
    const int64_t batch = piece.q.size(0), tokens = piece.size(), first = piece.first + begin;
    const int64_t heads = piece.q.size(2), groups = piece.k.size(2), d = piece.k.size(3), e = piece.v.size(3);
    const StepLoops<T>& step = *loops().of<T>().step;
    const bool attends = out.defined();
    // Codes: a row a token, one for the first tokens, one a level.
    CodeTable codes(attends && code_.used() ? count + 1 + std::ssize(levels_) : 0, d / 2,
                    accumulate_type(piece.q.scalar_type()));
    StepPlan plan = {};
    plan.q_batch = tokens * heads * d, plan.out_batch = tokens * heads * e;
    plan.heads = heads, plan.kv_heads = groups, plan.d = d, plan.e = e;
    const double gain = code_.gain(0);
    const auto add_part = [&](const Rows& keys, const Rows& values, int64_t code, double scale,
                              double excess = 0) {
      plan.part[plan.parts++] = {keys.room().const_data_ptr(),
                                 values.room().const_data_ptr(),
                                 keys.count(),
                                 keys.room().size(1),
                                 code,
                                 scale,
                                 excess};
    };
    if (attends) {
      add_part(ring_keys_, ring_values_, 0, scale_ * gain);
      // The first tokens are kept as they are, at position 0, and are seen from a window away.
      if (first_keys_.count() > 0) add_part(first_keys_, first_values_, count, scale_ * gain * gain);
      for (size_t l = 0; l < levels_.size(); ++l)
        if (levels_[l].keys.count() > 0)
          add_part(levels_[l].keys, levels_[l].values, count + 1 + static_cast<int64_t>(l),
                   scale_ * code_.gain(static_cast<int64_t>(l) + 1),
                   levels_[l].fold.excess(first / levels_[l].fold.tokens));
      if (code_.used()) set_codes(codes, plan, first, count);
    }
    const bool has_first = plan.parts > 1 && plan.part[1].code == count;
    int64_t cost = 0;
    for (int p = 0; p < plan.parts; ++p) cost += plan.part[p].count;
    cost *= (d + e) * heads / groups * count;
    const auto latest = levels_.empty() ? OpenPlan{} : levels_[0].open->plan(piece.k, piece.v);
    const auto* k = turned.const_data_ptr();
    for_tasks(batch * groups, cost, [&](int64_t task, int64_t last) {
      StepPlan mine = plan;
      void* scratch = attends ? thread_scratch(step.attend_scratch(plan)) : nullptr;
      for (; task < last; ++task) {
        const int64_t b = task / groups, g = task % groups;
        for (int64_t i = 0; i < count; ++i) {
          const int64_t t = first + i, row = b * tokens + begin + i;
          put<T>(k, row, ring_keys_, b, t % window_, g);
          put<T>(piece.v.const_data_ptr(), row, ring_values_, b, t % window_, g);
          if (t < sinks_) {
            put<T>(piece.k.const_data_ptr(), row, first_keys_, b, t, g);
            put<T>(piece.v.const_data_ptr(), row, first_values_, b, t, g);
          }
          if (attends) {
            mine.q = static_cast<const T*>(piece.q.const_data_ptr()) + (begin + i) * heads * d;
            mine.out = static_cast<T*>(out.mutable_data_ptr()) + (begin + i) * heads * e;
            mine.part[0].count = std::min(t + 1, window_);
            mine.part[0].code = i;
            if (has_first) mine.part[1].count = std::clamp<int64_t>(t + 1 - window_, 0, sinks_);
            step.attend(mine, b, g, scratch);
          }
          if (!levels_.empty()) step.join(latest, b, g, begin + i);
        }
      }
    });
  }

  void set_codes(CodeTable& codes, StepPlan& plan, int64_t first, int64_t count) const {
    const auto row_of = [&](int64_t level) { return code_.frequencies(level).contiguous(); };
    const at::Tensor tokens = row_of(0);
    for (int64_t i = 0; i < count; ++i) codes.set(i, tokens, first + i);
    codes.set(count, tokens, window_);
    for (size_t l = 0; l < levels_.size(); ++l) {
      const FoldLevel& fold = levels_[l].fold;
      const auto level = static_cast<int64_t>(l) + 1;
      codes.set(count + level, row_of(level), first / fold.tokens % fold.siblings);
    }
    plan.cosine = codes.cosine(), plan.sine = codes.sine();
  }

  /// Row `row` of x [B·t, G, ·] for key head g, to row `at` of sample b.
  template <class T>
  static void put(const void* x, int64_t row, const Rows& rows, int64_t b, int64_t at, int64_t g) {
    const at::Tensor& room = rows.room();
    const int64_t groups = room.size(2), width = room.size(3);
    std::memcpy(static_cast<T*>(room.mutable_data_ptr()) + ((b * room.size(1) + at) * groups + g) * width,
                static_cast<const T*>(x) + (row * groups + g) * width,
                static_cast<size_t>(width) * sizeof(T));
  }

  /// Blocks that end before token `end` become slots, which join the block above.
  void finish_blocks(int64_t end, at::ScalarType type) {
    for (size_t l = 0; l < levels_.size() && end % levels_[l].fold.tokens == 0; ++l) {
      Level& level = levels_[l];
      const auto keys = level.open->keys(type), values = level.open->values(type);
      level.open->clear();
      if (l + 1 < levels_.size()) {
        const OpenPlan above = levels_[l + 1].open->plan(keys, values);
        dispatch_floating(type, "attention_cache", [&]<class T>() {
          for (int64_t b = 0; b < keys.size(0); ++b)
            for (int64_t g = 0; g < keys.size(2); ++g)
              for (int64_t row = 0; row < keys.size(1); ++row) loops().of<T>().step->join(above, b, g, row);
        });
      }
      const int64_t place = (end / level.fold.tokens - 1) % level.fold.siblings;
      if (place + 1 == level.fold.siblings) {  // nobody behind it in its group
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
  PositionCode code_;
  Rows ring_keys_, ring_values_;    // token t at row t mod window, turned by its position
  Rows first_keys_, first_values_;  // the first tokens, not turned
  std::vector<Level> levels_;
};

}  // namespace

std::vector<FoldLevel> cached_levels(const std::vector<int64_t>& fold) {
  // The sizes of the levels do not depend on the length; the largest length leaves the coarsest level open.
  constexpr int64_t kLongest = int64_t{1} << 62;
  std::vector<FoldLevel> levels = fold_levels(fold, kLongest);
  std::erase_if(levels, [](const FoldLevel& level) { return level.tokens > kLongest; });
  return levels;
}

int64_t kept_slots(const FoldLevel& level, int64_t slots) {
  constexpr int64_t kUnbounded = int64_t{1} << 40;
  return level.siblings > kUnbounded ? level.siblings : (level.siblings - 1) * slots;
}

std::unique_ptr<AttentionCache::Memory> make_summary_memory(const TensorAttentionOptions& options,
                                                            double scale, const at::Tensor& latents,
                                                            const RotaryCode& rotary) {
  return std::make_unique<SummaryMemory>(options, scale, latents, rotary);
}

}  // namespace modewise::ops
