#include "modewise/tasks/segmentation/config.h"

#include "modewise/tasks/run/run.h"

namespace modewise::tasks {

void SegmentationOptions::fields(Fields& f) {
  f.add("class_weights", class_weights,
        "class weights in the loss: none, balanced (inverse class frequency) or root (its square root)",
        {.one_of = {"none", "balanced", "root"}});
  f.add("select", select, "validation metric for the selection of the best weights",
        {.one_of = {"mean_iou", "accuracy", "loss"}});
  f.add("overlap", overlap, "overlap of neighbouring windows in larger areas, relative to the window",
        {.min = 0, .max = 0.75});
  f.add("evaluation_batch", evaluation_batch, "batch size of evaluation and prediction, in windows",
        {.min = 1, .max = 4096});
}

void SegmentationOutput::fields(Fields& f) {
  f.add("figures", figures, "test areas shown in the report", {.min = 0, .max = 100});
  f.add("report", report, "write report.html after training");
}

SegmentationConfig::SegmentationConfig() {
  train.epochs = 50;
  train.batch_size = 8;
  train.patience = 10;
}

void SegmentationConfig::fields(Fields& f) {
  f.group("data", data);
  f.group("model", model);
  f.group("segment", segment);
  f.group("train", train);
  f.group("output", output);
  train.output_fields(f);
}

void SegmentationConfig::validate(const std::string& source) const {
  data.validate(source);
  train.validate();
}

models::SegmentationShape model_shape(const data::SceneSummary& data) {
  return {data.times, static_cast<int64_t>(data.rule.bands.size()), data.classes.size(), data.window,
          data.missing};
}

std::string model_title(const SegmentationConfig& config) {
  return config.model.name != "unet" ? title_of(config.model, config.model.attention) : config.model.name;
}

std::string data_title(const SegmentationConfig& config) {
  return data_name(config.data.path);
}

}  // namespace modewise::tasks
