#include "modewise/data/segmentation/files.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "modewise/core/counted.h"
#include "modewise/core/data_files.h"
#include "modewise/core/error.h"
#include "modewise/core/folder.h"
#include "modewise/core/random.h"
#include "modewise/data/numpy_shuffle.h"
#include "modewise/data/split_names.h"
#include "modewise/io/images/image.h"

namespace modewise::data {
namespace {

namespace fs = std::filesystem;
const std::string ssl4eo_image = "all_bands.tif";

/// Paths of the regular files below `folder`, relative to it, sorted as strings (like Python's
/// sorted(glob)).
std::vector<std::string> files_below(const std::string& folder) {
  std::vector<std::string> result;
  for (const fs::path& file : data_files_below(folder))
    result.push_back(require_utf8(file).lexically_relative(folder).generic_string());
  std::sort(result.begin(), result.end());
  return result;
}

void require_folder(const std::string& path, const char* what) {
  require(fs::is_directory(path), ErrorKind::no_input, "{} is not a folder of {}",
          path.empty() ? "(nothing)" : path, what);
}

bool is_ssl4eo(const std::string& folder) {
  for (const fs::path& outer : data_entries(folder)) {
    if (!fs::is_directory(outer)) continue;
    for (const fs::path& inner : data_entries(outer))
      if (fs::exists(inner / ssl4eo_image)) return true;
    return false;
  }
  return false;
}

/// The mask file nlcd_YYYY.tif or cdl_YYYY.tif of a folder.
std::string ssl4eo_mask(const fs::path& folder) {
  for (const fs::path& entry : data_entries(folder)) {
    const std::string name = entry.filename().string();
    if ((name.starts_with("nlcd_") || name.starts_with("cdl_")) && name.ends_with(".tif"))
      return entry.string();
  }
  return "";
}

SceneFiles find_ssl4eo(const SegmentationDataConfig& config, bool with_masks) {
  require_folder(config.path, "SSL4EO-L images");
  if (with_masks) require_folder(config.masks, "SSL4EO-L masks");
  SceneFiles result;
  result.layout = "ssl4eo";
  for (const std::string& name : files_below(config.path)) {
    if (fs::path(name).filename() != ssl4eo_image) continue;
    SceneFile file{name, (fs::path(config.path) / name).string(), "", {}};
    if (with_masks) {
      const fs::path folder = fs::path(config.masks) / fs::path(name).parent_path();
      file.mask = ssl4eo_mask(folder);
      require(!file.mask.empty(), ErrorKind::data,
              "{}: no mask: expected nlcd_YEAR.tif or cdl_YEAR.tif in {}", file.image, folder.string());
    }
    result.files.push_back(std::move(file));
  }
  return result;
}

/// `name` without extension and `suffix`; nothing if it has another suffix, or is not an image.
std::optional<std::string> key_of(const std::string& name, const std::string& suffix) {
  if (!is_raster_name(name) && !io::named_as_image(name)) return std::nullopt;
  std::string key = (fs::path(name).parent_path() / fs::path(name).stem()).generic_string();
  if (!key.ends_with(suffix)) return std::nullopt;
  key.resize(key.size() - suffix.size());
  return key;
}

/// The split of an image by the folder that it is in; nothing: none.
std::optional<SceneSplit> split_of(const SceneFile& file) {
  const std::optional<size_t> split = split_of_name(fs::path(file.name).begin()->string());
  return split ? std::optional(static_cast<SceneSplit>(*split)) : std::nullopt;
}

/// Leaves out the images that are in no folder of a split, if there are such folders.
void leave_out_others(SceneFiles& files, const SegmentationDataConfig& config) {
  std::set<std::string> folders, others;
  for (const SceneFile& file : files.files) {
    const std::string first = fs::path(file.name).begin()->string();
    folders.insert(first);
    if (!split_of(file)) others.insert(first);
  }
  if ((config.split != "auto" && config.split != "folders") || others.empty() || !name_splits(folders))
    return;
  std::erase_if(files.files, [](const SceneFile& file) { return !split_of(file); });
  files.notes.push_back(left_out_of_splits(config.path, others));
}

/// Leaves out PNG and JPEG images beside GeoTIFF or NPY, which are previews.
void leave_out_previews(std::vector<std::string>& names, const std::string& folder,
                        std::vector<std::string>& notes) {
  const auto rasters = std::ranges::count_if(names, is_raster_name);
  const auto previews = std::ssize(names) - rasters;
  if (rasters == 0 || previews == 0) return;
  std::erase_if(names, [](const std::string& name) { return !is_raster_name(name); });
  notes.push_back(fmt::format("{}: {} beside GeoTIFF or NPY images {} left out", folder,
                              counted(previews, "PNG or JPEG image"), is_or_are(previews)));
}

SceneFiles find_folder(const SegmentationDataConfig& config, bool with_masks) {
  require_folder(config.path, "images");
  SceneFiles result;
  result.layout = "folder";
  std::map<std::string, std::vector<std::string>> masks;
  if (with_masks) {
    require_folder(config.masks, "masks");
    std::vector<std::string> names = files_below(config.masks);
    std::erase_if(names, [&](const std::string& name) { return !key_of(name, config.mask_suffix); });
    leave_out_previews(names, config.masks, result.notes);
    for (const std::string& name : names)
      masks[*key_of(name, config.mask_suffix)].push_back((fs::path(config.masks) / name).string());
  }
  const bool together = with_masks && fs::equivalent(config.path, config.masks);
  require(!together || config.image_suffix != config.mask_suffix, ErrorKind::data,
          "{}: images and masks are in one folder: set data.image_suffix and data.mask_suffix", config.path);
  std::vector<std::string> names = files_below(config.path);
  std::erase_if(names, [&](const std::string& name) {
    return !key_of(name, config.image_suffix) ||
           (together && config.image_suffix.empty() && key_of(name, config.mask_suffix));
  });
  leave_out_previews(names, config.path, result.notes);
  for (const std::string& name : names)
    result.files.push_back({name, (fs::path(config.path) / name).string(), "", {}});
  if (!with_masks) return result;
  leave_out_others(result, config);
  for (SceneFile& file : result.files) {
    const std::string key = *key_of(file.name, config.image_suffix);
    const auto mask = masks.find(key);
    require(mask != masks.end(), ErrorKind::data,
            "{}: no mask: expected {}/{}{} (.tif, .tiff, .npy or .png); set data.image_suffix and "
            "data.mask_suffix for other names",
            file.image, config.masks, key, config.mask_suffix);
    require(mask->second.size() == 1, ErrorKind::data,
            "{}: {} and {} are both masks of this image: remove one", file.image, mask->second[0],
            mask->second.back());
    file.mask = mask->second[0];
  }
  return result;
}

void split_as_ssl4eo(SceneFiles& files) {
  const auto n = static_cast<int64_t>(files.files.size());
  const std::vector<int64_t> order = numpy_shuffled(n, 0);
  const auto train = static_cast<int64_t>(0.7 * static_cast<double>(n)),
             validation = static_cast<int64_t>(0.15 * static_cast<double>(n));
  std::vector<SceneFile> shuffled;
  for (int64_t i = 0; i < n; ++i) {
    shuffled.push_back(std::move(files.files[static_cast<size_t>(order[static_cast<size_t>(i)])]));
    shuffled.back().split = i < train                ? SceneSplit::train
                            : i < train + validation ? SceneSplit::validation
                                                     : SceneSplit::test;
  }
  files.files = std::move(shuffled);
  files.rule = "SSL4EO-L: numpy's shuffle of the sorted paths, seed 0, 70/15/15 %";
}

bool has_split_folders(const SceneFiles& files) {
  return std::all_of(files.files.begin(), files.files.end(),
                     [](const SceneFile& file) { return split_of(file).has_value(); });
}

/// Number of tiles of a split, at least one for a fraction above 0.
int64_t tile_count(double share, int64_t tiles) {
  return share == 0 ? 0
                    : std::max<int64_t>(1, static_cast<int64_t>(share * static_cast<double>(tiles) + 0.5));
}

void split_by_folders(SceneFiles& files, const SegmentationDataConfig& config) {
  require(has_split_folders(files), ErrorKind::data,
          "{}: data.split = \"folders\" needs folders train, val (or validation) and test", config.path);
  std::vector<SceneFile*> train;
  bool validated = false;
  for (SceneFile& file : files.files) {
    file.split = split_of(file);
    if (file.split == SceneSplit::train) train.push_back(&file);
    validated = validated || file.split == SceneSplit::validation;
  }
  files.rule = "the folders train, val and test";
  if (validated || train.empty() || config.validation == 0) return;
  const auto n = std::ssize(train), taken = tile_count(config.validation, n);
  require(taken < n, ErrorKind::data,
          "{}: the folder for training has {}, too few to take {} for validation; there is no folder for it",
          config.path, counted(n, "tile"), taken);
  const std::vector<int64_t> order =
      random_permutation(n, {static_cast<uint64_t>(config.split_seed), RandomSite::splits, 0});
  for (int64_t i = 0; i < taken; ++i)
    train[static_cast<size_t>(order[static_cast<size_t>(i)])]->split = SceneSplit::validation;
  files.rule = fmt::format(
      "the folders train and test; {} of the {} training tiles, by data.validation = {}, for "
      "validation, seed {}",
      taken, n, config.validation, config.split_seed);
}

void split_at_random(SceneFiles& files, const SegmentationDataConfig& config) {
  const auto n = static_cast<int64_t>(files.files.size());
  const int64_t test = tile_count(config.test, n), validation = tile_count(config.validation, n);
  require(test + validation < n, ErrorKind::data,
          "{}: {} tiles are too few for training, {} validation and {} test tiles", config.path, n,
          validation, test);
  const std::vector<int64_t> order =
      random_permutation(n, {static_cast<uint64_t>(config.split_seed), RandomSite::splits, 0});
  for (int64_t i = 0; i < n; ++i)
    files.files[static_cast<size_t>(order[static_cast<size_t>(i)])].split = i < test ? SceneSplit::test
                                                                            : i < test + validation
                                                                                ? SceneSplit::validation
                                                                                : SceneSplit::train;
  files.rule = fmt::format("random tiles, seed {}", config.split_seed);
}

void split_files(SceneFiles& files, const SegmentationDataConfig& config) {
  std::string rule = config.split;
  if (rule == "auto")
    rule = files.layout == "ssl4eo" ? "ssl4eo" : has_split_folders(files) ? "folders" : "random";
  require(rule != "blocks", ErrorKind::config,
          "data.split = \"blocks\" splits one scene, but {} is a folder of {} images", config.path,
          files.files.size());
  if (rule == "ssl4eo")
    split_as_ssl4eo(files);
  else if (rule == "folders")
    split_by_folders(files, config);
  else
    split_at_random(files, config);
}

}  // namespace

SceneFiles find_scene_files(const SegmentationDataConfig& config, bool with_masks, bool split) {
  require(fs::exists(config.path), ErrorKind::no_input, "{} does not exist", config.path);
  require(!with_masks || fs::exists(config.masks), ErrorKind::no_input, "{} does not exist",
          config.masks.empty() ? "data.masks, the mask or folder of masks," : config.masks);
  std::string layout = config.layout;
  if (layout == "auto")
    layout = !fs::is_directory(config.path) ? "scene" : is_ssl4eo(config.path) ? "ssl4eo" : "folder";
  if (layout == "scene") {
    require(!fs::is_directory(config.path), ErrorKind::data,
            "{} is a folder, but data.layout = \"scene\" is one image", config.path);
    require(!with_masks || !fs::is_directory(config.masks), ErrorKind::data,
            "{} is a folder, but the image {} has one mask", config.masks, config.path);
    require(!with_masks || config.split == "auto" || config.split == "blocks", ErrorKind::config,
            "data.split = \"{}\" splits several images, but {} is one image: use \"blocks\"", config.split,
            config.path);
    return {{{fs::path(config.path).filename().string(), config.path, with_masks ? config.masks : "", {}}},
            "scene",
            ""};
  }
  SceneFiles result = layout == "ssl4eo" ? find_ssl4eo(config, with_masks) : find_folder(config, with_masks);
  require(!result.files.empty(), ErrorKind::data,
          "{}: no images in this folder (.tif, .tiff, .npy, .png or .jpg{})", config.path,
          config.image_suffix.empty() ? "" : ", with the suffix " + config.image_suffix);
  if (with_masks && split) split_files(result, config);
  return result;
}

}  // namespace modewise::data
