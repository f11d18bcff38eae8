#pragma once
// What volumes are read, how they are split and scaled, and how training samples are varied.

#include <cstdint>
#include <string>
#include <vector>

#include "modewise/core/fields.h"

namespace modewise::data {

struct VolumeConfig {
  std::string path;               // NPZ, NPY, a NIfTI file or a folder of them
  std::string format = "auto";    // auto, medmnist, npz, npy, nifti
  std::string images = "images";  // arrays of an NPZ without MedMNIST's six
  std::string labels;             // array of labels, NPY of labels, or CSV of labels
  std::string channels = "auto";  // whether the images' last axis holds channels: auto, none, last
  std::string file_column, label_column, split_column;  // of the CSV; "" finds them by their names
  std::vector<std::string> classes;                     // names, in the order of the labels
  std::string counts = "strict";                        // of MedMNIST's sets: strict, any

  std::vector<double> split_ratios = {0.7, 0.1, 0.2};  // of volumes without a split, a class at a time
  int64_t split_seed = 1;
  int64_t validation_seed = 0;  // deals the volumes of training and validation anew; 0: they stay as they are

  std::string orientation = "RAS";  // of NIfTI volumes: RAS, stored
  std::vector<int64_t> size;        // resampled to this many voxels; empty: as stored, padded to the largest
  double spacing = 0;               // of NIfTI volumes: resampled to cubes of this many mm; 0: as stored

  std::vector<double>
      missing_values;              // voxels of these values are missing, such as -2048 beyond a scan's field
  std::string intensity = "auto";  // auto, unit, range, volume, none
  std::vector<double> intensity_range = {0, 1};  // of "range": what becomes 0 and 1, clipped

  void fields(Fields& f);
};

struct AugmentConfig {
  std::vector<int64_t> flips;          // axes mirrored, each in half of the samples
  std::vector<int64_t> quarter_turns;  // axes of turns by 0, 90, 180 or 270 degrees
  int64_t shift = 0;                   // at most so many voxels along each axis
  double rotate = 0;                   // degrees about each axis, at most
  double scale = 0;                    // relative change of size, at most
  double stretch = 0;                  // relative change of size of each axis on its own, at most
  std::string interpolation = "auto";  // linear, nearest: of turned and resized samples; auto: two_valued
  bool shape_transform = false;        // MedMNIST's: times U(0, 1) in training, times 0.5 in evaluation
  double contrast = 0;                 // relative change of all values, at most
  double brightness = 0;               // added to all values, at most
  double noise = 0;                    // deviation of noise added to each voxel
  double erase = 0;                    // share of the samples in which a box is set to 0

  void fields(Fields& f);
  bool moves_voxels() const;
};

}  // namespace modewise::data
