#include "modewise/tasks/text/run.h"

#include <ATen/ops/stack.h>
#include <ATen/ops/tensor.h>
#include <fmt/format.h>

#include <algorithm>

#include "modewise/analysis/text_cost.h"
#include "modewise/core/error.h"
#include "modewise/metrics/agreement.h"
#include "modewise/models/text/files.h"
#include "modewise/tasks/run_tokenizer.h"
#include "modewise/train/checkpoint/checkpoint.h"

namespace modewise::tasks {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr size_t kShownBytes = 400;

}  // namespace

void TextRun::load_config(const std::string& file, const std::vector<std::string>& assignments) {
  config = load_text_config(file, assignments);
  config_file_ = file;
}

void TextRun::read_config(const train::RunFolder& folder) {
  ClassificationRunOf::read_config(folder);
  if (fs::is_directory(folder.file("tokenizer"))) reading_ = run_reading(config, folder);
}

void TextRun::require_data() const {
  require(!config.data.path.empty(), ErrorKind::usage,
          "no texts: give --data FOLDER of GLUE, a folder with train and test, or one .jsonl, .csv or .tsv");
}

void TextRun::load_samples(bool with_test) {
  reading_ = reading_of(config, config_file_);
  data::TextSet set = data::load_texts(config.data, false, with_test);
  require_parts(set, with_test);
  if (config.text.select == "auto") config.text.select = set.layout == "cola" ? "matthews" : "accuracy";
  set_ = std::move(set);
  hash_.clear();
  shape_ = {std::ssize(set_.classes)};
}

void TextRun::load_samples_of(const std::string& path, bool with_test) {
  if (path.empty() || fs::is_directory(path)) {
    data::TextDataConfig wanted = config.data;
    if (!path.empty()) {
      wanted.path = path;
      wanted.validation = wanted.test = "";
    }
    wanted.classes = trained_.classes;
    show(data::load_texts(wanted, false, with_test));
    return;
  }
  show(data::load_texts_for(path, config.data, trained_));
}

Json TextRun::describe() const {
  return {{"source", set_.source},
          {"hash", hash()},
          {"classes", set_.classes},
          {"pairs", set_.pairs()},
          {"tokenizer", {{"name", reading_.tokenizer->name()}, {"hash", reading_.tokenizer->hash()}}},
          {"samples", part_sizes(set_)}};
}

void TextRun::read_description(const Json& json, const std::string& file) {
  source_ = json.at("source").get<std::string>();
  trained_ = {json.at("classes").get<std::vector<std::string>>(), json.at("pairs").get<bool>()};
  require(trained_.classes.size() >= 2, ErrorKind::data, "{}: there are {} classes, fewer than two", file,
          trained_.classes.size());
  shape_ = {std::ssize(trained_.classes)};
}

void TextRun::make_model(bool to_train) {
  auto text = models::make_text_classifier(config.model, shape_.classes, seed());
  const bool begun = config_file_.filename() == "config.toml" &&
                     !train::CheckpointStore(config_file_.parent_path() / "checkpoints").empty();
  if (to_train && !begun) start_weights(config, *text);
  model_ = std::make_shared<TextLabeller>(std::move(text), shape_);
}

analysis::ModelCost TextRun::cost() const {
  return analysis::text_cost(config.model, reading_.length, {.classes = shape_.classes});
}

data::LabelledBatch TextRun::gather(std::span<const int64_t> samples) const {
  const models::TextInput input = reading_.input(set_, samples);
  std::vector<int64_t> labels;
  for (const int64_t i : samples) labels.push_back(set_.labels[static_cast<size_t>(i)]);
  return {at::stack({input.ids, input.types}, 2), *input.mask, at::tensor(labels, at::kLong)};
}

std::vector<std::string> TextRun::figures() const {
  if (shape_.classes > 2) return {"accuracy", "matthews", "loss", "auc"};
  return {"accuracy", "f1", "matthews", "loss", "auc"};
}

void TextRun::add_figures(Json& evaluation, const metrics::ClassMetrics& metrics,
                          const std::string& split) const {
  evaluation["matthews"] = metrics::matthews(metrics.confusion, shape_.classes);
  if (shape_.classes == 2) evaluation["f1"] = metrics::f1(metrics.confusion, 2, 1);
  if (split != "test" || set_.further.empty()) return;
  evaluation["mismatched_accuracy"] = metrics::medmnist_accuracy(score_samples(*this, set_.further));
}

void TextRun::begin(const train::RunFolder& folder) const {
  keep_run_tokenizer(folder, *reading_.tokenizer);
}

void TextRun::finish(const train::RunFolder& folder) const {
  if (!config.output.export_model) return;
  fs::remove_all(folder.file("model"));  // left by an interrupted evaluation
  models::save_text_model(folder.file("model"), model_->text(),
                          {.labels = set_.classes, .tokenizer = reading_.tokenizer});
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
