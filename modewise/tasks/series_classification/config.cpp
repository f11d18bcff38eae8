#include "modewise/tasks/series_classification/config.h"

#include "modewise/core/error.h"
#include "modewise/tasks/run/run.h"

namespace modewise::tasks {

void SeriesClassificationOptions::fields(Fields& f) {
  ClassLossOptions::fields(f);
  f.add("select", select, "validation metric for the selection of the best weights",
        {.one_of = {"loss", "accuracy"}});
  f.add("evaluation_batch", evaluation_batch, "batch size of evaluation, in samples",
        {.min = 1, .max = 65536});
}

void SeriesOutput::fields(Fields& f) {
  f.add("report", report, "write report.html after training");
}

SeriesClassificationConfig::SeriesClassificationConfig() {
  train.epochs = train.patience = train::TrainConfig::kOpenEpochs;
  train.batch_size = 16;
  train.clip_norm = 4;
  train.optimizer.learning_rate = 1e-3;
  train.optimizer.weight_decay = 0.05;
}

void SeriesClassificationConfig::fields(Fields& f) {
  f.group("data", data);
  f.group("augment", augment);
  f.group("model", model);
  f.group("classify", series);
  f.group("train", train);
  f.group("output", output);
  train.output_fields(f);
}

models::SeriesShape SeriesClassificationConfig::model_shape(const data::SeriesCollection& set) const {
  return {set.variables, set.length, std::ssize(set.classes), set.padded(), std::ssize(set.train)};
}

void SeriesClassificationConfig::validate(const std::string& source) const {
  require(data.path.empty() || data.train.empty(), ErrorKind::config,
          "{}: give data.path or data.train with data.test, not both", source);
  require(data.test.empty() || !data.train.empty() || !data.path.empty(), ErrorKind::config,
          "{}: data.test without data.train", source);
  require(data.test.empty() || !data.is_simulated(), ErrorKind::config,
          "{}: data.test has no effect with simulated series: leave it out", source);
  train.validate();
}

std::string model_title(const SeriesClassificationConfig& config) {
  return models::title_of(config.model);
}

std::string data_title(const SeriesClassificationConfig& config) {
  std::string name = data_name(config.data.path.empty() ? config.data.train : config.data.path);
  for (const char* ending : {"_TRAIN", "_TEST"})
    if (name.ends_with(ending)) name.resize(name.size() - std::string(ending).size());
  return config.data.protocol == "official" ? name : name + " " + config.data.protocol;
}

}  // namespace modewise::tasks
