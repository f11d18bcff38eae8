#pragma once
// What pictures are read, how they are split and measured, and how training ones are varied.

#include <cstdint>
#include <string>
#include <vector>

#include "modewise/core/fields.h"

namespace modewise::data {

struct ImageConfig {
  std::string path;                  // folder of CIFAR-10's batches or of pictures by class, or NPZ
  std::string format = "auto";       // auto, cifar, folders, npz
  std::vector<int64_t> size;         // height and width of all pictures; empty: theirs, which must agree
  std::string fit = "crop";          // crop, stretch: what pictures of another shape become
  std::string channels = "auto";     // auto, grey, color
  std::vector<std::string> classes;  // names, in the order of the labels
  std::vector<double> split_ratios = {0.7, 0.1, 0.2};  // of pictures without a split, a class at a time
  double validation_share = 0.1;  // of each class's training pictures, where there is no validation part
  int64_t split_seed = 1;
  std::string normalize = "train";  // train, unit
  bool allow_size = false;          // decodes pictures of any size

  void fields(Fields& f);
};

struct ImageAugmentConfig {
  bool flip = true;  // mirrors half of the training pictures, left to right
  int64_t crop = 4;  // black pixels put around a training picture before its size is cut out again; 0: none

  void fields(Fields& f);
};

}  // namespace modewise::data
