#include "modewise/models/text/masked_language_model.h"

#include <ATen/ops/zeros.h>

#include "modewise/ops/dense/elementary.h"
#include "modewise/ops/dense/linear.h"

namespace modewise::models {

MaskedLanguageModel::MaskedLanguageModel(const TextModelConfig& config, nn::Initializer& init)
    : encoder_(register_module("encoder", std::make_shared<TextEncoder>(config, false, init))),
      dense_(register_module("dense", std::make_shared<nn::Linear>(init, config.width, config.width))),
      norm_(register_module("norm", std::make_shared<nn::LayerNorm>(config.width, config.norm_epsilon))),
      bias_(register_parameter("bias", at::zeros({config.vocabulary}))) {}

at::Tensor MaskedLanguageModel::transformed(const at::Tensor& rows) const {
  return norm_->forward(ops::elementary(dense_->forward(rows), "gelu"));
}

at::Tensor MaskedLanguageModel::logits(const at::Tensor& rows) const {
  const at::Tensor logits = ops::linear(transformed(rows), encoder_->word_codes(), bias_);
  return logits.to(bias_.scalar_type());
}

std::shared_ptr<MaskedLanguageModel> make_masked_language_model(const TextModelConfig& config,
                                                                uint64_t seed) {
  config.validate("model");
  const TextModelConfig resolved = config.resolved();
  nn::Initializer init(seed);
  auto model = std::make_shared<MaskedLanguageModel>(resolved, init);
  draw_text_weights(*model, resolved.stddev, init);
  return model;
}

}  // namespace modewise::models
