#include "modewise/tasks/segmentation/run.h"

#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <nlohmann/json.hpp>

#include "modewise/core/counted.h"
#include "modewise/core/error.h"
#include "modewise/core/file.h"
#include "modewise/metrics/json_number.h"
#include "modewise/models/segmentation/cost.h"
#include "modewise/tasks/run/own_samples.h"
#include "modewise/tasks/segmentation/task.h"

namespace modewise::tasks {

using Json = nlohmann::ordered_json;

namespace {

Json evaluation_json(const std::string& split, const metrics::ConfusionMatrix& matrix,
                     const data::ClassMap& classes) {
  Json result = {{"split", split},
                 {"pixels", matrix.total()},
                 {"accuracy", metrics::finite_or_null(matrix.accuracy())},
                 {"mean_iou", metrics::finite_or_null(matrix.mean_iou())},
                 {"micro_iou", metrics::finite_or_null(matrix.micro_iou())},
                 {"mean_recall", metrics::finite_or_null(matrix.mean_recall())},
                 {"kappa", metrics::finite_or_null(matrix.kappa())},
                 {"classes", Json::array()},
                 {"confusion", Json::array()}};
  for (int64_t c = 0; c < matrix.classes(); ++c) {
    const data::SceneClass& one = classes.classes()[static_cast<size_t>(c)];
    result["classes"].push_back({{"id", one.id},
                                 {"name", one.name},
                                 {"pixels", matrix.of_truth(c)},
                                 {"iou", metrics::finite_or_null(matrix.iou(c))},
                                 {"precision", metrics::finite_or_null(matrix.precision(c))},
                                 {"recall", metrics::finite_or_null(matrix.recall(c))},
                                 {"f1", metrics::finite_or_null(matrix.f1(c))}});
    Json row = Json::array();
    for (int64_t p = 0; p < matrix.classes(); ++p) row.push_back(matrix.count(c, p));
    result["confusion"].push_back(std::move(row));
  }
  return result;
}

}  // namespace

data::SceneSplit scene_split(const std::string& name) {
  if (name == "train") return data::SceneSplit::train;
  return name == "validation" ? data::SceneSplit::validation : data::SceneSplit::test;
}

void SegmentationRun::load(const DataRequest& request) {
  if (request.training) {
    require(!config.data.path.empty() && !config.data.masks.empty(), ErrorKind::usage,
            "no data: give --data IMAGE --masks MASK, or a folder of each");
    set.emplace(config.data, models::window_multiple(config.model), request.with_test);
    summary = set->summary();
    models::validate(config.model, model_shape(summary));
    require(!set->areas(data::SceneSplit::validation).empty(), ErrorKind::data,
            "{}: the validation split is empty (split: {}); {}", set->source(), set->split_rule(),
            config.data.validation == 0
                ? "increase data.validation"
                : "data.split = \"random\" takes data.validation of all tiles for it");
    return;
  }
  require(request.masks.empty() || !request.path.empty(), ErrorKind::usage,
          "--masks needs --data: the images of the masks");
  const bool own = request.masks.empty();  // other images come with masks
  if (!request.path.empty() && own) {
    config.data.path = absolute_path(request.path);
    require(data::has_hash(config.data, summary.hash), ErrorKind::usage,
            "--data {} has other images than the training data of the run ({}), and needs --masks: "
            "their true classes",
            request.path, summary.source);
  }
  data::SegmentationDataConfig source = config.data;
  if (!own) {
    source.path = request.path;
    source.masks = request.masks;
    source.layout = "auto";
    source.split = "auto";
  }
  whole_ = !own;
  const auto read = [&](bool with_test) { set.emplace(source, summary, whole_, with_test); };
  if (!request.unchanged)
    read(request.with_test);
  else if (!load_and_compare(*this, request.with_test, read))
    refuse_changed(*this, set->source());
  if (whole_ && set->hash() == summary.hash) {  // the run's own images at another place
    whole_ = false;
    source = config.data;
    source.path = request.path;
    source.masks = request.masks;
    read(request.with_test);
  } else if (whole_) {
    announce_others(*this, set->source(), counted(set->files().size(), "image"));
  }
  if (!whole_ && request.split == "all") {
    whole_ = true;
    read(request.with_test);
  }
  for (const std::string& warning : set->warnings()) spdlog::warn("{}", warning);
  for (const std::string& note : set->notes()) spdlog::info("{}", note);
}

Json SegmentationRun::describe() const {
  return to_json(summary);
}

void SegmentationRun::restore(const Json& /*json*/, const std::string& file) {
  summary = data::read_scene_summary(file);
}

void SegmentationRun::announce() {
  for (const std::string& warning : set->warnings()) spdlog::warn("{}", warning);
  for (const std::string& note : set->notes()) spdlog::info("{}", note);
  std::vector<std::string> names;
  for (const data::SceneClass& one : set->classes().classes()) names.push_back(one.name);
  spdlog::info(
      "{}: {} image{}, {} date{} of {} bands, {} classes ({}); split: {}; {} training windows of {} pixels "
      "per epoch, {} validation areas, {}; model {}",
      set->source(), set->files().size(), set->files().size() == 1 ? "" : "s", set->times(),
      set->times() == 1 ? "" : "s", set->bands(), names.size(), fmt::join(names, ", "), set->split_rule(),
      set->training_tiles().size(), set->window(), set->areas(data::SceneSplit::validation).size(),
      test_count(config.train.test, set->areas(data::SceneSplit::test).size()), model_title(config));
}

void SegmentationRun::make_model(Purpose /*purpose*/) {
  model =
      models::make_segmenter(config.model, model_shape(summary), static_cast<uint64_t>(config.train.seed));
}

nn::ModelCost SegmentationRun::cost() const {
  return models::segmenter_cost(config.model, model_shape(summary));
}

std::unique_ptr<train::ModuleTask> SegmentationRun::task() {
  return std::make_unique<SegmentationTask>(config, *set, model);
}

const std::vector<data::SceneArea>& SegmentationRun::areas(const std::string& split) const {
  return set->areas(whole_ ? data::SceneSplit::test : scene_split(split));
}

Json SegmentationRun::evaluate(const std::string& split, bool /*keep*/, train::Workers& workers) {
  const std::vector<data::SceneArea>& areas = this->areas(split);
  require(!areas.empty(), ErrorKind::data, "{}: the {} split is empty", set->source(), split);
  const SegmentationErrors errors = evaluate_areas(*model, *set, areas, config.segment, workers);
  if (!workers.is_rank_zero()) return {};
  Json evaluation = evaluation_json(whole_ ? "all" : split, errors.confusion, set->classes());
  evaluation["loss"] = errors.mean_loss();
  return evaluation;
}

void SegmentationRun::finish(Json& metrics) {
  metrics["test_read"] = config.train.test;
  const auto evaluated = [&](const char* part) { return evaluate(part, true, train::single_process()); };
  if (!set->areas(scene_split("validation")).empty()) metrics["validation"] = evaluated("validation");
  if (!set->areas(scene_split("test")).empty())
    metrics["test"] = timed_test([&] { return evaluated("test"); });
}

}  // namespace modewise::tasks
