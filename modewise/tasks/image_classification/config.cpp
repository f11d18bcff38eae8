#include "modewise/tasks/image_classification/config.h"

#include "modewise/data/image_classification/perturbations.h"
#include "modewise/tasks/run/run.h"

namespace modewise::tasks {

void ImageClassificationOptions::fields(Fields& f) {
  ClassLossOptions::fields(f);
  f.add("select", select, "validation metric for the selection of the best weights",
        {.one_of = {"auc", "accuracy", "loss"}});
  f.add("evaluation_batch", evaluation_batch, "batch size of evaluation, in images",
        {.min = 1, .max = 65536});
  f.add(
      "robustness", robustness,
      "perturbations of the test images on which training evaluates the model at its end, such as rotation; "
      "evaluate --robustness has all");
}

void ImageClassificationOutput::fields(Fields& f) {
  f.add("report", report, "write report.html after training");
}

ImageClassificationConfig::ImageClassificationConfig() {
  model.use_model("cnn");
  train.epochs = train::TrainConfig::kOpenEpochs;
  train.batch_size = 128;
  train.patience = 0;
  train.optimizer.learning_rate = 2e-3;
  train.optimizer.weight_decay = 0.05;
  train.schedule.warmup_steps = 100;
}

void ImageClassificationConfig::fields(Fields& f) {
  f.group("data", data);
  f.group("augment", augment);
  f.group("model", model);
  f.group("classify", images);
  f.group("train", train);
  f.group("output", output);
  train.output_fields(f);
}

models::VisionShape ImageClassificationConfig::model_shape(const data::ImageSet& set) const {
  return {{set.height(), set.width()}, set.channels(), std::ssize(set.classes), false};
}

void ImageClassificationConfig::validate(const std::string& /*source*/) const {
  for (const std::string& name : images.robustness) data::find_perturbation(name);
  train.validate();
}

std::string model_title(const ImageClassificationConfig& config) {
  const models::VisionModelConfig& model = config.model;
  if (model.name == "cnn") return model.cnn.attention == "none" ? "cnn" : "cnn " + model.cnn.attention;
  return models::is_grid_token_model(model.name) ? title_of(model, model.attention) : model.name;
}

std::string data_title(const ImageClassificationConfig& config) {
  return data_name(config.data.path);
}

}  // namespace modewise::tasks
