#pragma once
// Text classification run.
//
// The run folder also has tokenizer/ (a copy of its file) and model/ (the best weights in Hugging Face
// format, with the tokenizer).

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "modewise/models/classifier.h"
#include "modewise/tasks/classification/classification_run.h"
#include "modewise/tasks/text/reading.h"

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

class TextRun final : public ClassificationRunOf<TextTaskConfig, data::TextSet, TextLabeller> {
 public:
  const char* task() const override { return "text"; }
  const char* subject() const override { return "texts"; }
  const ClassOptions& options() const override { return config.text; }
  void load_config(const std::string& file, const std::vector<std::string>& assignments) override;
  void read_config(const train::RunFolder& folder) override;
  void require_data() const override;

  void load_samples(bool with_test) override;
  void load_samples_of(const std::string& path, bool with_test) override;
  std::string samples_text() const override { return set_.pairs() ? "pairs of texts" : "texts"; }
  std::string asked_split(const std::string& /*path*/) const override { return "test"; }
  nlohmann::ordered_json describe() const override;
  void read_description(const nlohmann::ordered_json& json, const std::string& file) override;

  void make_model(bool to_train) override;
  double rate_factor(std::string_view parameter) const override { return layer_rate(config, parameter); }
  analysis::ModelCost cost() const override;
  data::LabelledBatch gather(std::span<const int64_t> samples) const override;
  void augment(data::LabelledBatch& /*batch*/, int64_t /*number*/) const override {}

  std::vector<std::string> figures() const override;
  void add_figures(nlohmann::ordered_json& evaluation, const metrics::ClassMetrics& metrics,
                   const std::string& split) const override;
  void begin(const train::RunFolder& folder) const override;
  void finish(const train::RunFolder& folder) const override;

  SampleView sample_view(int64_t sample) const override;
  std::string figure_text() const override { return "the texts as they were read"; }
  std::vector<std::string> mode_names() const override { return {"token"}; }
  std::vector<Influence> influences(const models::ClassifierInput& /*input*/, const at::Tensor& /*whole*/,
                                    int64_t /*most_places*/) const override {
    return {};
  }
  std::string removal_text() const override { return ""; }

  const TextReading& reading() const { return reading_; }

 private:
  TextReading reading_;
  std::filesystem::path config_file_;
  data::TrainedTexts trained_;
};

}  // namespace modewise::tasks
