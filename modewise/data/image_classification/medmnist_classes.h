#pragma once
// The names of the classes of MedMNIST's 2D sets (Yang et al., Scientific Data 2023), which their files do
// not hold.

#include <string>
#include <vector>

namespace modewise::data {

/// Of the set that a file name such as "pathmnist.npz" or "pathmnist_128.npz" names; none for other files.
std::vector<std::string> medmnist_classes(const std::string& path);

}  // namespace modewise::data
