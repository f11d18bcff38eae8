#pragma once
// Lists image and mask files, with the split given by folders or by the data set's paper.

#include <optional>
#include <string>
#include <vector>

#include "modewise/data/segmentation/blocks.h"
#include "modewise/data/segmentation/config.h"

namespace modewise::data {

struct SceneFile {
  std::string name;  // relative to the folder
  std::string image, mask;
  std::optional<SceneSplit> split;  // for data sets split by whole files
};

struct SceneFiles {
  std::vector<SceneFile> files;
  std::string layout;  // ssl4eo | folder | scene
  std::string rule;    // split rule for the log; empty: not split yet
  std::vector<std::string> notes = {};
};

/// Lists the files of `config`; if there are folders of splits, other images are left out, with a note.
/// Without `with_masks` only images, without `split` no split. Errors: no_input for paths that do not exist;
/// data for an image without a mask, a folder without images, missing folders of a split.
SceneFiles find_scene_files(const SegmentationDataConfig& config, bool with_masks, bool split = true);

}  // namespace modewise::data
