#pragma once
// MedMNIST v2's 3D sets (Yang et al., Scientific Data 2023): names, classes and sample counts.

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
  std::array<int64_t, 3> older_counts;  // of older releases
  std::string_view older_note;          // difference of older files
};

const std::vector<MedMnistSet>& medmnist_sets();
/// The set of a file name such as "adrenalmnist3d.npz" or "adrenalmnist3d_64.npz"; null: none.
const MedMnistSet* find_medmnist(const std::string& path);
/// Suffix of official file names: "" for 28³, "_64" for 64³.
std::string medmnist_size_flag(int64_t size);

}  // namespace modewise::data
