#include "modewise/tasks/series_classification/spec.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "modewise/core/data_files.h"
#include "modewise/tasks/classification/class_tables.h"
#include "modewise/tasks/classification/classification_spec.h"
#include "modewise/tasks/run/load_config.h"
#include "modewise/tasks/series_classification/attention.h"
#include "modewise/tasks/series_classification/run.h"

namespace modewise::tasks {
namespace {

using Json = nlohmann::ordered_json;

std::unique_ptr<Run> create(const Settings& settings) {
  return std::make_unique<SeriesClassificationRun>(load_config<SeriesClassificationConfig>(settings));
}

Result describe_data(const Settings& settings) {
  const SeriesClassificationConfig config = load_config<SeriesClassificationConfig>(settings);
  const data::SeriesCollection set = data::load_collection(config.data);
  const int64_t minimum = set.samples.shortest();
  Json head = {{"source", set.source},   {"name", set.name},
               {"cases", set.count()},   {"variables", set.variables},
               {"longest", set.length},  {"shortest", minimum},
               {"classes", set.classes}, {"protocol", config.data.protocol}};
  return describe_set(set, std::move(head),
                      fmt::format("{}: {} samples of {} variable{}, {}{} steps; protocol {}", set.source,
                                  set.count(), set.variables, set.variables == 1 ? "" : "s",
                                  minimum == set.length ? "" : fmt::format("{} to ", minimum), set.length,
                                  config.data.protocol));
}

bool owns(const std::filesystem::path& data) {
  const std::string stem = data.stem().string(), ending = lower_extension(data);
  const bool part = stem.ends_with("_TRAIN") || stem.ends_with("_TEST");
  return ending == ".ts" || ending == ".arff" || data == "motifs" ||
         (part && (ending == ".tsv" || ending == ".csv" || ending == ".txt"));
}

/// data.length of the longest sample, if lengths differ and the test split will be evaluated: candidates
/// train without it, but the chosen model must fit it. "": nothing to set.
std::string length_for_test(const Settings& settings) {
  const auto config = load_config<SeriesClassificationConfig>(settings);
  if (config.data.length > 0 || !config.train.test || config.data.is_simulated()) return "";
  const data::SeriesCollection set = data::load_collection(config.data);
  return set.padded() ? fmt::format("data.length={}", set.length) : "";
}

constexpr int64_t kEnoughToChoose = 200;  // validation samples above which one split is enough
constexpr int64_t kFurtherSplits = 4;

std::vector<std::string> splits(const Settings& settings) {
  const data::CollectionConfig config = load_config<SeriesClassificationConfig>(settings).data;
  // Other protocols also resample the test split, and a simulation uses the seed for its series.
  if (config.protocol != "official" || config.is_simulated()) return {};
  if (std::ssize(data::load_collection(config, false).validation) >= kEnoughToChoose) return {};
  std::vector<std::string> all;
  for (int64_t i = 1; i <= kFurtherSplits; ++i)
    all.push_back(fmt::format("data.split_seed={}", config.split_seed + i));
  return all;
}

/// Candidates, with the transformer settings that experiments/series_classification found for small sets:
/// noise, shifts, mixup, and two patch lengths.
std::vector<Candidate> candidates(const Settings& settings) {
  const std::vector<std::string> augmented = {"augment.noise=0.1", "augment.scale=0.1", "classify.mixup=0.3",
                                              "model.dropout=0.2", "model.head.dropout=0.3"};
  const auto patchtst = [&](const std::vector<std::string>& further) {
    std::vector<std::string> all = {"model.name=patchtst", "model.attention.type=axial"};
    all.insert(all.end(), augmented.begin(), augmented.end());
    all.insert(all.end(), further.begin(), further.end());
    return all;
  };
  std::vector<Candidate> all = {
      {"minirocket", {"model.name=minirocket"}, true},
      {"nearest", {"model.name=nearest"}, true},
      {"shapelet-forest", {"model.name=shapelet-forest"}, true},
      {"resnet", {"model.name=resnet"}},
      {"patchtst-short", patchtst({"model.patch.length=3", "model.patch.stride=1"})},
      {"patchtst", patchtst({})},
      {"resnet-varied",
       {"model.name=resnet", "augment.noise=0.1", "augment.scale=0.1", "classify.mixup=0.3"}},
      {"tcn", {"model.name=tcn"}},
      {"dlinear", {"model.name=dlinear"}}};
  if (const std::string length = length_for_test(settings); !length.empty())
    for (Candidate& one : all) one.settings.push_back(length);
  return all;
}

const Comparison& comparison() {
  static const Comparison made = classification_comparison("series", "samples");
  return made;
}

}  // namespace

const TaskSpec series_classification_spec = {
    .name = "series_classification",
    .command = "classify-series",
    .subject = "a classifier",
    .summary = "Trains a series classifier and evaluates it on the test samples.",
    .example = "modewise train classify-series --train BasicMotions_TRAIN.ts --test BasicMotions_TEST.ts",
    .data_help =
        "folder with X_TRAIN.ts and X_TEST.ts (or .tsv, .csv, .txt, .arff), one of the two, a file "
        "of all samples, or motifs (data.path)",
    .model_help =
        "model (model.name): patchtst, nearest, dlinear, tcn, resnet, shapelet-forest, minirocket, "
        "ensemble, auto",
    .options = {{"--train", "data.train", "training file, .ts, .tsv, .csv, .txt or .arff"},
                {"--test", "data.test", "test file"},
                {"--protocol", "data.protocol",
                 "split protocol: official, paper or tslib (default official)"},
                {"--attention", "model.attention.type",
                 "attention type: full, axial, pooled, summary, window, random, topk, linformer, …"},
                {"--fold", "model.attention.fold", "sizes of the fold, such as 0,32"}},
    .validation = {{"/validation/accuracy", "validation accuracy %", "highest", 1, 100},
                   {"/validation/loss", "validation loss", "lowest", 3}},
    .create = create,
    .describe_data = describe_data,
    .comparison = comparison,
    .owns = owns,
    .predict = {predict_classification},
    .explain = explain_classification,
    .attention = series_attention,
    .search = Search{.candidates = candidates,
                     .ensemble = classification_ensemble("classify.select=accuracy"),
                     .splits = splits},
};

}  // namespace modewise::tasks
