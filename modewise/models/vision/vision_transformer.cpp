#include "modewise/models/vision/vision_transformer.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>

#include "modewise/nn/attention/attention.h"

namespace modewise::models {
namespace {

constexpr double kEpsilon = 1e-12;
constexpr double kStddev = 0.02;

}  // namespace

VisionTransformer::VisionTransformer(const VisionModelConfig& config, const VisionShape& shape,
                                     nn::Initializer& init)
    : VisionClassifier(shape), bfloat16_(config.precision == "bf16") {
  const std::vector<int64_t> patch = config.patch.along(shape.size);
  int64_t tokens = 1;
  for (const int64_t count : nn::grid_patch_counts(shape.size, patch)) tokens *= count;
  embedding_ =
      register_module("emb", std::make_shared<nn::GridPatches>(init, shape.channels, patch, config.width,
                                                               nn::patch_activation("linear")));
  class_code_ = register_parameter("class_code", init.normal({config.width}, kStddev));
  positions_ = register_parameter("positions", init.normal({(1 + tokens) * config.width}, kStddev));
  dropout_ = register_module("embedding_dropout", std::make_shared<nn::Dropout>(init, config.patch.dropout));
  blocks_ = register_module("blocks", std::make_shared<nn::ModuleList<nn::Block>>());
  for (int64_t i = 0; i < config.blocks; ++i)
    blocks_->push_back(std::make_shared<nn::Block>(
        init, config.width,
        std::make_shared<nn::TokenAttention>(
            init, config.width, config.heads,
            nn::TokenAttentionOptions{.query_key_norm = false, .dropout = config.attention.dropout}),
        std::make_shared<nn::GELUNetwork>(init, config.width, config.hidden), config.dropout, 0, kEpsilon));
  norm_ = register_module("norm", std::make_shared<nn::LayerNorm>(config.width, kEpsilon));
  output_ = register_module("head", std::make_shared<nn::Linear>(init, config.width, shape.classes));
}

nn::PatchTokens VisionTransformer::embed(const ClassifierInput& input) const {
  const ClassifierInput clean = checked(input);
  nn::PatchTokens out =
      embedding_->forward(clean.values, clean.valid, bfloat16_ ? at::kBFloat16 : clean.values.scalar_type());
  const at::Tensor patches = out.tokens.flatten(1, -2);
  const int64_t batch = patches.size(0), width = patches.size(2);
  const at::Tensor first = nn::cast_like(class_code_, patches).expand({batch, 1, width});
  const at::Tensor tokens = at::cat({first, patches}, 1);
  out.tokens = dropout_->forward(tokens + nn::cast_like(positions_, tokens).view({tokens.size(1), width}));
  if (out.mask) out.mask = at::cat({at::ones({batch, 1}, out.mask->options()), out.mask->flatten(1)}, 1);
  return out;
}

at::Tensor VisionTransformer::forward(const ClassifierInput& input) {
  const nn::PatchTokens tokens = embed(input);
  at::Tensor x = tokens.tokens;
  for (const auto& block : *blocks_) x = block->forward(x, tokens.mask);
  return output_->forward(norm_->forward(x.select(1, 0))).to(input.values.scalar_type());
}

AttentionView VisionTransformer::attention(const ClassifierInput& input) {
  const nn::PatchTokens tokens = embed(input);
  AttentionView view{{tokens.tokens.size(1)}, {}, {}};
  at::Tensor x = tokens.tokens;
  for (const auto& block : *blocks_) {
    view.full.push_back(block->full_matrix(x, tokens.mask));
    x = block->forward(x, tokens.mask);
  }
  return view;
}

}  // namespace modewise::models
