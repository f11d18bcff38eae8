#include "modewise/tasks/image_classification/spec.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "modewise/core/data_files.h"
#include "modewise/core/error.h"
#include "modewise/data/array_tensor.h"
#include "modewise/io/images/image.h"
#include "modewise/tasks/classification/class_tables.h"
#include "modewise/tasks/classification/classification_spec.h"
#include "modewise/tasks/image_classification/robustness.h"
#include "modewise/tasks/image_classification/run.h"
#include "modewise/tasks/run/commands.h"
#include "modewise/tasks/run/comparison.h"
#include "modewise/tasks/run/load_config.h"

namespace modewise::tasks {
namespace {

using Json = nlohmann::ordered_json;

std::unique_ptr<Run> create(const Settings& settings) {
  return std::make_unique<ImageClassificationRun>(load_config<ImageClassificationConfig>(settings));
}

Result evaluate_robustness(const EvaluateRequest& request, const RobustnessOptions& options) {
  std::vector<std::string> paths = {request.run};
  paths.insert(paths.end(), request.further_runs.begin(), request.further_runs.end());
  Json evaluations = Json::array();
  std::vector<FinishedRun> runs;
  for (const std::string& path : paths) {
    EvaluateRequest one = request;
    one.run = path;
    const auto run = open_for_evaluation(image_classification_spec, one);
    evaluations.push_back(evaluate_robustness(as<ImageClassificationRun>(*run), request.split, options));
    runs.push_back(read_run_identity(image_classification_spec, run->folder()));
    runs.back().metrics = evaluations.back();
    runs.back().tested = fmt::format("{} {}", evaluations.back()["samples"].dump(),
                                     request.data.empty() ? runs.back().data_hash : request.data);
  }
  const std::vector<ResultTable> tables = robustness_tables(group_runs(std::move(runs)));
  if (!options.report.empty()) {
    report::HtmlPage page("Robustness");
    add_tables(page, tables);
    page.write(options.report);
  }
  std::string text;
  for (const ResultTable& one : tables)
    text += (text.empty() ? "" : "\n") + one.title + "\n" + one.table.to_text();
  return {std::move(evaluations), std::move(text)};
}

Result evaluate(const EvaluateRequest& request) {
  RobustnessOptions options;
  Fields fields = fields_of(options);
  for (const std::string& setting : request.settings) fields.set(setting);
  fields.validate("evaluate");
  const OptionNeed needs[] = {
      {"--perturbations", "without --robustness", options.robustness},
      {"--limit", "without --robustness", options.robustness},
      {"--seed", "without --robustness", options.robustness},
      {"--report", "without --robustness", options.robustness},
      {"--detail", "with --robustness, which has no further tables", !options.robustness}};
  refuse_without_effect(image_classification_spec, request, needs);
  if (options.robustness) return evaluate_robustness(request, options);
  require(request.further_runs.empty(), ErrorKind::usage,
          "only --robustness evaluates several runs together");
  return evaluate_split(image_classification_spec, request);
}

Result describe_data(const Settings& settings) {
  const data::ImageSet set = data::load_images(load_config<ImageClassificationConfig>(settings).data);
  Json head = {{"source", set.source},
               {"pictures", set.count()},
               {"size", {set.height(), set.width()}},
               {"channels", set.channels()},
               {"classes", set.classes}};
  return describe_set(set, std::move(head),
                      fmt::format("{}: {} images of {} × {} pixels, {} channel{}", set.source, set.count(),
                                  set.height(), set.width(), set.channels(), set.channels() == 1 ? "" : "s"));
}

bool owns(const std::filesystem::path& data) {
  const bool folder = std::filesystem::is_directory(data);
  return io::named_as_image(data) || data.filename() == "data_batch_1.bin" ||
         (folder && (data::holds_cifar(data.string()) || data::holds_cifar_pickles(data.string()))) ||
         (lower_extension(data) == ".npz" && std::filesystem::is_regular_file(data) &&
          data::holds_image_arrays(data.string()));
}

std::vector<Candidate> candidates(const Settings& /*settings*/) {
  return {{"cnn", {"model.name=cnn"}}, {"cnn-dense", {"model.name=cnn", "model.cnn.attention=dense"}},
          {"hot", {"model.name=hot"}}, {"resnet-narrow", {"model.name=resnet18", "model.resnet.width=16"}},
          {"vit", {"model.name=vit"}}, {"resnet18", {"model.name=resnet18"}}};
}

const Comparison& comparison() {
  static const Comparison made = classification_comparison("images", "images");
  return made;
}

}  // namespace

const TaskSpec image_classification_spec = {
    .name = "image_classification",
    .command = "classify-images",
    .subject = "a classifier",
    .summary = "Trains an image classifier and evaluates it on the test images.",
    .example = "modewise train classify-images --data cifar-10-batches-bin --attention stt",
    .data_help =
        "CIFAR-10 folder, a folder with one folder of PNG or JPEG files per class or with labels.csv, or NPZ "
        "(data.path)",
    .model_help =
        "model (model.name): cnn, hot, transformer, divided, pooling-attention, vit, resnet18, resnet50, "
        "ensemble, auto",
    .options = {{"--attention", "model.cnn.attention",
                 "attention type of cnn: none, or one of docs/synthesizers.md"},
                {"--allow-size", "data.allow_size", "decode images of any size", ShortOption::Takes::nothing},
                {"--labels", "data.labels",
                 "labels: CSV (file, label, split), if there is no labels.csv or folder per class"}},
    .validation = {{"/validation/accuracy", "validation accuracy %", "highest", 1, 100},
                   {"/validation/auc", "validation AUC %", "highest", 1, 100}},
    .create = create,
    .describe_data = describe_data,
    .comparison = comparison,
    .owns = owns,
    .evaluate = evaluate,
    .evaluate_options = {"Images",
                         {{"--robustness", "robustness",
                           "accuracy on noisy, flipped, rotated and corrupted images",
                           ShortOption::Takes::nothing},
                          {"--perturbations", "of",
                           "perturbations to evaluate, such as gaussian_noise,rotation (default all)"},
                          {"--limit", "limit", "number of images (default all)"},
                          {"--seed", "seed", "seed of the random numbers (default 0)"},
                          {"--report", "report", "write tables and curves to FILE.html"}},
                         true},
    .predict = {predict_classification},
    .explain = explain_classification,
    .search =
        Search{.candidates = candidates, .ensemble = classification_ensemble("classify.select=accuracy")},
};

}  // namespace modewise::tasks
