#include "modewise/tasks/captioning/config.h"

#include "modewise/core/error.h"
#include "modewise/tasks/run/run.h"

namespace modewise::tasks {

void CaptionOptions::fields(Fields& f) {
  f.add("label_smoothing", smoothing, "label smoothing, from 0 to 0.99", {.min = 0, .max = 0.99});
  f.add("scheduled_sampling", scheduled_sampling,
        "scheduled sampling: final fraction of inputs sampled from the model, increasing from 0",
        {.min = 0, .max = 1});
  f.add("self_critical_epochs", self_critical_epochs,
        "last epochs with self-critical training: reward is CIDEr-D of sampled captions minus that of the "
        "greedy one",
        {.min = 0});
  f.add("samples", drawn, "sampled captions per image in self-critical epochs", {.min = 1, .max = 64});
  f.add("captions_per_picture", captions_per_image, "maximum captions per image in a training step",
        {.min = 1, .max = 1024});
  f.add("select", select, "validation metric for the selection of the best weights",
        {.one_of = {"cider_d", "loss"}});
  f.add("beam_size", beams, "beam width; 1: greedy search", {.min = 1, .max = 1024});
  f.add("length_penalty", length_penalty,
        "length penalty: exponent of the length by which log-probabilities are divided",
        {.min = 0, .max = 10});
  f.add("train_eval_samples", evaluated_training, "maximum training images evaluated at the end", {.min = 1});
  f.add("evaluation_batch", evaluation_batch, "batch size of evaluation, in images",
        {.min = 1, .max = 65536});
}

void CaptionOutput::fields(Fields& f) {
  f.add("report", report, "write report.html after training");
}

CaptioningConfig::CaptioningConfig() {
  train.epochs = 30;
  train.batch_size = 16;
  train.patience = 0;
  train.optimizer.learning_rate = 1e-3;
  train.schedule.warmup_steps = 50;
}

void CaptioningConfig::fields(Fields& f) {
  f.group("data", data);
  f.group("model", model);
  f.group("caption", captions);
  f.group("train", train);
  f.group("output", output);
  train.output_fields(f);
}

void CaptioningConfig::validate(const std::string& source) const {
  require(captions.self_critical_epochs <= train.epochs, ErrorKind::config,
          "{}: caption.self_critical_epochs = {} exceeds train.epochs = {}", source,
          captions.self_critical_epochs, train.epochs);
  train.validate();
}

models::CaptionShape caption_shape(const data::CaptionSet& set) {
  models::CaptionShape shape;
  if (set.features.defined()) {
    shape.height = set.features.size(1);
    shape.width = set.features.size(2);
    shape.features = set.features.size(3);
  } else {
    shape.channels = set.pixels.size(3);
    shape.height = set.pixels.size(1);
    shape.width = set.pixels.size(2);
  }
  shape.vocabulary = set.vocabulary.size();
  return shape;
}

std::string model_title(const CaptioningConfig& config) {
  const models::CaptionModelConfig& model = config.model;
  std::string title = model.name + " " + model.encoder.attention;
  if (model.name == "lstm") return title;
  if (model.decoder.attention != "dot-product") title += ", " + model.decoder.attention + " words";
  if (model.decoder.cross_attention != "dot-product")
    title += ", " + model.decoder.cross_attention + " cross";
  return title;
}

std::string data_title(const CaptioningConfig& config) {
  return data_name(config.data.path);
}

}  // namespace modewise::tasks
