#pragma once
// Segmentation set: images with masks, split, checked, scaled by the training split, and read by windows.
// Images may have any size and number; decoded images are cached up to data.cache_mb.

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "modewise/data/fill_values.h"
#include "modewise/data/segmentation/class_map.h"
#include "modewise/data/segmentation/config.h"
#include "modewise/data/segmentation/files.h"
#include "modewise/data/segmentation/pixels.h"

namespace modewise::data {

/// An area of an image of the set.
struct SceneArea {
  int64_t file = 0;
  PixelRect area;
};

/// Data summary of a run (data.json), used to check and read later images in the same way.
struct SceneSummary {
  ClassMap classes;
  PixelRule rule;
  int64_t times = 1;
  int64_t file_bands = 1;  // bands of the files, before the selection by rule.bands
  int64_t window = 0;
  bool missing = false;
  std::vector<int64_t> training_pixels;  // pixels of each class
  std::string source, hash;
};
nlohmann::ordered_json to_json(const SceneSummary& summary);
/// Data error naming the file if it is not such a summary.
SceneSummary read_scene_summary(const std::string& path);
/// Whether the images and masks of `config` have this hash, with or without those of the test split.
bool has_hash(const SegmentationDataConfig& config, const std::string& hash);
/// Data error if the dates or bands of an image differ from those of the run.
void require_fits(const SceneSummary& run, const RasterInfo& image);

class SegmentationSet {
 public:
  /// Lists, checks and splits the images of `config`, counts classes, and fits the scale to the training
  /// split. `window_multiple`: windows are multiples of it. Errors: no_input, data and config errors that
  /// name the file; masks, or a training split, of fewer than two classes. Without `with_test` there is no
  /// test area: test images are not opened; for one scene only the masks of test blocks are read, because the
  /// split balances the classes.
  SegmentationSet(const SegmentationDataConfig& config, int64_t window_multiple, bool with_test = true);
  /// Images read with the classes, scale and window of a run. With `whole` there is no split: every image is
  /// one area of the test split. `with_test` as above.
  SegmentationSet(const SegmentationDataConfig& config, const SceneSummary& run, bool whole,
                  bool with_test = true);

  SceneSummary summary() const;

  const SegmentationDataConfig& config() const { return config_; }
  const std::vector<SceneFile>& files() const { return files_.files; }
  const ClassMap& classes() const { return classes_; }
  const PixelRule& rule() const { return rule_; }
  int64_t times() const { return times_; }
  int64_t bands() const { return static_cast<int64_t>(rule_.bands.size()); }
  int64_t window() const { return window_; }
  /// Whether any pixel of the training split is invalid.
  bool missing() const { return missing_; }
  /// Tiles from which training windows are drawn.
  const std::vector<SceneArea>& training_tiles() const { return tiles_; }
  /// Areas of a split; evaluation covers each once.
  const std::vector<SceneArea>& areas(SceneSplit split) const { return areas_[static_cast<size_t>(split)]; }
  /// Pixels of each class in a split (estimated from a sample of tiles for large sets).
  const std::vector<int64_t>& class_pixels(SceneSplit split) const {
    return pixels_[static_cast<size_t>(split)];
  }
  const std::string& split_rule() const { return files_.rule; }
  const std::vector<std::string>& notes() const { return notes_; }
  const std::vector<std::string>& warnings() const { return warnings_; }
  const std::string& hash() const { return hash_; }
  std::string source() const { return config_.path; }
  std::optional<io::GeoReference> geo(int64_t file) const { return image(file)->info().geo; }

  /// Image and labels of an area. Thread-safe.
  SceneWindow read(const SceneArea& area) const;
  /// The image alone.
  SceneWindow read_image(const SceneArea& area) const;
  /// Class indices of the pixels, row-major; ClassMap::ignored for ignored mask values.
  std::vector<int16_t> labels(int64_t file, const PixelRect& area) const;

 private:
  std::shared_ptr<const Raster> image(int64_t file) const { return opened(file, false); }
  std::shared_ptr<const Raster> mask(int64_t file) const { return opened(file, true); }
  std::shared_ptr<const Raster> opened(int64_t file, bool mask) const;
  void leave_test_files_out();
  void check_pairs();
  /// Number of pixels of each id in the masks.
  std::map<int64_t, int64_t> mask_pixels() const;
  std::vector<int64_t> ignored_by_default(const std::map<int64_t, int64_t>& found);
  void find_classes();
  void warn_of_nodata_classes();
  void warn_of_values();
  /// Whether an id that the class map does not have marks pixels without a label: the nodata value of its
  /// mask, and −1 and 255 without data.ignore.
  bool is_unlabelled(double id, const RasterInfo& of_mask) const;
  void split_scene();
  void split_tiles();
  void choose_window(int64_t multiple);
  void cut_tiles();
  void count_classes();
  void measure();
  void warn_of_fills(const std::vector<FillValues>& fills);
  void make_hash();
  void warn_of_copies(const std::vector<std::string>& contents);
  SegmentationDataConfig config_;
  SceneFiles files_;
  ClassMap classes_;
  PixelRule rule_;
  int64_t times_ = 1, file_bands_ = 1, window_ = 0;
  bool missing_ = false;
  std::vector<SceneArea> tiles_;
  std::array<std::vector<SceneArea>, 3> areas_;
  std::array<std::vector<int64_t>, 3> pixels_;
  std::vector<PixelRect> sizes_;  // of each file
  std::set<double> mask_nodata_;  // of all masks
  std::vector<std::string> notes_, warnings_;
  std::string hash_;
  mutable std::mutex mutex_;
  mutable std::vector<std::shared_ptr<const Raster>>
      kept_;  // cached image and mask of each file; null: not opened
  mutable int64_t kept_bytes_ = 0;
};

}  // namespace modewise::data
