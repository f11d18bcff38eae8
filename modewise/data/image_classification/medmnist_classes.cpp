#include "modewise/data/image_classification/medmnist_classes.h"

#include <filesystem>
#include <map>

namespace modewise::data {
namespace {

using Names = std::vector<std::string>;

const std::map<std::string, Names>& sets() {
  static const Names organs = {"bladder",     "femur-left",   "femur-right", "heart",
                               "kidney-left", "kidney-right", "liver",       "lung-left",
                               "lung-right",  "pancreas",     "spleen"};
  static const std::map<std::string, Names> all = {
      {"pathmnist",
       {"adipose", "background", "debris", "lymphocytes", "mucus", "smooth muscle", "normal colon mucosa",
        "cancer-associated stroma", "colorectal adenocarcinoma epithelium"}},
      {"dermamnist",
       {"actinic keratoses and intraepithelial carcinoma", "basal cell carcinoma",
        "benign keratosis-like lesions", "dermatofibroma", "melanoma", "melanocytic nevi",
        "vascular lesions"}},
      {"octmnist", {"choroidal neovascularization", "diabetic macular edema", "drusen", "normal"}},
      {"pneumoniamnist", {"normal", "pneumonia"}},
      {"breastmnist", {"malignant", "normal, benign"}},
      {"bloodmnist",
       {"basophil", "eosinophil", "erythroblast", "immature granulocytes", "lymphocyte", "monocyte",
        "neutrophil", "platelet"}},
      {"tissuemnist",
       {"collecting duct, connecting tubule", "distal convoluted tubule", "glomerular endothelial cells",
        "interstitial endothelial cells", "leukocytes", "podocytes", "proximal tubule segments",
        "thick ascending limb"}},
      {"organamnist", organs},
      {"organcmnist", organs},
      {"organsmnist", organs},
  };
  return all;
}

}  // namespace

std::vector<std::string> medmnist_classes(const std::string& path) {
  const std::string stem = std::filesystem::path(path).stem().string();
  const auto found = sets().find(stem.substr(0, stem.find('_')));
  return found == sets().end() ? Names{} : found->second;
}

}  // namespace modewise::data
