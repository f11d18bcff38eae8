#pragma once
// What load_captions() is made of: the pictures that files list, the parts they belong to, their pixels.

#include <filesystem>
#include <string>
#include <vector>

#include "modewise/data/captioning/caption_set.h"

namespace modewise::data {

/// Adds the images of one captions' file whose pictures lie in `folder` ("" where features stand in for them)
/// to the set; returns their numbers in it. Data errors: a picture that is not in the folder, a file name
/// that leads out of it; config.allow_missing and config.allow_outside accept them.
std::vector<int64_t> list_captions(CaptionSet& set, const std::string& path, const std::string& folder,
                                   const CaptionConfig& config);
/// Gives `candidates` to the parts: by files of ids, the others by shares. Config error for shares that sum
/// to more than 1; data errors for ids that are not among them or stand in two files.
void split_captions(CaptionSet& set, const std::vector<int64_t>& candidates, const CaptionConfig& config);
/// Takes the test pictures out of the set.
void leave_test_out(CaptionSet& set);

/// Where the picture of each entry lies.
using ImagePaths = std::vector<std::filesystem::path>;
/// [N, S, S, 3] uint8.
at::Tensor read_pixels(const ImagePaths& files, const CaptionConfig& config);
/// [N, h, w, F] float32, in the order of the set's pictures. Data errors: arrays that are missing or of
/// another shape, an id that stands twice, a picture without features.
at::Tensor read_features(const std::string& path, const CaptionSet& set);

}  // namespace modewise::data
