// Four memories: every token (full, random, topk), a ring of the last ones with the first ones (window,
// lambda), that ring with slots (causal), and every token with the values of each stage (axial). A piece of
// tokens is cut where a block ends, so that its tokens see the same slots.

#include "modewise/ops/attention_cache.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/outer.h>
#include <ATen/ops/scaled_dot_product_attention.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/zeros.h>

#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include "modewise/ops/accumulate_type.h"
#include "modewise/ops/fold_levels.h"
#include "modewise/ops/rotary.h"
#include "modewise/ops/sparse_attention.h"

namespace modewise::ops {

namespace {

constexpr double kNone = -std::numeric_limits<double>::infinity();

int64_t bytes_of(const at::Tensor& x) {
  return x.defined() ? x.numel() * x.element_size() : 0;
}

/// Rows [B, rows, G, d] that grow at the end; room doubles, up to `most` rows.
class Rows {
 public:
  explicit Rows(int64_t most = std::numeric_limits<int64_t>::max()) : most_(most) {}

  void append(const at::Tensor& rows) {
    const int64_t count = rows.size(1);
    if (!room_.defined() || count_ + count > room_.size(1)) {
      std::vector<int64_t> shape = rows.sizes().vec();
      shape[1] = std::max(std::min(most_, std::max<int64_t>(2 * count_, 16)), count_ + count);
      const auto grown = at::empty(shape, rows.options());
      if (count_ > 0) grown.narrow(1, 0, count_).copy_(all());
      room_ = grown;
    }
    room_.narrow(1, count_, count).copy_(rows);
    count_ += count;
  }
  at::Tensor all() const { return room_.narrow(1, 0, count_); }
  void clear() { count_ = 0; }
  int64_t count() const { return count_; }
  int64_t bytes() const { return bytes_of(room_); }

 private:
  int64_t most_, count_ = 0;
  at::Tensor room_;
};

/// The arguments of one piece of tokens; `first` is the position of the first.
struct Piece {
  at::Tensor q, k, v;
  int64_t first;

  int64_t size() const { return q.size(1); }
  Piece part(int64_t begin, int64_t count) const {
    return {q.narrow(1, begin, count), k.narrow(1, begin, count), v.narrow(1, begin, count), first + begin};
  }
};

class Code {
 public:
  Code(const RotaryCode& rotary) : rotary_(rotary) {}
  /// x [B, t, H, d] at positions first, first + 1, …, or all at `first` when `still`.
  at::Tensor turn(const at::Tensor& x, int64_t level, int64_t first, bool still = false) const {
    if (!rotary_.used()) return x;
    const auto positions = still ? at::full({x.size(1)}, static_cast<double>(first), at::kDouble)
                                 : at::arange(first, first + x.size(1), at::kDouble);
    return turn_at(x, level, positions);
  }
  at::Tensor turn_at(const at::Tensor& x, int64_t level, const at::Tensor& positions) const {
    if (!rotary_.used()) return x;
    const auto angles = at::outer(positions.to(at::kDouble), rotary_.level_frequencies(level));
    return ops::rotary(x, angles, rotary_.gain(level));
  }

 private:
  RotaryCode rotary_;
};

/// Keys of one softmax: logits are gathered segment by segment.
class Softmax {
 public:
  Softmax(const at::Tensor& q, int64_t groups, double scale) : scale_(scale) {
    type_ = accumulate_type(q.scalar_type());
    batch_ = q.size(0), tokens_ = q.size(1), heads_ = q.size(2), groups_ = groups;
  }

  /// q [B, t, H, d] against keys [B, s, G, d]; kept [t, s] bool or undefined.
  void add(const at::Tensor& q, const at::Tensor& keys, const at::Tensor& values,
           const at::Tensor& kept = {}) {
    const int64_t repeats = heads_ / groups_;
    // [B, G, repeats·t, d] · [B, G, d, s]
    const auto rows = q.to(type_)
                          .unflatten(2, {groups_, repeats})
                          .permute({0, 2, 3, 1, 4})
                          .reshape({batch_, groups_, repeats * tokens_, q.size(3)});
    auto logits = at::matmul(rows, keys.to(type_).permute({0, 2, 3, 1})) * scale_;
    if (kept.defined()) logits = logits.masked_fill(kept.logical_not().repeat({repeats, 1}), kNone);
    logits_.push_back(logits);
    values_.push_back(values.to(type_).transpose(1, 2));
  }

  at::Tensor result(at::ScalarType type) const {
    const auto weights = at::softmax(logits_.size() == 1 ? logits_[0] : at::cat(logits_, -1), -1);
    const auto out = at::matmul(weights, values_.size() == 1 ? values_[0] : at::cat(values_, 2));
    return out.unflatten(2, {heads_ / groups_, tokens_})
        .permute({0, 3, 1, 2, 4})
        .reshape({batch_, tokens_, heads_, out.size(-1)})
        .to(type);
  }

 private:
  double scale_;
  at::ScalarType type_;
  int64_t batch_, tokens_, heads_, groups_;
  std::vector<at::Tensor> logits_, values_;
};

}  // namespace

class AttentionCache::Memory {
 public:
  virtual ~Memory() = default;
  virtual at::Tensor attend(const Piece& piece) = 0;  // and keeps it
  virtual void keep(const Piece& piece) = 0;
  virtual int64_t bytes() const = 0;
};

namespace {

class EveryToken final : public AttentionCache::Memory {
 public:
  EveryToken(const TensorAttentionOptions& options, double scale, Code code)
      : scale_(scale), code_(std::move(code)) {
    if (options.form != "full") sparse_ = {options.form == "random", options.density, true, scale};
  }

  void keep(const Piece& piece) override {
    keys_.append(code_.turn(piece.k, 0, piece.first));
    values_.append(piece.v);
  }
  at::Tensor attend(const Piece& piece) override {
    keep(piece);
    const auto q = code_.turn(piece.q, 0, piece.first);
    if (sparse_) return sparse_attention(q, keys_.all(), values_.all(), *sparse_, piece.first);
    std::optional<at::Tensor> mask;
    const int64_t all = keys_.count();
    if (piece.size() > 1) mask = at::arange(all).le(at::arange(piece.first, all).unsqueeze(1));
    return at::scaled_dot_product_attention(q.transpose(1, 2), keys_.all().transpose(1, 2),
                                            values_.all().transpose(1, 2), mask, 0, false, scale_,
                                            piece.q.size(2) != piece.k.size(2))
        .transpose(1, 2)
        .contiguous();
  }
  int64_t bytes() const override { return keys_.bytes() + values_.bytes(); }

 private:
  double scale_;
  std::optional<SparseOptions> sparse_;
  Code code_;
  Rows keys_, values_;
};

/// The last `window` tokens in a ring, turned by their positions, and the first `sinks` ones as they are.
class LastTokens {
 public:
  LastTokens(int64_t window, int64_t sinks, Code code)
      : window_(window), sinks_(sinks), code_(std::move(code)), first_keys_(sinks), first_values_(sinks) {}

  void add_to(Softmax& softmax, const Piece& piece, const at::Tensor& turned_keys) const {
    const auto q = code_.turn(piece.q, 0, piece.first);
    const auto token = at::arange(piece.first, piece.first + piece.size()).unsqueeze(1);
    const int64_t there = std::min(piece.first, window_);
    if (there > 0 && window_ > 1) {
      // Slot i of the ring holds the latest token with t mod window = i.
      auto position = at::arange(there);
      if (piece.first > window_)
        position = position + (piece.first - 1 - position).floor_divide(window_) * window_;
      softmax.add(q, keys_.narrow(1, 0, there), values_.narrow(1, 0, there), (token - position).lt(window_));
    }
    const auto distance = token - at::arange(piece.first, piece.first + piece.size());
    softmax.add(q, turned_keys, piece.v, distance.ge(0).logical_and(distance.lt(window_)));
    const int64_t sinks = std::min(sinks_, piece.first + piece.size() - window_);
    if (sinks <= 0) return;
    // Some of them may be of this very piece.
    const int64_t kept = std::min(first_keys_.count(), sinks);
    const auto first = [&](const Rows& rows, const at::Tensor& fresh) {
      const auto old = rows.all().narrow(1, 0, kept);
      return kept == sinks ? old : at::cat({old, fresh.narrow(1, 0, sinks - kept)}, 1);
    };
    const auto keys = kept > 0 ? first(first_keys_, piece.k) : piece.k.narrow(1, 0, sinks);
    const auto values = kept > 0 ? first(first_values_, piece.v) : piece.v.narrow(1, 0, sinks);
    softmax.add(code_.turn(piece.q, 0, window_, true), code_.turn(keys, 0, 0, true), values,
                (token - at::arange(sinks)).ge(window_));
  }

  void keep(const Piece& piece, const at::Tensor& turned_keys) {
    if (!keys_.defined()) {
      const auto room = [&](const at::Tensor& x) {
        return at::zeros({x.size(0), window_, x.size(2), x.size(3)}, x.options());
      };
      keys_ = room(piece.k), values_ = room(piece.v);
    }
    const int64_t missing = std::min(sinks_ - first_keys_.count(), piece.size());
    if (missing > 0) {
      first_keys_.append(piece.k.narrow(1, 0, missing));
      first_values_.append(piece.v.narrow(1, 0, missing));
    }
    for (int64_t done = std::max<int64_t>(piece.size() - window_, 0); done < piece.size();) {
      const int64_t at = (piece.first + done) % window_, count = std::min(piece.size() - done, window_ - at);
      keys_.narrow(1, at, count).copy_(turned_keys.narrow(1, done, count));
      values_.narrow(1, at, count).copy_(piece.v.narrow(1, done, count));
      done += count;
    }
  }

  int64_t bytes() const {
    return bytes_of(keys_) + bytes_of(values_) + first_keys_.bytes() + first_values_.bytes();
  }

 private:
  int64_t window_, sinks_;
  Code code_;
  at::Tensor keys_, values_;
  Rows first_keys_, first_values_;
};

/// A block that is being filled: the softmax of its latents so far, with sums in float32 at least.
class OpenBlock {
 public:
  /// keys [B, c, G, d], values [B, c, G, e], latents [G, r, d].
  void add(const at::Tensor& keys, const at::Tensor& values, const at::Tensor& latents) {
    const auto type = accumulate_type(keys.scalar_type());
    const auto k = keys.to(type).transpose(1, 2), v = values.to(type).transpose(1, 2);
    const auto logits = at::matmul(latents.to(type).unsqueeze(0), k.transpose(-1, -2));  // [B, G, r, c]
    auto high = logits.amax(-1, true);
    if (high_.defined()) high = high.maximum(high_);
    const auto weights = (logits - high).exp();
    const auto grown = [&](at::Tensor& sum, const at::Tensor& added) {
      sum = sum.defined() ? sum * (high_ - high).exp() + added : added;
    };
    grown(total_, weights.sum(-1, true));
    grown(keys_, at::matmul(weights, k));
    grown(values_, at::matmul(weights, v));
    high_ = high;
  }
  at::Tensor keys(at::ScalarType type) const { return (keys_ / total_).transpose(1, 2).to(type); }
  at::Tensor values(at::ScalarType type) const { return (values_ / total_).transpose(1, 2).to(type); }
  int64_t bytes() const { return bytes_of(high_) + bytes_of(total_) + bytes_of(keys_) + bytes_of(values_); }

 private:
  at::Tensor high_, total_, keys_, values_;
};

class Summaries final : public AttentionCache::Memory {
 public:
  Summaries(const TensorAttentionOptions& options, int64_t window, double scale, at::Tensor latents,
            Code code)
      : scale_(scale),
        latents_(std::move(latents)),
        code_(code),
        last_(window, options.form == "lambda" ? options.sinks : 0, code) {
    if (options.form != "causal") return;
    const int64_t slots = latents_.defined() ? latents_.size(2) : 1;
    // The sizes of the levels do not depend on the length; the largest length leaves the coarsest level open.
    for (const FoldLevel& fold : fold_levels(options.fold, int64_t{1} << 62)) {
      if (fold.tokens > int64_t{1} << 62) break;
      const int64_t most = fold.siblings > (int64_t{1} << 40) ? fold.siblings : (fold.siblings - 1) * slots;
      levels_.push_back({fold, Rows(most), Rows(most), {}});
    }
  }

  at::Tensor attend(const Piece& piece) override {
    std::vector<at::Tensor> out;
    for_parts(piece, [&](const Piece& part) {
      const auto turned = code_.turn(part.k, 0, part.first);
      Softmax softmax(part.q, part.k.size(2), scale_);
      last_.add_to(softmax, part, turned);
      for (size_t l = 0; l < levels_.size(); ++l) {
        const Level& level = levels_[l];
        if (level.keys.count() == 0) continue;
        const int64_t place = part.first / level.fold.tokens % level.fold.siblings;
        softmax.add(code_.turn(part.q, static_cast<int64_t>(l) + 1, place, true), level.keys.all(),
                    level.values.all());
      }
      out.push_back(softmax.result(part.q.scalar_type()));
      keep_part(part, turned);
    });
    return out.size() == 1 ? out[0].contiguous() : at::cat(out, 1);
  }

  void keep(const Piece& piece) override {
    for_parts(piece, [&](const Piece& part) { keep_part(part, code_.turn(part.k, 0, part.first)); });
  }

  int64_t bytes() const override {
    int64_t sum = last_.bytes();
    for (const Level& level : levels_) sum += level.keys.bytes() + level.values.bytes() + level.open.bytes();
    return sum;
  }

 private:
  struct Level {
    FoldLevel fold;
    Rows keys, values;  // slots of finished siblings, turned by their places
    OpenBlock open;
  };

  template <class Body>
  void for_parts(const Piece& piece, const Body& body) const {
    const int64_t block = levels_.empty() ? 256 : levels_[0].fold.tokens;
    for (int64_t begin = 0, count; begin < piece.size(); begin += count) {
      count = std::min(piece.size() - begin, block - (piece.first + begin) % block);
      body(piece.part(begin, count));
    }
  }

  void keep_part(const Piece& part, const at::Tensor& turned) {
    last_.keep(part, turned);
    const int64_t end = part.first + part.size();
    auto keys = part.k, values = part.v;
    for (size_t l = 0; l < levels_.size(); ++l) {
      Level& level = levels_[l];
      level.open.add(keys, values, latents_[static_cast<int64_t>(l)]);
      if (end % level.fold.tokens != 0) return;
      keys = level.open.keys(part.k.scalar_type()), values = level.open.values(part.v.scalar_type());
      level.open = {};
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
  at::Tensor latents_;
  Code code_;
  LastTokens last_;
  std::vector<Level> levels_;
};

/// Stage i needs the values that stage i − 1 gave to earlier tokens.
class EveryStage final : public AttentionCache::Memory {
 public:
  EveryStage(std::vector<int64_t> fold, double scale, Code code)
      : fold_(std::move(fold)), scale_(scale), code_(std::move(code)), values_(fold_.size()) {}

  void keep(const Piece& piece) override { attend(piece); }

  at::Tensor attend(const Piece& piece) override {
    std::vector<at::Tensor> out;
    for (int64_t i = 0; i < piece.size(); ++i) out.push_back(one(piece.part(i, 1)));
    return at::cat(out, 1);
  }

  int64_t bytes() const override {
    int64_t sum = keys_.bytes();
    for (const Rows& rows : values_) sum += rows.bytes();
    return sum;
  }

 private:
  at::Tensor one(const Piece& piece) {
    keys_.append(piece.k);
    auto value = piece.v;
    int64_t behind = 1;
    for (size_t i = 1; i < fold_.size(); ++i) behind *= fold_[i];
    for (size_t mode = 0; mode < fold_.size(); ++mode) {
      values_[mode].append(value);
      // Tokens at the same positions of the other modes, up to this one.
      const int64_t place = mode == 0 ? piece.first / behind : piece.first / behind % fold_[mode];
      const auto indices = at::arange(place + 1) * behind + (piece.first - place * behind);
      const auto level = static_cast<int64_t>(fold_.size() - 1 - mode);
      const auto keys = code_.turn(keys_.all().index_select(1, indices), level, 0);
      const auto values = values_[mode].all().index_select(1, indices);
      const int64_t groups = values.size(2), repeats = groups / keys.size(2);
      Softmax softmax(piece.q, groups, scale_);
      softmax.add(code_.turn(piece.q, level, place), repeats == 1 ? keys : keys.repeat_interleave(repeats, 2),
                  values);
      value = softmax.result(piece.q.scalar_type());
      if (mode + 1 < fold_.size()) behind /= fold_[mode + 1];
    }
    return value;
  }

  std::vector<int64_t> fold_;
  double scale_;
  Code code_;
  Rows keys_;
  std::vector<Rows> values_;
};

}  // namespace

AttentionCache::AttentionCache(TensorAttentionOptions options, at::Tensor latents, RotaryCode rotary)
    : options_(std::move(options)), latents_(std::move(latents)), rotary_(std::move(rotary)) {
  TORCH_CHECK_VALUE(options_.form != "pooled" && options_.causal,
                    "attention_cache: only causal forms can go on token "
                    "by token, got form ",
                    options_.form, options_.causal ? "" : " without causal");
  TORCH_CHECK_VALUE(!rotary_.positions.defined(),
                    "attention_cache: positions are counted, none may be given");
}
AttentionCache::~AttentionCache() = default;
AttentionCache::AttentionCache(AttentionCache&&) noexcept = default;
AttentionCache& AttentionCache::operator=(AttentionCache&&) noexcept = default;

at::Tensor AttentionCache::step(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v) {
  const at::NoGradGuard no_grad;
  check_tensor_attention_args(q, k, v, options_, latents_, rotary_);
  TORCH_CHECK_VALUE(q.size(1) > 0, "attention_cache: a step needs at least one token, got q ", q.sizes());
  if (memory_ == nullptr) {
    const double scale = options_.scale != 0 ? options_.scale : 1 / std::sqrt(static_cast<double>(q.size(3)));
    if (options_.form == "full" || options_.form == "random" || options_.form == "topk")
      memory_ = std::make_unique<EveryToken>(options_, scale, Code(rotary_));
    else if (options_.form == "axial")
      memory_ = std::make_unique<EveryStage>(options_.fold, scale, Code(rotary_));
    else
      memory_ = std::make_unique<Summaries>(
          options_, window_of(options_, std::numeric_limits<int64_t>::max()), scale, latents_, Code(rotary_));
  }
  if (!options_.fold.empty() && options_.fold[0] > 0 && options_.form != "full") {
    int64_t cells = 1;
    for (int64_t size : options_.fold) cells *= size;
    TORCH_CHECK_VALUE(length_ + q.size(1) <= cells, "attention_cache: the fold ", options_.fold, " holds ",
                      cells, " tokens and there would be ", length_ + q.size(1),
                      "; a first size of 0 grows with the text");
  }
  const Piece piece = {q, k, v, length_};
  length_ += q.size(1);
  constexpr int64_t kAtOnce = 64;
  if (piece.first > 0 || piece.size() < kAtOnce || options_.form == "axial") return memory_->attend(piece);
  const auto out = tensor_attention(q, k, v, options_, latents_, rotary_);
  memory_->keep(piece);
  return out;
}

int64_t AttentionCache::length() const {
  return length_;
}

int64_t AttentionCache::bytes() const {
  return memory_ == nullptr ? 0 : memory_->bytes();
}

}  // namespace modewise::ops
