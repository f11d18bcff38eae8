#pragma once
// Helpers for tests of segmentation data: images and masks in a scratch folder.

#include <fmt/format.h>

#include <functional>
#include <string>
#include <vector>

#include "modewise/data/segmentation/files.h"
#include "modewise/io/arrays/npy.h"
#include "tests/data/scratch.h"

namespace modewise::data {

/// Float image [h, w, c] with values 1000·row + column + band / 10.

inline void write_image(const ScratchFolder& folder, const std::string& name, int64_t height, int64_t width,
                        int64_t bands) {
  std::vector<float> values;
  for (int64_t row = 0; row < height; ++row)
    for (int64_t column = 0; column < width; ++column)
      for (int64_t band = 0; band < bands; ++band)
        values.push_back(static_cast<float>(1000 * row + column) + static_cast<float>(band) / 10);
  folder.write(name, io::format_npy(io::make_array({height, width, bands}, std::span<const float>(values))));
}

inline void write_mask(const ScratchFolder& folder, const std::string& name, int64_t height, int64_t width,
                       const std::function<int64_t(int64_t, int64_t)>& id) {
  std::vector<int64_t> values;
  for (int64_t row = 0; row < height; ++row)
    for (int64_t column = 0; column < width; ++column) values.push_back(id(row, column));
  folder.write(name, io::format_npy(io::make_array({height, width}, std::span<const int64_t>(values))));
}

inline SegmentationDataConfig plain(const std::string& path, const std::string& masks) {
  SegmentationDataConfig config;
  config.path = path;
  config.masks = masks;
  config.scale = "none";
  return config;
}

/// A folder of tiles of 8 × 8 pixels with masks of 0 and 1.

struct Tiles {
  ScratchFolder folder;
  SegmentationDataConfig config;
  explicit Tiles(const std::vector<std::string>& names) {
    for (const std::string& name : names) {
      write_image(folder, "images/" + name + ".npy", 8, 8, 1);
      write_mask(folder, "masks/" + name + ".npy", 8, 8, [](int64_t r, int64_t) { return r % 2; });
    }
    config = plain(folder.path("images"), folder.path("masks"));
  }
  SceneFiles files() const { return find_scene_files(config, true); }
  std::string refused(ErrorKind kind) const {
    return error_of(kind, [&] { files(); });
  }
};

}  // namespace modewise::data
