#pragma once
// Config of captioning data: images, captions, splits, image size and vocabulary.

#include <cstdint>
#include <string>
#include <vector>

#include "modewise/core/fields.h"

namespace modewise::data {

struct CaptionConfig {
  std::string path;                                    // captions in a format of io/captions
  std::string images;                                  // folder of the image files
  std::string test_path, test_images;                  // the same for a separate test set
  std::string features;                                // NPZ with features instead of pixels
  std::string validation_ids, test_ids;                // files of image ids or names, one per line
  std::vector<double> split_ratios = {0.8, 0.1, 0.1};  // of images that no file assigns
  int64_t split_seed = 1;
  int64_t size = 96;            // image height and width in pixels
  std::string fit = "stretch";  // crop
  int64_t min_count = 1;        // minimum frequency of a vocabulary word
  bool allow_missing = false;   // of earlier versions; without effect
  bool strict = false;          // refuses listed images without a file, and files that are not listed
  double skip_broken = 0;       // most broken images that are left out, or below 1 their largest fraction
  bool allow_outside = false;   // allows image paths outside the folder
  bool allow_size = false;      // decodes images of any size
  bool other = false;           // no field: other data than the training's, of which id files may name none

  void fields(Fields& f);
};

}  // namespace modewise::data
