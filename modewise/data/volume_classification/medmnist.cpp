#include "modewise/data/volume_classification/medmnist.h"

#include <fmt/format.h>

#include <filesystem>

namespace modewise::data {

const std::vector<MedMnistSet>& medmnist_sets() {
  static const std::vector<MedMnistSet> sets = {
      {"organmnist3d",
       {"liver", "kidney-right", "kidney-left", "femur-right", "femur-left", "bladder", "heart", "lung-right",
        "lung-left", "spleen", "pancreas"},
       {971, 161, 610},
       {972, 161, 610},
       "a blank sample, removed in release 2.2.4"},
      {"nodulemnist3d", {"benign", "malignant"}, {1158, 165, 310}, {1158, 165, 310}, ""},
      {"adrenalmnist3d", {"normal", "hyperplasia"}, {1188, 98, 298}, {1188, 98, 298}, ""},
      {"fracturemnist3d",
       {"buckle rib fracture", "nondisplaced rib fracture", "displaced rib fracture"},
       {1027, 103, 240},
       {1027, 103, 240},
       ""},
      {"vesselmnist3d",
       {"vessel", "aneurysm"},
       {1335, 191, 382},
       {1335, 192, 382},
       "a blank sample, removed in release 2.2.4"},
      {"synapsemnist3d",
       {"inhibitory synapse", "excitatory synapse"},
       {1230, 177, 352},
       {1230, 177, 352},
       ""},
  };
  return sets;
}

const MedMnistSet* find_medmnist(const std::string& path) {
  const std::string stem = std::filesystem::path(path).stem().string();
  for (const MedMnistSet& set : medmnist_sets())
    if (stem == set.flag || stem == std::string(set.flag) + "_64") return &set;
  return nullptr;
}

std::string medmnist_size_flag(int64_t size) {
  return size == 28 ? "" : fmt::format("_{}", size);
}

}  // namespace modewise::data
