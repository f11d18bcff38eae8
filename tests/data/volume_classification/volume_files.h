#pragma once
// Helpers for tests of volume files.

#include <gmock/gmock.h>

#include <functional>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "modewise/core/error.h"
#include "modewise/data/volume_classification/volumes.h"
#include "modewise/io/arrays/npz.h"
#include "tests/data/scratch.h"

namespace modewise::data {

inline io::Array bytes_of(std::vector<int64_t> shape, int step) {
  const int64_t count = std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>());
  std::vector<uint8_t> values(static_cast<size_t>(count));
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<uint8_t>(static_cast<int>(i) * step % 256);
  return io::make_array(std::move(shape), std::span<const uint8_t>(values));
}

inline io::Array labels_of(const std::vector<uint8_t>& labels) {
  return io::make_array({std::ssize(labels), 1}, std::span<const uint8_t>(labels));
}

/// Six arrays of MedMNIST's layout with 4, 2 and 3 samples of 3 × 4 × 5 voxels.
inline std::map<std::string, io::Array> six_arrays() {
  return {{"train_images", bytes_of({4, 3, 4, 5}, 1)}, {"train_labels", labels_of({0, 1, 2, 1})},
          {"val_images", bytes_of({2, 3, 4, 5}, 3)},   {"val_labels", labels_of({2, 0})},
          {"test_images", bytes_of({3, 3, 4, 5}, 7)},  {"test_labels", labels_of({1, 1, 0})}};
}

class Volumes : public testing::Test {
 protected:
  std::string write(const std::string& name, const std::map<std::string, io::Array>& arrays) {
    const std::string path = scratch_.path(name);
    io::write_npz(path, arrays, true);
    return path;
  }
  static VolumeConfig config_of(const std::string& path) {
    VolumeConfig config;
    config.path = path;
    return config;
  }
  static std::string refusal(const VolumeConfig& config) {
    try {
      load_volumes(config);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::data) << error.what();
      return error.what();
    }
    return "";
  }
  ScratchFolder scratch_;
};

}  // namespace modewise::data
