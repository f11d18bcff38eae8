#pragma once
// Config of image data: source, size, split, normalization and augmentation.

#include <cstdint>
#include <string>
#include <vector>

#include "modewise/core/fields.h"
#include "modewise/data/label_table_config.h"

namespace modewise::data {

struct ImageConfig : LabelTableConfig {
  std::string path;                  // folder of CIFAR-10 batches or of images, or NPZ
  std::string format = "auto";       // auto, cifar, folders, npz
  std::vector<int64_t> size;         // height and width; empty: those of the images, which must be equal
  std::string fit = "crop";          // crop
  std::string channels = "auto";     // auto, grey, color
  std::vector<std::string> classes;  // names, in the order of the labels
  std::vector<double> split_ratios = {0.7, 0.1, 0.2};  // stratified by class, for images without a split
  double validation_share = 0.1;  // of each class's training images, without a validation split
  int64_t split_seed = 1;
  std::string normalize = "train";  // train, unit
  double skip_broken = 0;           // most broken files that are left out, or below 1 their largest fraction
  bool allow_size = false;          // decodes images of any size
  bool trained = false;             // no field: the classes are a run's, and images need no label
  bool classes_are_labels = false;  // no field: classes that are numbers are the labels of arrays

  void fields(Fields& f);
};

struct ImageAugmentConfig {
  bool flip = true;  // horizontal flip of half of the training images
  int64_t crop = 4;  // padding of the random crop, in pixels; 0: no crop

  void fields(Fields& f);
};

}  // namespace modewise::data
