#include "modewise/tasks/text/run.h"

#include <ATen/ops/softmax.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/tensor.h>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "modewise/core/error.h"
#include "modewise/core/remove_tree.h"
#include "modewise/metrics/agreement.h"
#include "modewise/models/text/cost.h"
#include "modewise/models/text/files.h"
#include "modewise/tasks/classification/classification_spec.h"
#include "modewise/tasks/run/model_output.h"
#include "modewise/tasks/run/run_tokenizer.h"
#include "modewise/tasks/text/spec.h"

namespace modewise::tasks {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr size_t kShownBytes = 400;

}  // namespace

ClassDescription TextRun::about() const {
  const bool two = shape_.classes == 2;
  return {.task = text_spec,
          .subject = "texts",
          .figures = two ? std::vector<std::string>{"accuracy", "f1", "matthews", "loss", "auc"}
                         : std::vector<std::string>{"accuracy", "matthews", "loss", "auc"},
          .modes = {"token"},
          .view = "the texts as they were read",
          .new_split = "test"};
}

void TextRun::load_training_samples(bool with_test) {
  require(!config.data.path.empty(), ErrorKind::usage,
          "no texts: give --data FOLDER of GLUE, a folder with train and test, or one .csv, .tsv or .jsonl");
  reading = training_reading(config, *this);
  data::TextSet set = data::load_texts(config.data, false, with_test);
  require_parts(set, with_test);
  if (config.text.select == "auto") config.text.select = set.layout == "cola" ? "matthews" : "accuracy";
  require(config.text.select != "f1" || set.classes.size() == 2, ErrorKind::config,
          "text.select = \"f1\" needs two classes, but the texts have {}: choose accuracy or matthews",
          set.classes.size());
  reading.warn_of_cuts(set);
  show(std::move(set));
  shape_ = {std::ssize(set_.classes)};
}

void TextRun::load_samples_of(const std::string& path, bool with_test) {
  data::TextDataConfig wanted = config.data;
  if (!path.empty()) {
    wanted.path = path;
    wanted.validation = wanted.test = "";
  }
  wanted.classes = trained_.classes;
  const bool file = !path.empty() && !fs::is_directory(path);
  data::TextSet set = file ? data::load_texts_for(path, config.data, trained_, with_test, labelled_)
                           : data::load_texts(wanted, false, with_test);
  other_texts = !path.empty() && set.drawn.empty();
  reading.warn_of_cuts(set);
  show(std::move(set));
}

Json TextRun::describe() const {
  return {{"source", set_.source},
          {"hash", hash()},
          {"classes", set_.classes},
          {"pairs", set_.pairs()},
          {"tokenizer", {{"name", reading.tokenizer->name()}, {"hash", reading.tokenizer->hash()}}},
          {"samples", part_sizes(set_)}};
}

void TextRun::restore(const Json& data, const std::string& file) {
  reading = run_reading(config, folder());
  source_ = data.at("source").get<std::string>();
  trained_ = {data.at("classes").get<std::vector<std::string>>(), data.at("pairs").get<bool>(),
              data.value("hash", "")};
  require(trained_.classes.size() >= 2, ErrorKind::data, "{}: classes: expected two or more, got {}", file,
          trained_.classes.size());
  shape_ = {std::ssize(trained_.classes)};
}

void TextRun::make_model(Purpose purpose) {
  auto text = models::make_text_classifier(config.model, shape_.classes, seed());
  if (purpose == Purpose::train) start_weights(config, *text, set_.classes);
  model_ = std::make_shared<TextLabeller>(std::move(text), shape_);
}

nn::ModelCost TextRun::cost() const {
  return models::text_cost(config.model, reading.length, {.classes = shape_.classes});
}

data::LabelledBatch TextRun::gather(std::span<const int64_t> samples) const {
  const models::TextInput input = reading.input(set_, samples);
  std::vector<int64_t> labels;
  for (const int64_t i : samples) labels.push_back(set_.labels[static_cast<size_t>(i)]);
  return {at::stack({input.ids, input.types}, 2), *input.mask, at::tensor(labels, at::kLong)};
}

void TextRun::add_figures(Json& evaluation, const metrics::ClassMetrics& metrics,
                          const std::string& split) const {
  evaluation["matthews"] = metrics::matthews(metrics.confusion, shape_.classes);
  if (shape_.classes == 2) evaluation["f1"] = metrics::f1(metrics.confusion, 2, 1);
  if (split != "test" || set_.further.empty()) return;
  evaluation["mismatched_accuracy"] = metrics::medmnist_accuracy(score_samples(*this, set_.further));
}

void TextRun::keep() const {
  ClassificationRun::keep();
  keep_run_tokenizer(folder(), *reading.tokenizer);
}

void TextRun::finish(Json& metrics) {
  ClassificationRun::finish(metrics);
  if (!config.output.export_model) return;
  remove_tree(folder().file("model"));  // left by an interrupted evaluation
  models::save_text_model(folder().file("model"), model_->text(),
                          {.labels = set_.classes, .tokenizer = reading.tokenizer});
}

at::Tensor TextRun::prediction(const models::TextInput& input) const {
  return at::softmax(output_of(model_->text(), input), -1);
}

Result TextRun::predict(const PredictRequest& request) {
  return predict_classification(*this, request);
}

SampleView TextRun::sample_view(int64_t sample) const {
  const auto i = static_cast<size_t>(sample);
  const auto shown = [](std::string_view text) {
    size_t size = std::min(text.size(), kShownBytes);
    while (size < text.size() && (static_cast<unsigned char>(text[size]) & 0xC0) == 0x80) --size;
    return std::string(text.substr(0, size)) + (size < text.size() ? " …" : "");
  };
  return SampleText{set_.pairs() ? fmt::format("{}” / “{}", shown(set_.first[i]), shown(set_.second[i]))
                                 : shown(set_.first[i])};
}

}  // namespace modewise::tasks
