#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/segment_options.h"
#include "cli/task_verbs.h"
#include "modewise/core/error.h"
#include "modewise/tasks/scenes/compare.h"
#include "modewise/tasks/scenes/explain.h"
#include "modewise/tasks/scenes/predict.h"
#include "modewise/tasks/scenes/report.h"
#include "modewise/tasks/scenes/run.h"
#include "modewise/tasks/test_part.h"

namespace modewise::cli {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
using report::Cell;

int evaluate(const Program& program, const EvaluateOptions& options) {
  const tasks::SegmentRun run = tasks::open_segment_run(options.run);
  const data::SceneSet set = tasks::load_run_scenes(run, options.data, options.masks, options.split == "all");
  for (const std::string& note : set.notes()) spdlog::info("{}", note);
  const bool own = options.data.empty();
  const data::SceneSplit split = own && options.split == "train"        ? data::SceneSplit::train
                                 : own && options.split == "validation" ? data::SceneSplit::validation
                                                                        : data::SceneSplit::test;
  require(!set.areas(split).empty(), ErrorKind::data, "{}: the {} split is empty", set.source(),
          options.split);
  if (own && options.split == "test" && tasks::test_is_unread(run.folder)) {
    const Json result = tasks::judge_left_out_test(run, set);
    print_result(program, result, segment_text(result, options.detail));
    return 0;
  }
  const tasks::SegmentErrors errors =
      tasks::evaluate_areas(*run.model, set, set.areas(split), run.config.segment);
  Json result = tasks::evaluation_json(own ? options.split : "all", errors.confusion, set.classes());
  result["loss"] = errors.loss;
  print_result(program, result, segment_text(result, options.detail));
  return 0;
}

/// The images that are asked for: `data`, those of the folder `data`, or the run's own.
std::vector<std::string> scenes_of(const tasks::SegmentRun& run, const std::string& data) {
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
fs::path map_path(const PredictOptions& options, const std::string& root, const std::string& scene,
                  bool single) {
  if (single && !options.out.empty()) return options.out;
  const fs::path folder = options.out.empty() ? fs::path(options.run) / "maps" : fs::path(options.out);
  fs::path name = single ? fs::path(scene).filename() : fs::path(scene).lexically_relative(root);
  return folder / name.replace_extension(".tif");
}

std::string map_text(const Json& map) {
  std::string text =
      fmt::format("{}: {} × {} pixels{}\n{}\n\n", map["map"].get<std::string>(), map["height"].get<int64_t>(),
                  map["width"].get<int64_t>(), map["crs"] == "" ? "" : ", " + map["crs"].get<std::string>(),
                  map["picture"].get<std::string>());
  report::Table table({{"id"}, {"class"}, {"pixels"}, {"share %"}});
  for (const Json& one : map["classes"])
    table.add_row({one["id"].get<int64_t>(), one["name"].get<std::string>(),
                   Cell::count(one["pixels"].get<int64_t>()), Cell(100 * one["share"].get<double>(), 2)});
  if (map["without_data"] != 0)
    table.add_row(
        {map["nodata"].get<int64_t>(), "no data", Cell::count(map["without_data"].get<int64_t>()), ""});
  return text + table.to_text();
}

int predict(const Program& program, const PredictOptions& options) {
  refuse_steps(options, "a segmenter");
  const tasks::SegmentRun run = tasks::open_segment_run(options.run);
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
  for (const std::string& scene : scenes) {
    const fs::path map = map_path(options, root, scene, single);
    std::error_code error;
    fs::create_directories(map.parent_path(), error);
    require(!error, ErrorKind::cannot_create, "cannot make the folder {}: {}", map.parent_path().string(),
            error.message());
    results.push_back(to_json(tasks::predict_scene(run, scene, map), run.data.classes));
    if (!program.json()) program.print(map_text(results.back()));
  }
  if (program.json()) program.print(single ? results.front() : Json{{"maps", results}});
  return 0;
}

void write_report(const std::string& path, const std::string& data, const fs::path& out) {
  tasks::SegmentRun run = tasks::open_segment_run(path);
  if (!data.empty()) run.config.data.path = absolute_path(data);
  tasks::write_segment_report(
      run, tasks::load_run_scenes(run, "", "", false, !tasks::test_is_unread(run.folder)), out);
}

tasks::Explanation explain(const ExplainCommandOptions& options) {
  tasks::SegmentRun run = tasks::open_segment_run(options.run);
  if (!options.masks.empty())
    return tasks::explain_segmenter(run, tasks::load_run_scenes(run, options.data, options.masks, false),
                                    options.options);
  if (!options.data.empty()) run.config.data.path = absolute_path(options.data);
  return tasks::explain_segmenter(run, tasks::load_run_scenes(run, "", "", false), options.options);
}

/// An image without a mask: what the file is.
void show_image(const Program& program, const tasks::SegmentConfig& config) {
  const std::string path = data::find_scene_files(config.data, false).files.front().image;
  const data::RasterInfo info = data::open_raster(path, config.data.axes)->info();
  Json json = {{"source", path},      {"dates", info.times}, {"height", info.height},
               {"width", info.width}, {"bands", info.bands}, {"dtype", info.dtype}};
  if (info.nodata) json["nodata"] = *info.nodata;
  if (info.geo) {
    json["crs"] = info.geo->crs_text();
    json["transform"] = info.geo->transform();
  }
  if (program.json()) {
    program.print(json);
    return;
  }
  std::string text;
  for (const auto& [name, value] : json.items()) text += fmt::format("{}: {}\n", name, value.dump());
  program.print(text + "\n--masks (or --set data.masks=…) shows classes and splits too\n");
}

int show_data(const Program& program, const ShowDataOptions& options) {
  const tasks::SegmentConfig config =
      load_segment_options(options.config.config, options.config.all_assignments());
  require(!config.data.path.empty(), ErrorKind::usage, "no data: give an image, or a folder of images");
  if (config.data.masks.empty()) {
    show_image(program, config);
    return 0;
  }
  const data::SceneSet set(config.data, models::window_multiple(config.model));
  const std::vector<std::pair<std::string, data::SceneSplit>> splits = {
      {"train", data::SceneSplit::train},
      {"validation", data::SceneSplit::validation},
      {"test", data::SceneSplit::test}};
  if (program.json()) {
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
    program.print(json);
    return 0;
  }
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
  program.print(text + "\nlabelled pixels:\n" + table.to_text());
  return 0;
}

}  // namespace

const TaskVerbs segment_verbs = {"segment",
                                 evaluate,
                                 predict,
                                 write_report,
                                 tasks::segment_comparison,
                                 explain,
                                 show_config<load_segment_options>,
                                 show_data};

}  // namespace modewise::cli
