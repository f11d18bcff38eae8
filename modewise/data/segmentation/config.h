#pragma once
// Which images and masks a segmenter learns from, how they are split, scaled and cut.

#include <cstdint>
#include <string>
#include <vector>

#include "modewise/core/fields.h"

namespace modewise::data {

/// What training makes of each window; every random number is keyed by seed and batch.
struct SegmentationAugmentConfig {
  double crop = 1;         // the least share of a window's area that is cut out and resized; 1: no resizing
  double stretch = 1.333;  // the most that width : height of the cut part differs from 1
  bool flips = true;
  bool turns = true;  // quarter turns
  void fields(Fields& fields);
};

struct SegmentationDataConfig {
  std::string path, masks;      // a file or a folder each
  std::string layout = "auto";  // auto | ssl4eo | folder | scene
  std::string axes = "auto";    // of NPY arrays: auto | hw | hwc | chw | thwc | tchw
  std::string image_suffix, mask_suffix;
  std::vector<int64_t> bands;  // counted from 0; empty: all
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
  std::vector<int64_t> blocks;  // rows and columns of the grid; empty: chosen
  int64_t guard = 4;

  int64_t window = 0;  // pixels a side; 0: chosen
  int64_t stride = 0;  // of training windows; 0: half a window
  int64_t centre = 0;  // judge the central part of each tile alone, pixels a side; 0: all of it
  int64_t cache_mb = 1024;
  SegmentationAugmentConfig augment;

  void fields(Fields& fields);
  /// The rules that tie fields together; config errors that open with `source`.
  void validate(const std::string& source) const;
};

}  // namespace modewise::data
