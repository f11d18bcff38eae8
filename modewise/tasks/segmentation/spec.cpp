#include "modewise/tasks/segmentation/spec.h"

#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "modewise/core/data_files.h"
#include "modewise/core/error.h"
#include "modewise/core/folder.h"
#include "modewise/core/output_file.h"
#include "modewise/tasks/run/load_config.h"
#include "modewise/tasks/run/same_work.h"
#include "modewise/tasks/segmentation/figures.h"
#include "modewise/tasks/segmentation/report.h"
#include "modewise/tasks/segmentation/run.h"

namespace modewise::tasks {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
using report::Cell;

std::unique_ptr<Run> create(const Settings& settings) {
  return std::make_unique<SegmentationRun>(load_config<SegmentationConfig>(settings));
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

Result predict(Run& opened, const PredictRequest& options) {
  const SegmentationRun& run = as<SegmentationRun>(opened);
  const std::string root = options.data.empty() ? run.config.data.path : options.data;
  const std::vector<std::string> scenes = scenes_of(run, options.data);
  const bool single = !fs::is_directory(root);
  const std::string ending = fs::path(options.out).extension();
  require(!single || options.out.empty() || ending == ".tif" || ending == ".tiff" || ending == ".npy",
          ErrorKind::usage, "--out of a class map must end in .tif or .npy, got '{}'", options.out);
  std::set<fs::path> folders;
  std::map<fs::path, std::string> scene_of;  // of each map
  for (const std::string& scene : scenes) {
    const fs::path map = map_path(options, root, scene, single);
    const auto [other, is_new] = scene_of.emplace(map, scene);
    require(is_new, ErrorKind::data, "{} and {} would have the same map {}: rename or remove one of them",
            other->second, scene, map.string());
    for (const fs::path& file : {map, fs::path(map).replace_extension(".png")})
      require_new(file, options.force);
    folders.insert(map.parent_path());
  }
  for (const fs::path& folder : folders)
    remove_stale_temporaries(folder, [](std::string_view name) {
      return name.ends_with(".tif") || name.ends_with(".png") || name.ends_with(".npy");
    });
  require_same_work(run.folder(), options.out, sizes_text(scenes));
  Json results = Json::array();
  std::string text;
  for (const std::string& scene : scenes) {
    if (!train::workers().is_rank_zero()) {
      help_predict_scene(run, scene);
      continue;
    }
    const fs::path map = map_path(options, root, scene, single);
    if (map.has_parent_path()) make_folders(map.parent_path());
    results.push_back(predict_scene(run, scene, map));
    text += map_text(results.back());
  }
  if (!train::workers().is_rank_zero()) return {};
  return {single ? results.front() : Json{{"maps", results}}, text};
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
  if (const std::string warning = data::unread_pages(info); !warning.empty())
    text += "warning: " + warning + "\n";
  return {json, text + "\nadd --masks (or --set data.masks=…) to show classes and splits\n"};
}

Result describe_data(const Settings& settings) {
  const SegmentationConfig config = load_config<SegmentationConfig>(settings);
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
               {"warnings", set.warnings()},
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
  for (const std::string& warning : set.warnings()) text += "warning: " + warning + "\n";
  for (const std::string& note : set.notes()) text += "note: " + note + "\n";
  report::Table table({{"id"}, {"class"}, {"train"}, {"validation"}, {"test"}});
  for (size_t c = 0; c < set.classes().classes().size(); ++c) {
    const data::SceneClass& one = set.classes().classes()[c];
    std::vector<Cell> cells = {Cell(static_cast<double>(one.id), 0), one.name};
    for (const std::string& name : splits)
      cells.push_back(Cell::count(set.class_pixels(scene_split(name))[c]));
    table.add_row(std::move(cells));
  }
  return {std::move(json), text + "\nlabelled pixels:\n" + table.to_text()};
}

bool owns(const fs::path& data) {
  const std::string ending = lower_extension(data);
  return ending == ".tif" || ending == ".tiff";
}

std::vector<Candidate> candidates(const Settings& /*settings*/) {
  return {{"hot", {"model.name=hot"}},
          {"unet", {"model.name=unet"}},
          {"hot-sum", {"model.name=hot", "model.attention.combine=sum"}},
          {"transformer", {"model.name=transformer"}}};
}

}  // namespace

const TaskSpec segmentation_spec = {
    .name = "segmentation",
    .command = "segment",
    .subject = "a segmenter",
    .summary = "Trains a segmentation model and evaluates it on the test split.",
    .example = "modewise train segment --data scene.tif --masks classes.tif",
    .data_help = "image (GeoTIFF, NPY, PNG, JPEG), folder of images, or SSL4EO-L folder (data.path)",
    .model_help = "model (model.name): hot, transformer, unet, auto",
    .options = {{"--masks", "data.masks", "mask of class ids, or folder of masks"}},
    .in_shares = true,
    .validation = {{"/validation/accuracy", "validation accuracy %", "highest", 1, 100},
                   {"/validation/mean_iou", "validation mean IoU %", "highest", 1, 100}},
    .create = create,
    .describe_data = describe_data,
    .comparison = segment_comparison,
    .owns = owns,
    .predict = {.predict = predict, .table = false},
    .explain = explain_segmenter,
    .search = Search{.candidates = candidates},
};

}  // namespace modewise::tasks
