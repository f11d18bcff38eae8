#include "modewise/tasks/volume_classification/config.h"

#include <algorithm>

#include "modewise/core/error.h"
#include "modewise/tasks/run/run.h"

namespace modewise::tasks {

void VolumeClassificationOptions::fields(Fields& f) {
  ClassLossOptions::fields(f);
  f.add("select", select, "validation metric for the selection of the best weights",
        {.one_of = {"auc", "accuracy", "loss"}});
  f.add("flip_axes", flips, "axes of test-time augmentation: probabilities are averaged over all flips",
        {.min = 0, .max = 15});
  f.add("evaluation_batch", evaluation_batch, "batch size of evaluation, in volumes",
        {.min = 1, .max = 65536});
}

void VolumeClassificationOutput::fields(Fields& f) {
  f.add("scores", scores, "write test scores in the format of MedMNIST's evaluator");
  f.add("report", report, "write report.html after training");
}

VolumeClassificationConfig::VolumeClassificationConfig() {
  // Safe for any orientation: flips, 90° rotations and scaling are off by default.
  augment.shift = 2;
  augment.rotate = data::AugmentConfig::kOpenRotation;
  train.epochs = train::TrainConfig::kOpenEpochs;
  train.patience = 0;
  train.ema_decay = 0.98;
  train.optimizer.learning_rate = 2e-3;
  train.optimizer.weight_decay = 0.1;
  train.schedule.warmup_steps = 100;
}

void VolumeClassificationConfig::fields(Fields& f) {
  f.group("data", data);
  f.group("augment", augment);
  f.group("model", model);
  f.group("classify", classify);
  f.group("train", train);
  f.group("output", output);
  train.output_fields(f);
}

models::VisionShape VolumeClassificationConfig::model_shape(const data::VolumeSet& set) const {
  return {set.size(), set.channels(), std::ssize(set.classes), set.masked()};
}

void VolumeClassificationConfig::validate(const std::string& source) const {
  for (size_t i = 0; i < classify.flips.size(); ++i)
    require(std::count(classify.flips.begin(), classify.flips.end(), classify.flips[i]) == 1,
            ErrorKind::config, "{}: classify.flip_axes: duplicate axis {}", source, classify.flips[i]);
  require(classify.flips.size() <= 6, ErrorKind::config, "{}: classify.flip_axes: at most 6 axes, got {}",
          source, classify.flips.size());
  train.validate();
}

std::string model_title(const VolumeClassificationConfig& config) {
  return config.model.name == "hot" ? title_of(config.model, config.model.attention) : config.model.name;
}

std::string data_title(const VolumeClassificationConfig& config) {
  return data_name(config.data.path);
}

}  // namespace modewise::tasks
