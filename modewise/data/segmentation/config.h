#pragma once
// Config of segmentation data: images, masks, classes, split, scaling, windows and augmentation.

#include <cstdint>
#include <string>
#include <vector>

#include "modewise/core/fields.h"

namespace modewise::data {

/// Augmentation of training windows; random numbers are keyed by seed and batch.
struct SegmentationAugmentConfig {
  double crop = 1;         // minimum area of the random crop, relative to the window; 1: no resizing
  double stretch = 1.333;  // maximum aspect ratio of the crop
  bool flips = true;
  bool rotations = true;  // 90° rotations
  void fields(Fields& fields);
};

struct SegmentationDataConfig {
  std::string path, masks;      // file or folder
  std::string layout = "auto";  // auto | ssl4eo | folder | scene
  std::string axes = "auto";    // of NPY arrays: auto | hw | hwc | chw | thwc | tchw
  std::string image_suffix, mask_suffix;
  std::vector<int64_t> bands;  // from 0; empty: all
  std::string nodata = "auto";

  std::string classes = "auto";  // auto | nlcd | cdl | list
  std::vector<int64_t> class_ids;
  std::vector<std::string> class_names;
  std::vector<std::string> class_colors;
  std::vector<int64_t> ignore;
  bool ignore_unlisted = false;

  std::string scale = "standard";  // standard | divide | none
  double divide = 255;

  std::string split = "auto";  // auto | ssl4eo | folders | random | blocks
  double validation = 0.15, test = 0.15;
  int64_t split_seed = 0;
  std::vector<int64_t> blocks;  // rows and columns of the grid; empty: automatic
  int64_t guard = 4;

  int64_t window = 0;  // side in pixels; 0: automatic
  int64_t stride = 0;  // of training windows; 0: half a window
  int64_t centre = 0;  // evaluated central square of each tile, side in pixels; 0: the whole tile
  int64_t cache_mb = 1024;
  SegmentationAugmentConfig augment;

  void fields(Fields& fields);
  /// Checks rules between fields; config errors begin with `source`.
  void validate(const std::string& source) const;
};

}  // namespace modewise::data
