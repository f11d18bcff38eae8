#pragma once
// Which image belongs to which mask, and what split a data set's own folders or its papers give.

#include <optional>
#include <string>
#include <vector>

#include "modewise/data/segmentation/blocks.h"
#include "modewise/data/segmentation/config.h"

namespace modewise::data {

struct SceneFile {
  std::string name;  // relative to the folder
  std::string image, mask;
  std::optional<SceneSplit> split;  // of data sets whose files are split as a whole
};

struct SceneFiles {
  std::vector<SceneFile> files;
  std::string layout;  // ssl4eo | folder | scene
  std::string rule;    // how they were split, for the log; empty: not yet
};

/// Finds what `config` names. Without `with_masks` only images are looked for. Errors: no_input for paths
/// that are not there; data for an image without a mask, a folder without images, a split whose folders are
/// missing.
SceneFiles find_scene_files(const SegmentationDataConfig& config, bool with_masks);

}  // namespace modewise::data
