#pragma once
// What captioned pictures are read, how they are split, and what becomes of their pixels and words.

#include <cstdint>
#include <string>
#include <vector>

#include "modewise/core/fields.h"

namespace modewise::data {

struct CaptionConfig {
  std::string path;                                    // captions of COCO's form
  std::string images;                                // folder of the files that it names
  std::string test_path, test_images;                // the same of the test pictures, where these are apart
  std::string features;                                // NPZ of features in place of pixels
  std::string validation_ids, test_ids;                // files of ids, one a line
  std::vector<double> split_ratios = {0.8, 0.1, 0.1};  // of the pictures that no file gives to a part
  int64_t split_seed = 1;
  int64_t size = 96;            // pixels of each side
  std::string fit = "stretch";  // crop, stretch: what pictures of another shape become
  int64_t min_count = 1;        // of a word in the training captions, to be in the vocabulary
  bool allow_missing = false;   // leaves out images that have no picture
  bool allow_outside = false;   // reads pictures outside the folder, where the captions name such
  bool allow_size = false;      // decodes pictures of any size

  void fields(Fields& f);
};

}  // namespace modewise::data
