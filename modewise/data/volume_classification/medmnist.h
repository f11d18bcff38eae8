#pragma once
// The 3D sets of MedMNIST v2 (Yang et al., Scientific Data 2023): names, classes, and how many samples each
// release has.

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace modewise::data {

struct MedMnistSet {
  std::string_view flag;
  std::vector<std::string> classes;
  std::array<int64_t, 3> counts;        // train, validation, test of the current release (2.2.4 and later)
  std::array<int64_t, 3> older_counts;  // of releases before it, where they differ; else the same
  std::string_view older_note;          // what an older file holds that newer ones do not
};

const std::vector<MedMnistSet>& medmnist_sets();
/// The set that a file name such as "adrenalmnist3d.npz" or "adrenalmnist3d_64.npz" names; none: null.
const MedMnistSet* find_medmnist(const std::string& path);
/// "" for 28³, "_64" for 64³: what the official file names append to the flag.
std::string medmnist_size_flag(int64_t size);

}  // namespace modewise::data
