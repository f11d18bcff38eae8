#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "modewise/core/error.h"
#include "modewise/core/file.h"
#include "modewise/core/output_file.h"
#include "modewise/tasks/scenes/compare.h"
#include "modewise/tasks/scenes/explain.h"
#include "modewise/tasks/scenes/kind.h"
#include "modewise/tasks/scenes/predict.h"
#include "modewise/tasks/scenes/report.h"
#include "modewise/tasks/scenes/run.h"
#include "modewise/tasks/scenes/tables.h"
#include "modewise/tasks/test_part.h"

namespace modewise::tasks {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
using report::Cell;

Result evaluate(const EvaluateRequest& options) {
  const SegmentRun run = open_segment_run(options.run);
  const data::SceneSet set = load_run_scenes(run, options.data, options.masks, options.split == "all");
  for (const std::string& note : set.notes()) spdlog::info("{}", note);
  const bool own = options.data.empty();
  const data::SceneSplit split = own && options.split == "train"        ? data::SceneSplit::train
                                 : own && options.split == "validation" ? data::SceneSplit::validation
                                                                        : data::SceneSplit::test;
  require(!set.areas(split).empty(), ErrorKind::data, "{}: the {} split is empty", set.source(),
          options.split);
  if (own && options.split == "test" && test_is_unread(run.folder)) {
    const Json result = judge_left_out_test(run, set);
    return {result, segment_text(result, options.detail)};
  }
  const SegmentErrors errors = evaluate_areas(*run.model, set, set.areas(split), run.config.segment);
  Json result = evaluation_json(own ? options.split : "all", errors.confusion, set.classes());
  result["loss"] = errors.loss;
  return {result, segment_text(result, options.detail)};
}

/// The images that are asked for: `data`, those of the folder `data`, or the run's own.
std::vector<std::string> scenes_of(const SegmentRun& run, const std::string& data) {
  data::SceneConfig config = run.config.data;
  if (!data.empty()) {
    config.path = data;
    config.layout = "auto";
  }
  std::vector<std::string> scenes;
  for (const data::SceneFile& file : data::find_scene_files(config, false).files)
    scenes.push_back(file.image);
  return scenes;
}

/// Where the map of `scene` goes: `out` itself for a single scene, a name in the folder `out` for several.
fs::path map_path(const PredictRequest& options, const std::string& root, const std::string& scene,
                  bool single) {
  if (single && !options.out.empty()) return options.out;
  const fs::path folder = options.out.empty() ? fs::path(options.run) / "maps" : fs::path(options.out);
  fs::path name = single ? fs::path(scene).filename() : fs::path(scene).lexically_relative(root);
  return folder / name.replace_extension(".tif");
}

Result predict(const PredictRequest& options) {
  refuse_steps(options, "a segmenter");
  const SegmentRun run = open_segment_run(options.run);
  const std::string root = options.data.empty() ? run.config.data.path : options.data;
  const std::vector<std::string> scenes = scenes_of(run, options.data);
  const bool single = !fs::is_directory(root);
  require(!single || options.out.empty() || options.out.ends_with(".tif") || options.out.ends_with(".tiff"),
          ErrorKind::usage, "--out of a class map must end in .tif, got '{}'", options.out);
  for (const std::string& scene : scenes) {
    const fs::path map = map_path(options, root, scene, single);
    for (const fs::path& file : {map, fs::path(map).replace_extension(".png")})
      require_new(file, options.force);
  }
  Json results = Json::array();
  std::string text;
  for (const std::string& scene : scenes) {
    const fs::path map = map_path(options, root, scene, single);
    std::error_code error;
    fs::create_directories(map.parent_path(), error);
    require(!error, ErrorKind::cannot_create, "cannot make the folder {}: {}", map.parent_path().string(),
            error.message());
    results.push_back(to_json(predict_scene(run, scene, map), run.data.classes));
    text += map_text(results.back());
  }
  return {single ? results.front() : Json{{"maps", results}}, text};
}

void write_report(const std::string& path, const std::string& data, const fs::path& out) {
  SegmentRun run = open_segment_run(path);
  if (!data.empty()) run.config.data.path = absolute_path(data);
  write_segment_report(run, load_run_scenes(run, "", "", false, !test_is_unread(run.folder)), out);
}

Explanation explain(const ExplainRequest& options) {
  SegmentRun run = open_segment_run(options.run);
  if (!options.masks.empty())
    return explain_segmenter(run, load_run_scenes(run, options.data, options.masks, false), options.options);
  if (!options.data.empty()) run.config.data.path = absolute_path(options.data);
  return explain_segmenter(run, load_run_scenes(run, "", "", false), options.options);
}

/// An image without a mask: what the file is.
Result describe_image(const SegmentConfig& config) {
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
  return {json, text + "\n--masks (or --set data.masks=…) shows classes and splits too\n"};
}

Result describe_data(const std::string& file, const std::vector<std::string>& assignments) {
  const SegmentConfig config = load_segment_config(file, assignments);
  require(!config.data.path.empty(), ErrorKind::usage, "no data: give an image, or a folder of images");
  if (config.data.masks.empty()) return describe_image(config);
  const data::SceneSet set(config.data, models::window_multiple(config.model));
  const std::vector<std::pair<std::string, data::SceneSplit>> splits = {
      {"train", data::SceneSplit::train},
      {"validation", data::SceneSplit::validation},
      {"test", data::SceneSplit::test}};
  Json json = {{"source", set.source()},
               {"images", set.files().size()},
               {"dates", set.times()},
               {"bands", set.bands()},
               {"window", set.window()},
               {"missing", set.missing()},
               {"mean", set.rule().scale.mean},
               {"deviation", set.rule().scale.deviation},
               {"split", set.split_rule()},
               {"notes", set.notes()},
               {"classes", to_json(set.classes())["classes"]},
               {"splits", Json::object()}};
  for (const auto& [name, split] : splits)
    json["splits"][name] = {{"areas", set.areas(split).size()}, {"pixels", set.class_pixels(split)}};
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
    for (const auto& [name, split] : splits) cells.push_back(Cell::count(set.class_pixels(split)[c]));
    table.add_row(std::move(cells));
  }
  return {std::move(json), text + "\nlabelled pixels:\n" + table.to_text()};
}

bool owns(const fs::path& data) {
  const std::string ending = data.extension().string();
  return ending == ".tif" || ending == ".tiff" || ending == ".TIF" || ending == ".TIFF";
}

}  // namespace

const Kind scenes_kind = {
    .name = "segment",
    .summary = "Trains a segmenter of images, and judges it on the part held back.",
    .example = "modewise train segment --data scene.tif --masks classes.tif",
    .data_help = "image (GeoTIFF or NPY), folder of images, or SSL4EO-L folder (data.path)",
    .model_help = "model (model.name): hot, transformer, unet",
    .options = {{"--masks", "data.masks", "its mask of class ids, or the folder of masks"}},
    .validation = {{"/validation/accuracy", "validation accuracy %", "highest", 1, 100},
                   {"/validation/mean_iou", "validation mean IoU %", "highest", 1, 100}},
    .owns = owns,
    .defaults = default_config<SegmentConfig>,
    .config = any_config<load_segment_config>,
    .job = make_scenes_job,
    .evaluate = evaluate,
    .predict = predict,
    .write_report = write_report,
    .comparison = segment_comparison,
    .explain = explain,
    .describe_data = describe_data,
};

}  // namespace modewise::tasks
