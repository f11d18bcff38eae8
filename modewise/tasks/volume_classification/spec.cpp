#include "modewise/tasks/volume_classification/spec.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "modewise/core/data_files.h"
#include "modewise/core/error.h"
#include "modewise/data/array_tensor.h"
#include "modewise/io/arrays/npz.h"
#include "modewise/tasks/classification/class_tables.h"
#include "modewise/tasks/classification/classification_spec.h"
#include "modewise/tasks/run/commands.h"
#include "modewise/tasks/run/load_config.h"
#include "modewise/tasks/volume_classification/run.h"
#include "modewise/tasks/volume_classification/score_file.h"

namespace modewise::tasks {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

std::unique_ptr<Run> create(const Settings& settings) {
  return std::make_unique<VolumeClassificationRun>(load_config<VolumeClassificationConfig>(settings));
}

/// Evaluates a score file against the labels of its data set.
Result evaluate_file(const EvaluateRequest& options) {
  const ScoreFileName name = parse_score_file_name(options.run);
  require(!options.data.empty(), ErrorKind::usage, "a score file needs --data FILE with the labels");
  metrics::ScoreTable table = read_scores(options.run);
  data::VolumeConfig config;
  config.path = options.data;
  const data::VolumeSet set = data::load_volumes(config);
  require(name.flag.empty() || set.flag.empty() || name.flag == set.flag, ErrorKind::data,
          "{}: scores of {}, but {} is {}", options.run, name.flag, options.data, set.flag);
  const std::string of_name = name.split == "val" ? "validation" : name.split;
  require(of_name.empty() || options.split == "test" || options.split == of_name, ErrorKind::usage,
          "--split {}: the name of {} says that its scores are of the {} split", options.split, options.run,
          of_name);
  const std::string split = of_name.empty() ? options.split : of_name;
  const std::vector<int64_t> samples = set.split(split);
  require(table.classes == std::ssize(set.classes) &&
              std::ssize(table.scores) == std::ssize(samples) * table.classes,
          ErrorKind::data, "{}: {} samples and {} classes, but the {} split of {} has {} and {}", options.run,
          std::ssize(table.scores) / table.classes, table.classes, split, options.data, samples.size(),
          set.classes.size());
  for (const int64_t i : samples) table.labels.push_back(set.labels[static_cast<size_t>(i)]);
  const Json result = to_json(metrics::class_metrics(table), split, set.classes);
  return {result, evaluation_text(result, set.many, options.detail)};
}

Result evaluate(const EvaluateRequest& options) {
  return fs::is_regular_file(options.run) ? evaluate_file(options)
                                          : evaluate_split(volume_classification_spec, options);
}

Result describe_data(const Settings& settings) {
  const data::VolumeSet set = data::load_volumes(load_config<VolumeClassificationConfig>(settings).data);
  Json head = {{"source", set.source},  {"flag", set.flag},           {"volumes", set.count()},
               {"size", set.size()},    {"channels", set.channels()}, {"missing", set.masked()},
               {"classes", set.classes}};
  return describe_set(
      set, std::move(head),
      fmt::format("{}: {} volumes of {} voxels, {} channel{}{}", set.source, set.count(),
                  fmt::join(set.size(), " × "), set.channels(), set.channels() == 1 ? "" : "s",
                  set.masked() ? ", some smaller or with missing voxels" : ""));
}

/// Whether an NPZ has MedMNIST's arrays, or images with labels, and they are not images of two axes.
bool holds_volumes(const fs::path& file) {
  if (!fs::is_regular_file(file) || data::holds_image_arrays(file.string())) return false;
  const std::vector<std::string> names = io::npz_names(file.string());
  const auto has = [&](const char* name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  return has("train_images") || (has("images") && has("labels"));
}

bool owns(const fs::path& data) {
  const std::string name = data.string();
  return !ending_of(name, {".nii", ".nii.gz"}).empty() ||
         (!ending_of(name, {".npz"}).empty() && holds_volumes(data));
}

/// Whether the file is a score file.
bool opens(const fs::path& path) {
  return path.extension() == ".csv" && fs::is_regular_file(path);
}

constexpr int64_t kEnoughToChoose = 200;  // validation volumes above which one split is enough
constexpr int64_t kFurtherSplits = 4;

std::vector<std::string> splits(const Settings& settings) {
  const data::VolumeConfig config = load_config<VolumeClassificationConfig>(settings).data;
  if (std::ssize(data::load_volumes(config, false).validation) >= kEnoughToChoose) return {};
  std::vector<std::string> all;
  for (int64_t i = 1; i <= kFurtherSplits; ++i)
    all.push_back(fmt::format("data.validation_seed={}", config.validation_seed + i));
  return all;
}

/// HOT, HOT with flips, HOT with the Kronecker sum, and convolutional networks.
std::vector<Candidate> candidates(const Settings& /*settings*/) {
  return {{"hot", {"model.name=hot"}},
          {"hot-mirrored", {"model.name=hot", "augment.flip_axes=0,1,2"}},
          {"hot-sum", {"model.name=hot", "model.attention.combine=sum"}},
          {"resnet-narrow", {"model.name=resnet18", "model.resnet.width=16"}},
          {"vit", {"model.name=vit"}},
          {"transformer", {"model.name=transformer"}}};
}

const Comparison& comparison() {
  static const Comparison made = classification_comparison("volumes", "volumes");
  return made;
}

}  // namespace

const TaskSpec volume_classification_spec = {
    .name = "volume_classification",
    .command = "classify-volumes",
    .subject = "a classifier",
    .summary = "Trains a volume classifier and evaluates it on the test volumes.",
    .example = "modewise train classify-volumes --data adrenalmnist3d.npz",
    .data_help = "volumes: MedMNIST NPZ, NPZ or NPY with labels, folder of NIfTI (data.path)",
    .model_help =
        "model (model.name): hot, transformer, divided, pooling-attention, vit, resnet18, "
        "resnet50, ensemble, auto",
    .options = {{"--allow-size", "data.allow_size", "read compressed NIfTI volumes of any size",
                 ShortOption::Takes::nothing},
                {"--labels", "data.labels",
                 "labels: CSV (file, label, split) or NPY, if there is no labels.csv, NAME_labels.npy or "
                 "class folders"}},
    .validation = {{"/validation/auc", "validation AUC %", "highest", 1, 100},
                   {"/validation/accuracy", "validation accuracy %", "highest", 1, 100}},
    .create = create,
    .describe_data = describe_data,
    .comparison = comparison,
    .owns = owns,
    .opens = opens,
    .evaluate = evaluate,
    .predict = {predict_classification},
    .explain = explain_classification,
    .search = Search{.candidates = candidates,
                     .ensemble = classification_ensemble("classify.select=auc"),
                     .splits = splits,
                     .min_share = 0.5},
};

}  // namespace modewise::tasks
