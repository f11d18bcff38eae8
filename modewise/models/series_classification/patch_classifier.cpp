#include "modewise/models/series_classification/patch_classifier.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/ones.h>

#include "modewise/nn/attention/sequence_attention.h"

namespace modewise::models {
namespace {

/// [.., T] -> [.., P, length], zero (false) padding at the end.
at::Tensor cut(const at::Tensor& x, const SeriesPatchConfig& patch, int64_t count) {
  const int64_t padding = patch.length + (count - 1) * patch.stride - x.size(-1);
  return (padding > 0 ? at::constant_pad_nd(x, {0, padding}) : x).unfold(-1, patch.length, patch.stride);
}

}  // namespace

PatchClassifier::PatchClassifier(const SeriesModelConfig& config, const SeriesShape& shape,
                                 nn::Initializer& init)
    : SeriesClassifier(shape),
      patch_(config.patch),
      tokens_(config.tokens(shape.length)),
      groups_(config.patch.channels == "independent" ? shape.variables : 1),
      bfloat16_(config.precision == "bf16") {
  // With padded samples, the mask of valid steps is an additional channel of each patch.
  const int64_t channels = shape.variables / groups_ + (shape.padded ? 1 : 0);
  const int64_t width = config.width;
  embedding_ =
      register_module("embedding", std::make_shared<nn::Linear>(init, channels * patch_.length, width));
  const std::vector<int64_t> sizes = {groups_, tokens_};
  positions_ = register_module(
      "positions", std::make_shared<nn::ModeEmbedding>(init, sizes, std::vector<int64_t>{1}, width, 0.02));
  if (groups_ > 1)
    identities_ = register_module(
        "identities", std::make_shared<nn::ModeEmbedding>(init, sizes, std::vector<int64_t>{0}, width, 0.02));
  dropout_ = register_module("dropout", std::make_shared<nn::Dropout>(init, config.patch.dropout));
  blocks_ = register_module("blocks", std::make_shared<nn::ModuleList<nn::Block>>());
  for (int64_t i = 0; i < config.blocks; ++i)
    blocks_->push_back(std::make_shared<nn::Block>(
        init, width,
        nn::make_sequence_attention(init, config.attention.options(width, config.heads, tokens_)),
        std::make_shared<nn::GELUNetwork>(init, width, config.hidden), config.dropout, 0));
  head_ = register_module(
      "head", std::make_shared<nn::TimeHead>(init, nn::time_pooling(config.head.pooling), groups_ * tokens_,
                                             width, config.heads, shape.classes, config.head.dropout));
}

PatchClassifier::Tokens PatchClassifier::embed(const ClassifierInput& input) const {
  const int64_t batch = input.values.size(0);
  at::Tensor patches = cut(input.values, patch_, tokens_);  // [B, V, P, length]
  patches = groups_ > 1 ? patches : patches.transpose(1, 2).flatten(2).unsqueeze(1);
  Tokens out;
  if (shape().padded) {
    const at::Tensor valid = input.valid.defined()
                                 ? input.valid
                                 : at::ones({batch, shape().length}, input.values.options().dtype(at::kBool));
    const at::Tensor flags = cut(valid, patch_, tokens_);  // [B, P, length]
    patches = at::cat(
        {patches,
         flags.to(patches.scalar_type()).unsqueeze(1).expand({batch, groups_, tokens_, patch_.length})},
        -1);
    out.mask = flags.any(-1).unsqueeze(1).expand({batch, groups_, tokens_});
  }
  at::Tensor x = embedding_->forward(bfloat16_ ? patches.to(at::kBFloat16) : patches);
  x = positions_->add_to(x);
  if (identities_) x = identities_->add_to(x);
  out.values = dropout_->forward(x);
  return out;
}

at::Tensor PatchClassifier::forward(const ClassifierInput& given) {
  const ClassifierInput input = checked(given);
  const int64_t batch = input.values.size(0);
  const Tokens tokens = embed(input);
  at::Tensor x = tokens.values.flatten(0, 1);
  std::optional<at::Tensor> mask, all;
  if (tokens.mask) {
    mask = tokens.mask->flatten(0, 1);
    all = tokens.mask->flatten(1);
  }
  for (const auto& block : *blocks_) x = block->forward(x, mask);
  return head_->forward(x.reshape({batch, groups_ * tokens_, x.size(-1)}), all)
      .to(input.values.scalar_type());
}

AttentionView PatchClassifier::attention(const ClassifierInput& given) {
  const ClassifierInput input = checked(given);
  const Tokens tokens = embed(input);
  at::Tensor x = tokens.values.flatten(0, 1);
  std::optional<at::Tensor> mask;
  if (tokens.mask) mask = tokens.mask->flatten(0, 1);
  AttentionView view{{tokens_}, {}, {}};
  for (const auto& block : *blocks_) {
    view.full.push_back(block->full_matrix(x, mask).unflatten(0, {-1, groups_}).mean(1));
    x = block->forward(x, mask);
  }
  return view;
}

}  // namespace modewise::models
