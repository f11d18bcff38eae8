#pragma once
// Class names of MedMNIST's 2D sets (Yang et al., Scientific Data 2023), which the files do not contain.

#include <string>
#include <vector>

namespace modewise::data {

/// Class names for a file name such as "pathmnist.npz" or "pathmnist_128.npz"; empty for other files.
std::vector<std::string> medmnist_classes(const std::string& path);

}  // namespace modewise::data
