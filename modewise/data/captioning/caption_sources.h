#pragma once
// Steps of load_captions(): list the images, split them, read their pixels or features.

#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "modewise/data/captioning/caption_set.h"
#include "modewise/data/file_matcher.h"

namespace modewise::data {

/// A folder of images that captions files name.
class CaptionFolder {
 public:
  /// "": no folder, since features replace the images. Throws no_input if it does not exist.
  explicit CaptionFolder(std::string folder);
  const std::string& path() const { return folder_; }

  /// The path, relative to the folder, of the image that a captions file names: that path, or the only image
  /// that FileMatcher finds for it; nothing: none. Data error, starting with `source`, for several.
  std::optional<std::string> find(const std::string& name, const std::string& source);
  /// Images of the folder that find() has not returned.
  std::vector<std::string> unnamed();

 private:
  void list();

  std::string folder_;
  bool listed_ = false;
  std::vector<std::string> files_;
  std::optional<FileMatcher> matcher_;
  std::set<std::string> named_;
};

/// Adds the images of a captions file, stored in `folder`, to the set; returns their indices. Images without
/// a file are left out with a warning, or a data error with config.strict. Data errors: no image has a file;
/// a file name that leads out of the folder, unless config.allow_outside accepts it.
std::vector<int64_t> list_captions(CaptionSet& set, const std::string& path, CaptionFolder& folder,
                                   const CaptionConfig& config);
/// Splits `candidates`: by id files, the others by data.split_ratios. Config error for fractions that sum to
/// more than 1; data errors for unknown ids and ids in two files.
void split_captions(CaptionSet& set, const std::vector<int64_t>& candidates, const CaptionConfig& config);
/// Removes the images for which `out` is true from the set.
void leave_out(CaptionSet& set, const std::vector<bool>& out);
/// Removes the test images from the set.
void leave_test_out(CaptionSet& set);

/// Path of each image.
using ImagePaths = std::vector<std::filesystem::path>;
/// [N, S, S, 3] uint8 of the set's images. Broken ones are removed from the set up to config.skip_broken.
at::Tensor read_pixels(CaptionSet& set, const ImagePaths& files, const CaptionConfig& config);
/// [N, h, w, F] float32, in the order of the set's images. Data errors: arrays that are missing or have
/// another shape, a duplicate id, an image without features.
at::Tensor read_features(const std::string& path, const CaptionSet& set);

}  // namespace modewise::data
