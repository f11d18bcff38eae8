#pragma once
// Text classification run.
//
// The run folder also has tokenizer/ (a copy of its file) and model/ (the best weights in Hugging Face
// format, with the tokenizer).

#include <memory>
#include <string>
#include <vector>

#include "modewise/models/classifier.h"
#include "modewise/tasks/classification/classification_run.h"
#include "modewise/tasks/run/model_output.h"
#include "modewise/tasks/text/encoder_run.h"

namespace modewise::tasks {

struct TextShape {
  int64_t classes = 2;
};

/// Adapter of TextClassifier to Classifier: values [B, n, 2] are token ids and types, int64; the mask is the
/// padding mask.
class TextLabeller final : public models::Classifier {
 public:
  TextLabeller(std::shared_ptr<models::TextClassifier> text, TextShape shape)
      : Classifier(shape.classes), shape_(shape), text_(register_module("text", std::move(text))) {}

  at::Tensor forward(const models::ClassifierInput& input) override {
    return text_->forward(input_of(input));
  }
  models::AttentionView attention(const models::ClassifierInput& input) override {
    return text_->attention(input_of(input));
  }
  const TextShape& shape() const { return shape_; }
  models::TextClassifier& text() const { return *text_; }

 private:
  static models::TextInput input_of(const models::ClassifierInput& input) {
    return {input.values.select(2, 0), input.valid, input.values.select(2, 1)};
  }

  TextShape shape_;
  std::shared_ptr<models::TextClassifier> text_;
};

class TextRun final : public ClassificationRunOf<TextTaskConfig, data::TextSet, TextLabeller>,
                      public EncoderRun {
 public:
  using ClassificationRunOf::ClassificationRunOf;

  ClassDescription about() const override;
  const ClassOptions& options() const override { return config.text; }

  void load_training_samples(bool with_test) override;
  void load_samples_of(const std::string& path, bool with_test) override;
  std::string samples_text() const override { return set_.pairs() ? "pairs of texts" : "texts"; }
  nlohmann::ordered_json describe() const override;
  void restore(const nlohmann::ordered_json& data, const std::string& file) override;

  void make_model(Purpose purpose) override;
  double rate_factor(std::string_view parameter) const override { return layer_rate(config, parameter); }
  nn::ModelCost cost() const override;
  data::LabelledBatch gather(std::span<const int64_t> samples) const override;
  void augment(data::LabelledBatch& /*batch*/, int64_t /*number*/) const override {}

  void add_figures(nlohmann::ordered_json& evaluation, const metrics::ClassMetrics& metrics,
                   const std::string& split) const override;
  void keep() const override;
  void finish(nlohmann::ordered_json& metrics) override;

  SampleView sample_view(int64_t sample) const override;
  std::vector<Influence> influences(const models::ClassifierInput& /*input*/, const at::Tensor& /*whole*/,
                                    int64_t /*max_places*/) const override {
    return {};
  }

  const TextTaskConfig& text_config() const override { return config; }
  NamedTexts shown_texts(const std::string& split, int64_t count) const override {
    return reading.spread(set_, split, count);
  }
  models::AttentionView attention(const models::TextInput& input) const override {
    return attention_of(model_->text(), input);
  }
  at::Tensor prediction(const models::TextInput& input) const override;
  Result predict(const PredictRequest& request) override;

 private:
  data::TrainedTexts trained_;
};

}  // namespace modewise::tasks
