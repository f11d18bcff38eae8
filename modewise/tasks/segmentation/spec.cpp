#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "modewise/analysis/image_cost.h"
#include "modewise/core/error.h"
#include "modewise/core/file.h"
#include "modewise/core/output_file.h"
#include "modewise/tasks/load_config.h"
#include "modewise/tasks/same_work.h"
#include "modewise/tasks/segmentation/figures.h"
#include "modewise/tasks/segmentation/report.h"
#include "modewise/tasks/segmentation/run.h"
#include "modewise/tasks/segmentation/spec.h"
#include "modewise/tasks/test_split.h"
#include "modewise/tasks/training.h"

namespace modewise::tasks {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
using report::Cell;

class SegmentJob final : public ConfiguredTraining<SegmentationConfig> {
 public:
  void load_config(const std::string& file, const std::vector<std::string>& assignments) override {
    config_ = tasks::load_config<SegmentationConfig>(file, assignments);
    require(!config_.data.path.empty() && !config_.data.masks.empty(), ErrorKind::usage,
            "no data: give --data IMAGE --masks MASK, or a folder of each");
  }

  void load_data() override {
    data_.emplace(config_.data, models::window_multiple(config_.model), config_.train.test);
    models::validate(config_.model, model_shape(data_->summary()));
  }

  Json describe_data() const override { return to_json(data_->summary()); }

  void announce() const override {
    for (const std::string& note : data_->notes()) spdlog::info("{}", note);
    std::vector<std::string> names;
    for (const data::SceneClass& one : data_->classes().classes()) names.push_back(one.name);
    spdlog::info(
        "{}: {} image{}, {} date{} of {} bands, {} classes ({}); split: {}; {} training windows of {} pixels "
        "per epoch, {} validation areas, {}; model {}",
        data_->source(), data_->files().size(), data_->files().size() == 1 ? "" : "s", data_->times(),
        data_->times() == 1 ? "" : "s", data_->bands(), names.size(), fmt::join(names, ", "),
        data_->split_rule(), data_->training_tiles().size(), data_->window(),
        data_->areas(data::SceneSplit::validation).size(),
        test_count(reads_test(), data_->areas(data::SceneSplit::test).size()), model_title(config_));
  }

  analysis::ModelCost cost() const override {
    return analysis::segmenter_cost(config_.model, model_shape(data_->summary()));
  }

  TrainedRun train(train::RunFolder& folder, bool resume, bool accept_changes) override {
    return train_segment(config_, *data_, folder, resume, accept_changes);
  }

  void write_report(const train::RunFolder& folder) override {
    write_segment_report(open_segment_run(folder.path()), *data_, folder.file("report.html"));
  }

  std::string summary(const Json& metrics) const override {
    return tables_text(segment_tables(evaluated_parts(metrics)));
  }

 private:
  std::optional<data::SegmentationSet> data_;
};

Result evaluate(const EvaluateRequest& options) {
  const SegmentationRun run = open_segment_run(options.run);
  const data::SegmentationSet set = load_run_scenes(run, options.data, options.masks, options.split == "all");
  for (const std::string& note : set.notes()) spdlog::info("{}", note);
  const bool own = options.data.empty();
  const data::SceneSplit split = own ? scene_split(options.split) : data::SceneSplit::test;
  require(!set.areas(split).empty(), ErrorKind::data, "{}: the {} split is empty", set.source(),
          options.split);
  require_same_work(run.folder, options.split, set.hash());
  const bool unread = own && options.split == "test" && test_is_unread(run.folder);
  const Json result = unread ? evaluate_left_out_test(run, set)
                             : evaluate_areas(*run.model, run.config, set, own ? options.split : "all", split,
                                              train::workers());
  if (!train::workers().is_rank_zero()) return {};
  return {result, tables_text(segment_tables(Json::array({result})), options.detail)};
}

/// Images to predict: `data`, those of the folder `data`, or the run's own.
std::vector<std::string> scenes_of(const SegmentationRun& run, const std::string& data) {
  data::SegmentationDataConfig config = run.config.data;
  if (!data.empty()) {
    config.path = data;
    config.layout = "auto";
  }
  std::vector<std::string> scenes;
  for (const data::SceneFile& file : data::find_scene_files(config, false).files)
    scenes.push_back(file.image);
  return scenes;
}

/// Path of the map of `scene`: `out` itself for a single image, a file in the folder `out` for several.
fs::path map_path(const PredictRequest& options, const std::string& root, const std::string& scene,
                  bool single) {
  if (single && !options.out.empty()) return options.out;
  const fs::path folder = options.out.empty() ? fs::path(options.run) / "maps" : fs::path(options.out);
  fs::path name = single ? fs::path(scene).filename() : fs::path(scene).lexically_relative(root);
  return folder / name.replace_extension(".tif");
}

/// Names and sizes of files, equal for processes that read the same files.
std::string sizes_text(const std::vector<std::string>& files) {
  std::string text;
  for (const std::string& file : files) {
    std::error_code none;  // a missing file is reported when it is opened
    text += fmt::format("{} {}\n", file, fs::file_size(file, none));
  }
  return text;
}

Result predict(const PredictRequest& options) {
  refuse_steps(options, "a segmenter");
  const SegmentationRun run = open_segment_run(options.run);
  const std::string root = options.data.empty() ? run.config.data.path : options.data;
  const std::vector<std::string> scenes = scenes_of(run, options.data);
  const bool single = !fs::is_directory(root);
  const std::string ending = fs::path(options.out).extension();
  require(!single || options.out.empty() || ending == ".tif" || ending == ".tiff" || ending == ".npy",
          ErrorKind::usage, "--out of a class map must end in .tif or .npy, got '{}'", options.out);
  for (const std::string& scene : scenes) {
    const fs::path map = map_path(options, root, scene, single);
    for (const fs::path& file : {map, fs::path(map).replace_extension(".png")})
      require_new(file, options.force);
  }
  require_same_work(run.folder, options.out, sizes_text(scenes));
  Json results = Json::array();
  std::string text;
  for (const std::string& scene : scenes) {
    if (!train::workers().is_rank_zero()) {
      help_predict_scene(run, scene);
      continue;
    }
    const fs::path map = map_path(options, root, scene, single);
    std::error_code error;
    if (map.has_parent_path()) fs::create_directories(map.parent_path(), error);
    require(!error, ErrorKind::cannot_create, "cannot create the folder {}: {}", map.parent_path().string(),
            error.message());
    results.push_back(predict_scene(run, scene, map));
    text += map_text(results.back());
  }
  if (!train::workers().is_rank_zero()) return {};
  return {single ? results.front() : Json{{"maps", results}}, text};
}

void write_report(const std::string& path, const std::string& data, const fs::path& out) {
  SegmentationRun run = open_segment_run(path);
  if (!data.empty()) run.config.data.path = absolute_path(data);
  write_segment_report(run, load_run_scenes(run, "", "", false, !test_is_unread(run.folder)), out);
}

Explanation explain(const ExplainRequest& options) {
  SegmentationRun run = open_segment_run(options.run);
  if (!options.masks.empty())
    return explain_segmenter(run, load_run_scenes(run, options.data, options.masks, false), options.options);
  if (!options.data.empty()) run.config.data.path = absolute_path(options.data);
  return explain_segmenter(run, load_run_scenes(run, "", "", false), options.options);
}

/// Describes an image without a mask.
Result describe_image(const SegmentationConfig& config) {
  const std::string path = data::find_scene_files(config.data, false).files.front().image;
  const data::RasterInfo info = data::open_raster(path, config.data.axes)->info();
  Json json = {{"source", path},      {"dates", info.times}, {"height", info.height},
               {"width", info.width}, {"bands", info.bands}, {"dtype", info.dtype}};
  if (info.nodata) json["nodata"] = *info.nodata;
  if (info.geo) {
    json["crs"] = info.geo->crs_text();
    json["transform"] = info.geo->transform();
  }
  std::string text;
  for (const auto& [name, value] : json.items()) text += fmt::format("{}: {}\n", name, value.dump());
  return {json, text + "\nadd --masks (or --set data.masks=…) to show classes and splits\n"};
}

Result describe_data(const std::string& file, const std::vector<std::string>& assignments) {
  const SegmentationConfig config = load_config<SegmentationConfig>(file, assignments);
  require(!config.data.path.empty(), ErrorKind::usage, "no data: give an image, or a folder of images");
  if (config.data.masks.empty()) return describe_image(config);
  const data::SegmentationSet set(config.data, models::window_multiple(config.model));
  const std::vector<std::string> splits = {"train", "validation", "test"};
  Json json = {{"source", set.source()},
               {"images", set.files().size()},
               {"dates", set.times()},
               {"bands", set.bands()},
               {"window", set.window()},
               {"missing", set.missing()},
               {"mean", set.rule().scale.mean},
               {"std", set.rule().scale.stddev},
               {"deviation", set.rule().scale.stddev},  // old name of std
               {"split", set.split_rule()},
               {"notes", set.notes()},
               {"classes", to_json(set.classes())["classes"]},
               {"splits", Json::object()}};
  for (const std::string& name : splits)
    json["splits"][name] = {{"areas", set.areas(scene_split(name)).size()},
                            {"pixels", set.class_pixels(scene_split(name))}};
  json["splits"]["train"]["windows"] = set.training_tiles().size();
  std::string text =
      fmt::format("{}: {} image{}, {} date{} of {} bands{}\nsplit: {}\n", set.source(), set.files().size(),
                  set.files().size() == 1 ? "" : "s", set.times(), set.times() == 1 ? "" : "s", set.bands(),
                  set.missing() ? ", some pixels without data" : "", set.split_rule());
  for (const std::string& note : set.notes()) text += "note: " + note + "\n";
  report::Table table({{"id"}, {"class"}, {"train"}, {"validation"}, {"test"}});
  for (size_t c = 0; c < set.classes().classes().size(); ++c) {
    const data::SceneClass& one = set.classes().classes()[c];
    std::vector<Cell> cells = {one.id, one.name};
    for (const std::string& name : splits)
      cells.push_back(Cell::count(set.class_pixels(scene_split(name))[c]));
    table.add_row(std::move(cells));
  }
  return {std::move(json), text + "\nlabelled pixels:\n" + table.to_text()};
}

bool owns(const fs::path& data) {
  const std::string ending = data.extension().string();
  return ending == ".tif" || ending == ".tiff" || ending == ".TIF" || ending == ".TIFF";
}

std::vector<Candidate> candidates(const std::string& /*file*/,
                                  const std::vector<std::string>& /*assignments*/) {
  return {{"hot", {"model.name=hot"}},
          {"unet", {"model.name=unet"}},
          {"hot-sum", {"model.name=hot", "model.attention.combine=sum"}},
          {"transformer", {"model.name=transformer"}}};
}

}  // namespace

const TaskSpec segmentation_spec = {
    .name = "segmentation",
    .command = "segment",
    .summary = "Trains a segmentation model and evaluates it on the test split.",
    .example = "modewise train segment --data scene.tif --masks classes.tif",
    .data_help = "image (GeoTIFF or NPY), folder of images, or SSL4EO-L folder (data.path)",
    .model_help = "model (model.name): hot, transformer, unet, auto",
    .options = {{"--masks", "data.masks", "mask of class ids, or folder of masks"}},
    .in_shares = true,
    .validation = {{"/validation/accuracy", "validation accuracy %", "highest", 1, 100},
                   {"/validation/mean_iou", "validation mean IoU %", "highest", 1, 100}},
    .owns = owns,
    .defaults = default_config<SegmentationConfig>,
    .config = any_config<load_config<SegmentationConfig>>,
    .candidates = candidates,
    .training = make_training<SegmentJob>,
    .evaluate = evaluate,
    .predict = predict,
    .write_report = write_report,
    .comparison = segment_comparison,
    .explain = explain,
    .describe_data = describe_data,
};

}  // namespace modewise::tasks
