// KV caches: every token (full, random, topk), every token with the values of each stage (axial), and
// summary_memory.h (window, lambda, summary).

#include "modewise/ops/attention/attention_cache.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/softmax.h>

#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include "modewise/ops/accumulate_type.h"
#include "modewise/ops/arguments.h"
#include "modewise/ops/attention/attention_memory.h"
#include "modewise/ops/attention/attention_type_parts.h"
#include "modewise/ops/attention/dot_product_attention.h"
#include "modewise/ops/attention/sparse_attention.h"
#include "modewise/ops/dense/matmul.h"

namespace modewise::ops {

namespace {

/// q [B, 1, H, d], keys [B, s, H, d], values [B, s, H, e] -> [B, 1, H, e]
at::Tensor attend_rows(const at::Tensor& q, const at::Tensor& keys, const at::Tensor& values, double scale) {
  const auto type = accumulate_type(q.scalar_type());
  const auto heads_first = [&](const at::Tensor& x) { return x.to(type).transpose(1, 2); };
  const auto logits = ops::matmul(heads_first(q), heads_first(keys).transpose(-1, -2)) * scale;
  return ops::matmul(at::softmax(logits, -1), heads_first(values)).transpose(1, 2).to(q.scalar_type());
}

class EveryToken final : public AttentionCache::Memory {
 public:
  EveryToken(const TensorAttentionOptions& options, double scale, PositionEncoding code)
      : scale_(scale), code_(std::move(code)) {
    if (attention_type(options.type).density)
      sparse_ = {options.type == "random", options.density, true, {}, {.scale = scale}};
  }

  void keep(const Piece& piece) override {
    keys_.append(code_.turn(piece.k, 0, piece.first));
    values_.append(piece.v);
  }
  at::Tensor attend(const Piece& piece) override {
    const auto rotated = code_.turn(at::cat({piece.q, piece.k}, 2), 0, piece.first);
    const auto q = rotated.narrow(2, 0, piece.q.size(2));
    keys_.append(rotated.narrow(2, piece.q.size(2), piece.k.size(2)));
    values_.append(piece.v);
    if (sparse_) return sparse_attention(q, keys_.all(), values_.all(), *sparse_, piece.first);
    std::optional<at::Tensor> mask;
    const int64_t all = keys_.count();
    const auto positions = q.options().dtype(at::kLong);
    if (piece.size() > 1)
      mask = at::arange(all, positions).le(at::arange(piece.first, all, positions).unsqueeze(1));
    return dot_product_attention(q, keys_.all(), values_.all(), mask, false, scale_);
  }
  int64_t bytes() const override { return keys_.bytes() + values_.bytes(); }

 private:
  double scale_;
  std::optional<SparseOptions> sparse_;
  PositionEncoding code_;
  Rows keys_, values_;
};

/// Stage i needs the values that stage i − 1 computed for earlier tokens.
class EveryStage final : public AttentionCache::Memory {
 public:
  EveryStage(std::vector<int64_t> fold, double scale, PositionEncoding code)
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
      // Earlier tokens and this one at the same positions of the other modes.
      const int64_t place = mode == 0 ? piece.first / behind : piece.first / behind % fold_[mode];
      const auto indices =
          at::arange(place + 1, piece.k.options().dtype(at::kLong)) * behind + (piece.first - place * behind);
      const auto level = static_cast<int64_t>(fold_.size() - 1 - mode);
      const auto keys = code_.turn(keys_.all().index_select(1, indices), level, 0);
      const auto values = values_[mode].all().index_select(1, indices);
      const int64_t heads = piece.q.size(2);
      const auto per_head = [&](const at::Tensor& x) {
        return x.size(2) == heads ? x : x.repeat_interleave(heads / x.size(2), 2);
      };
      value = attend_rows(code_.turn(piece.q, level, place), per_head(keys), per_head(values), scale_);
      if (mode + 1 < fold_.size()) behind /= fold_[mode + 1];
    }
    return value;
  }

  std::vector<int64_t> fold_;
  double scale_;
  PositionEncoding code_;
  Rows keys_;
  std::vector<Rows> values_;
};

}  // namespace

std::unique_ptr<AttentionCache::Memory> keep_tokens(const TensorAttentionOptions& options, double scale,
                                                    const at::Tensor& /*latents*/,
                                                    const RotaryEmbedding& rotary) {
  return std::make_unique<EveryToken>(options, scale, PositionEncoding(rotary));
}

std::unique_ptr<AttentionCache::Memory> keep_stages(const TensorAttentionOptions& options, double scale,
                                                    const at::Tensor& /*latents*/,
                                                    const RotaryEmbedding& rotary) {
  return std::make_unique<EveryStage>(options.fold, scale, PositionEncoding(rotary));
}

AttentionCache::AttentionCache(TensorAttentionOptions options, at::Tensor latents, RotaryEmbedding rotary)
    : options_(std::move(options)), latents_(std::move(latents)), rotary_(std::move(rotary)) {
  TORCH_CHECK_VALUE(attention_type(options_.type).memory != nullptr && options_.causal,
                    "attention_cache: incremental decoding needs a causal form, got form ", options_.type,
                    options_.causal ? "" : " without causal");
  TORCH_CHECK_VALUE(options_.modes == 0,
                    "attention_cache: modes must be 0 (attention along all modes of the fold), got ",
                    options_.modes);
  TORCH_CHECK_VALUE(!rotary_.positions.defined(),
                    "attention_cache: positions must be undefined, the cache counts them");
}
AttentionCache::~AttentionCache() = default;
AttentionCache::AttentionCache(AttentionCache&&) noexcept = default;
AttentionCache& AttentionCache::operator=(AttentionCache&&) noexcept = default;

void AttentionCache::check_step(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v) const {
  check_tensor_attention_args(q, k, v, options_, latents_, rotary_, {});
  TORCH_CHECK_VALUE(q.size(1) > 0, "attention_cache: q must have at least one token, got ", q.sizes());
  if (attention_type(options_.type).by_modes() && options_.fold[0] > 0) {
    int64_t cells = 1;
    for (int64_t size : options_.fold) cells *= size;
    TORCH_CHECK_VALUE(length_ + q.size(1) <= cells, "attention_cache: the fold ", options_.fold, " holds ",
                      cells, " tokens, the sequence would have ", length_ + q.size(1),
                      "; a first size of 0 grows with the sequence");
  }
  if (memory_ == nullptr) return;
  const auto check = [](const char* name, const at::Tensor& x, const at::Tensor& first) {
    check_same("attention_cache", name, x, "the first step", first);
    TORCH_CHECK_VALUE(x.size(0) == first.size(0) && x.sizes().slice(2) == first.sizes().slice(2),
                      "attention_cache: ", name, " must be [", first.size(0), ", t, ", first.size(2), ", ",
                      first.size(3), "], as in the first step, got ", x.sizes());
  };
  check("k", k, first_keys_);
  check("v", v, first_values_);
}

at::Tensor AttentionCache::step(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v) {
  const at::NoGradGuard no_grad;
  check_step(q, k, v);
  const AttentionType& type = attention_type(options_.type);
  const Piece piece = {q, k, v, length_};
  at::Tensor out;
  if (memory_ != nullptr) {
    out = memory_->attend(piece);
  } else {
    const double scale = options_.scale != 0 ? options_.scale : 1 / std::sqrt(static_cast<double>(q.size(3)));
    std::unique_ptr<Memory> memory = type.memory(options_, scale, latents_, rotary_);
    constexpr int64_t kAtOnce = 64;
    if (piece.size() < kAtOnce || type.by_modes()) {
      out = memory->attend(piece);
    } else {
      out = tensor_attention(q, k, v, options_, latents_, rotary_);
      memory->keep(piece);
    }
    first_keys_ = at::empty({k.size(0), 0, k.size(2), k.size(3)}, k.options());
    first_values_ = at::empty({v.size(0), 0, v.size(2), v.size(3)}, v.options());
    memory_ = std::move(memory);
  }
  length_ += q.size(1);
  return out;
}

int64_t AttentionCache::length() const {
  return length_;
}

int64_t AttentionCache::bytes() const {
  return memory_ == nullptr ? 0 : memory_->bytes();
}

}  // namespace modewise::ops
