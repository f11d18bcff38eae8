#include "modewise/tasks/volumes/run.h"

#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <cmath>

#include "modewise/core/error.h"
#include "modewise/core/file.h"
#include "modewise/core/parse_json.h"
#include "modewise/io/arrays/npz.h"
#include "modewise/tasks/labelled/labelled_run.h"
#include "modewise/tasks/load_config.h"
#include "modewise/tasks/test_part.h"
#include "modewise/tasks/volumes/score_file.h"
#include "modewise/tasks/volumes/scores.h"
#include "modewise/tasks/volumes/task.h"

namespace modewise::tasks {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

void write_score_file(const train::RunFolder& run, const ClassifyConfig& config, const data::VolumeSet& set,
                      const ScoreTable& table, const ClassMetrics& metrics) {
  const std::string flag = set.flag.empty() ? fs::path(set.source).stem().string() : set.flag;
  // An earlier evaluation of this run may have left a file with other figures in its name.
  for (const auto& entry : fs::directory_iterator(run.path())) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(flag) && name.find("_test_[AUC]") != std::string::npos) fs::remove(entry.path());
  }
  const int64_t size = set.flag.empty() ? 28 : set.size().front();
  write_file_atomically(run.file(score_file_name(flag, size, "test", metrics.auc, metrics.accuracy,
                                                 std::to_string(config.train.seed))),
                        format_scores(table));
}

/// Writes the test scores where that is wanted.
AfterTest score_file_of(const ClassifyConfig& config, const data::VolumeSet& set,
                        const train::RunFolder& run) {
  return [&](const ScoreTable& table, const ClassMetrics& metrics) {
    if (config.output.scores) write_score_file(run, config, set, table, metrics);
  };
}

Scorer scorer_of(models::VolumeClassifier& model, const ClassifyConfig& config, const data::VolumeSet& set) {
  return [&](std::span<const int64_t> samples) { return score_volumes(model, config, set, samples); };
}

}  // namespace

ClassifyData load_classify_data(const ClassifyConfig& config) {
  ClassifyData data{data::load_volumes(config.data, config.train.test), ""};
  require_parts(data.set, config.train.test);
  const std::vector<int64_t> counts = data.set.class_counts(data.set.train);
  for (size_t k = 0; k < counts.size(); ++k)
    if (counts[k] == 0)
      data.set.notes.push_back(fmt::format("class '{}' has no training volume", data.set.classes[k]));
  const std::vector<int64_t> seen = data.set.class_counts(data.set.validation);
  for (size_t k = 0; k < seen.size(); ++k)
    if (seen[k] == 0)
      data.set.notes.push_back(
          fmt::format("class '{}' has no validation volume: val_auc leaves it out", data.set.classes[k]));
  const int64_t present = std::ssize(seen) - std::count(seen.begin(), seen.end(), int64_t{0});
  require(present >= 2, ErrorKind::data,
          "{}: the validation volumes are all of one class, so that no AUC can choose the best weights",
          data.set.source);
  data.hash = data::hash_of(data.set);
  return data;
}

Json to_json(const ClassifyData& data) {
  const data::VolumeSet& set = data.set;
  return {{"source", set.source},    {"hash", data.hash},         {"flag", set.flag},
          {"classes", set.classes},  {"size", set.size()},        {"channels", set.channels()},
          {"missing", set.masked()}, {"samples", part_sizes(set)}};
}

TrainedRun train_classifier(const ClassifyConfig& config, const ClassifyData& data, train::RunFolder& run,
                            bool resume, bool accept_changes) {
  ClassifyTask task(config, data.set, data.hash);
  TrainedRun result =
      train_and_judge(task, config.train, data.set, run, resume, accept_changes,
                      scorer_of(task.model(), config, data.set), score_file_of(config, data.set, run));
  if (!result.training.stopped_by_signal()) run.write_metrics(result.metrics);
  return result;
}

Json judge_left_out_test(const ClassifyRun& run, const data::VolumeSet& set) {
  return judge_left_out_test(run.folder, set, data::hash_of(set), scorer_of(*run.model, run.config, set),
                             score_file_of(run.config, set, run.folder));
}

ClassifyRun open_classify_run(const fs::path& path) {
  train::RunFolder folder = train::RunFolder::open(path);
  folder.require_task("classify");
  ClassifyConfig config = read_run_config<ClassifyConfig>(folder);
  const std::string file = folder.file("data.json").string();
  ClassifyRun run{std::move(folder), std::move(config), {}, {}, {}, {}, nullptr};
  models::VolumeShape shape;
  try {
    const Json json = parse_json(read_file(file), file);
    run.classes = json.at("classes").get<std::vector<std::string>>();
    run.flag = json.at("flag").get<std::string>();
    run.source = json.at("source").get<std::string>();
    run.data_hash = json.at("hash").get<std::string>();
    shape = {json.at("size").get<std::vector<int64_t>>(), json.at("channels").get<int64_t>(),
             std::ssize(run.classes), json.at("missing").get<bool>()};
  } catch (const nlohmann::json::exception& error) {
    fail(ErrorKind::data, "{}: {}", file, error.what());
  }
  run.model =
      models::make_volume_classifier(run.config.model, shape, static_cast<uint64_t>(run.config.train.seed));
  train::load_weights(*run.model, run.folder);
  run.model->eval();
  return run;
}

data::VolumeSet load_run_volumes(const ClassifyRun& run, const std::string& path, bool with_test) {
  data::VolumeConfig config = run.config.data;
  if (!path.empty()) {
    config.path = path;
    config.format = "auto";
    config.labels.clear();
  }
  config.classes = run.classes;
  data::VolumeSet set = data::load_volumes(config, with_test);
  const models::VolumeShape& shape = run.model->shape();
  require(set.modes() == std::ssize(shape.size) && set.channels() == shape.channels, ErrorKind::data,
          "{}: volumes of {} axes and {} channels, but the run was trained on {} axes and {} channels ({})",
          set.source, set.modes(), set.channels(), shape.size.size(), shape.channels, run.source);
  const std::vector<int64_t> size = set.size();
  for (size_t i = 0; i < size.size(); ++i)
    require(size[i] <= shape.size[i], ErrorKind::data,
            "{}: volumes of up to {} voxels, but the run was trained on {} ({}); data.size resamples them",
            set.source, fmt::join(size, " × "), fmt::join(shape.size, " × "), run.source);
  require(
      shape.missing || (size == shape.size && !set.masked()), ErrorKind::data,
      "{}: volumes with missing voxels or of other sizes than {}, but the run was trained on complete ones "
      "({}), so its model takes no masks",
      set.source, fmt::join(shape.size, " × "), run.source);
  return set;
}

ScoreTable score_split(const ClassifyRun& run, const data::VolumeSet& set, const std::string& split,
                       bool labelled) {
  return score_split(set, split, scorer_of(*run.model, run.config, set), labelled);
}

}  // namespace modewise::tasks
