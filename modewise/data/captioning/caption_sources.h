#pragma once
// Steps of load_captions(): list the images, split them, read their pixels or features.

#include <filesystem>
#include <string>
#include <vector>

#include "modewise/data/captioning/caption_set.h"

namespace modewise::data {

/// Adds the images of a captions file, stored in `folder` ("" with features), to the set; returns their
/// indices. Data errors: an image file that is missing, a file name that leads out of the folder;
/// config.allow_missing and config.allow_outside accept them.
std::vector<int64_t> list_captions(CaptionSet& set, const std::string& path, const std::string& folder,
                                   const CaptionConfig& config);
/// Splits `candidates`: by id files, the others by data.split_ratios. Config error for fractions that sum to
/// more than 1; data errors for unknown ids and ids in two files.
void split_captions(CaptionSet& set, const std::vector<int64_t>& candidates, const CaptionConfig& config);
/// Removes the test images from the set.
void leave_test_out(CaptionSet& set);

/// Path of each image.
using ImagePaths = std::vector<std::filesystem::path>;
/// [N, S, S, 3] uint8.
at::Tensor read_pixels(const ImagePaths& files, const CaptionConfig& config);
/// [N, h, w, F] float32, in the order of the set's images. Data errors: arrays that are missing or have
/// another shape, a duplicate id, an image without features.
at::Tensor read_features(const std::string& path, const CaptionSet& set);

}  // namespace modewise::data
