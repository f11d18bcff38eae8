#include "modewise/models/text/text_classifier.h"

#include <ATen/core/grad_mode.h>

#include "modewise/models/text/text_input_checks.h"
#include "modewise/ops/dense/elementary.h"

namespace modewise::models {

TextClassifier::TextClassifier(const TextModelConfig& config, int64_t classes, nn::Initializer& init) {
  const bool bert = config.kind == "bert";
  encoder_ = register_module("encoder", std::make_shared<TextEncoder>(config, bert, init));
  dropout1_ = register_module("dropout1", std::make_shared<nn::Dropout>(init, config.head_dropout));
  if (!bert) {
    dense_ = register_module("dense", std::make_shared<nn::Linear>(init, config.width, config.width));
    dropout2_ = register_module("dropout2", std::make_shared<nn::Dropout>(init, config.head_dropout));
  }
  output_ = register_module("output", std::make_shared<nn::Linear>(init, config.width, classes));
}

at::Tensor TextClassifier::forward(const TextInput& input) {
  if (input.mask) check_first_tokens(*input.mask);
  const at::Tensor hidden = encoder_->forward(input);
  at::Tensor x = dropout1_->forward(dense_ ? hidden.select(1, 0) : encoder_->pooled(hidden));
  if (dense_) x = dropout2_->forward(ops::elementary(dense_->forward(x), "tanh"));
  const at::Tensor logits = output_->forward(x);
  return logits.to(output_->weight().scalar_type());
}

void TextClassifier::rescale(double scale, double shift) {
  const at::NoGradGuard no_grad;
  at::Tensor weight = output_->weight(), bias = output_->bias();
  weight.mul_(scale);
  bias.mul_(scale).add_(shift);
}

std::shared_ptr<TextClassifier> make_text_classifier(const TextModelConfig& config, int64_t classes,
                                                     uint64_t seed) {
  config.validate("model");
  const TextModelConfig resolved = config.resolved();
  nn::Initializer init(seed);
  auto model = std::make_shared<TextClassifier>(resolved, classes, init);
  draw_text_weights(*model, resolved.stddev, init);
  return model;
}

}  // namespace modewise::models
