#include "modewise/tasks/labelled_series/run.h"

#include <fmt/ranges.h>

#include "modewise/core/error.h"
#include "modewise/core/file.h"
#include "modewise/core/parse_json.h"
#include "modewise/io/arrays/npz.h"
#include "modewise/tasks/labelled/labelled_run.h"
#include "modewise/tasks/labelled_series/task.h"
#include "modewise/tasks/load_config.h"
#include "modewise/tasks/test_part.h"

namespace modewise::tasks {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

Scorer scorer_of(models::SeriesClassifier& model, const LabelledSeriesConfig& config,
                 const data::SeriesCollection& set) {
  return [&](std::span<const int64_t> samples) { return score_cases(model, config, set, samples); };
}

}  // namespace

SeriesData load_series_data(const LabelledSeriesConfig& config) {
  SeriesData data{data::load_collection(config.data, config.train.test), ""};
  require_parts(data.set, config.train.test);
  const std::vector<int64_t> counts = data.set.class_counts(data.set.validation);
  for (size_t k = 0; k < counts.size(); ++k)
    if (counts[k] == 0)
      data.set.notes.push_back(fmt::format("class '{}' has no validation case", data.set.classes[k]));
  data.hash = data::hash_of(data.set);
  return data;
}

Json to_json(const SeriesData& data) {
  const data::SeriesCollection& set = data.set;
  return {{"source", set.source},      {"name", set.name},           {"hash", data.hash},
          {"classes", set.classes},    {"variables", set.variables}, {"length", set.length},
          {"padded", set.padded()},    {"mean", set.scale.mean},     {"deviation", set.scale.deviation},
          {"samples", part_sizes(set)}};
}

TrainedRun train_series_classifier(const LabelledSeriesConfig& config, const SeriesData& data,
                                   train::RunFolder& run, bool resume, bool accept_changes) {
  SeriesTask task(config, data.set, data.hash);
  TrainedRun result = train_and_judge(task, config.train, data.set, run, resume, accept_changes,
                                      scorer_of(task.model(), config, data.set));
  if (result.training.stopped_by_signal()) return result;
  result.metrics["protocol"] = config.data.protocol;
  run.write_metrics(result.metrics);
  return result;
}

Json judge_left_out_test(const SeriesRun& run, const data::SeriesCollection& set) {
  return judge_left_out_test(run.folder, set, data::hash_of(set), scorer_of(*run.model, run.config, set));
}

SeriesRun open_series_run(const fs::path& path) {
  train::RunFolder folder = train::RunFolder::open(path);
  folder.require_task("series");
  LabelledSeriesConfig config = read_run_config<LabelledSeriesConfig>(folder);
  const std::string file = folder.file("data.json").string();
  SeriesRun run{std::move(folder), std::move(config), {}, {}, nullptr};
  models::SeriesShape shape;
  try {
    const Json json = parse_json(read_file(file), file);
    data::TrainedSeries& trained = run.trained;
    run.source = json.at("source").get<std::string>();
    trained.classes = json.at("classes").get<std::vector<std::string>>();
    trained.variables = json.at("variables").get<int64_t>();
    trained.length = json.at("length").get<int64_t>();
    trained.padded = json.at("padded").get<bool>();
    trained.scale = {json.at("mean").get<std::vector<double>>(),
                     json.at("deviation").get<std::vector<double>>()};
    shape = {trained.variables, trained.length, std::ssize(trained.classes), trained.padded,
             json.at("samples").at("train").get<int64_t>()};
  } catch (const nlohmann::json::exception& error) {
    fail(ErrorKind::data, "{}: {}", file, error.what());
  }
  const data::VariableScale& scale = run.trained.scale;
  require(scale.mean.size() == scale.deviation.size() &&
              (scale.mean.empty() || std::ssize(scale.mean) == shape.variables) && shape.training_cases >= 0,
          ErrorKind::data, "{}: means and deviations do not fit {} variables", file, shape.variables);
  run.model =
      models::make_series_classifier(run.config.model, shape, static_cast<uint64_t>(run.config.train.seed));
  train::load_weights(*run.model, run.folder);
  run.model->eval();
  return run;
}

data::SeriesCollection load_run_cases(const SeriesRun& run, const std::string& path, bool with_test) {
  if (fs::is_regular_file(path)) return data::load_cases(path, run.config.data.normalize, run.trained);
  data::CollectionConfig config = run.config.data;
  if (!path.empty()) {
    config.path = path;
    config.train = config.test = "";
  }
  // The training did not see how long the test cases are.
  if (!run.config.train.test && config.length == 0) config.length = run.trained.length;
  data::SeriesCollection set = data::load_collection(config, with_test);
  require(set.classes == run.trained.classes && set.variables == run.trained.variables &&
              set.length == run.trained.length && set.padded() == run.trained.padded,
          ErrorKind::data,
          "{}: {} classes, {} variables and {} steps{}, but the run was trained on {}, {} and {}{} ({})",
          set.source, set.classes.size(), set.variables, set.length, set.padded() ? " at most" : "",
          run.trained.classes.size(), run.trained.variables, run.trained.length,
          run.trained.padded ? " at most" : "", run.source);
  return set;
}

ScoreTable score_split(const SeriesRun& run, const data::SeriesCollection& set, const std::string& split,
                       bool labelled) {
  return score_split(set, split, scorer_of(*run.model, run.config, set), labelled);
}

}  // namespace modewise::tasks
