#pragma once
// Config of volume data: source, labels, split, resampling, intensity and augmentation.

#include <cstdint>
#include <string>
#include <vector>

#include "modewise/core/fields.h"
#include "modewise/data/label_table_config.h"

namespace modewise::data {

struct VolumeConfig : LabelTableConfig {
  // `labels` of the table is a label array of an NPZ, or NPY file, too.
  std::string path;                  // NPZ, NPY, a NIfTI file or a folder of them
  std::string format = "auto";       // auto, medmnist, npz, npy, nifti
  std::string images = "images";     // image array of an NPZ without MedMNIST's arrays
  std::string channels = "auto";     // channel axis of the images: auto, none, first, last
  std::vector<std::string> classes;  // names, in the order of the labels
  std::string counts = "strict";     // sample counts of MedMNIST's sets: strict, any

  std::vector<double> split_ratios = {0.7, 0.1, 0.2};  // stratified by class, for volumes without a split
  double validation_share = 0.1;  // of each class's training volumes, without a validation split
  int64_t split_seed = 1;
  int64_t validation_seed = 0;  // redraws the validation split; 0: unchanged

  double skip_broken = 0;   // most broken files that are left out, or below 1 their largest fraction
  bool allow_size = false;  // reads compressed NIfTI volumes of any size

  std::string orientation = "RAS";  // of NIfTI volumes: RAS, stored
  std::vector<int64_t> size;        // voxels after resampling; empty: as stored, padded to the largest
  double spacing = 0;               // isotropic voxel size of NIfTI volumes in mm; 0: as stored

  std::vector<double> missing_values;  // values of missing voxels, such as -2048 outside the field of view
  std::string intensity = "auto";      // auto, unit, range, volume, none
  std::vector<double> intensity_range = {0, 1};  // of "range": mapped to 0 and 1, clipped
  bool trained = false;             // no field: the classes are a run's, and volumes need no label
  bool classes_are_labels = false;  // no field: classes that are numbers are the labels of arrays
  double trained_unit = 0;          // no field: divisor of "unit" in the run's training; 0: by the dtype

  void fields(Fields& f);
};

struct AugmentConfig {
  static constexpr double kOpenRotation = -1;  // 15 for volumes with 3 axes, 0 for others

  std::vector<int64_t> flips;              // axes flipped, each in half of the samples
  std::vector<int64_t> quarter_rotations;  // axes of random rotations by 0, 90, 180 or 270 degrees
  int64_t shift = 0;                       // maximum shift along each axis, in voxels
  double rotate = 0;                       // maximum rotation about each axis, in degrees; kOpenRotation
  double scale = 0;                        // maximum relative change of size
  double stretch = 0;                      // maximum relative change of size along each axis independently
  std::string interpolation = "auto";      // linear, nearest; auto: nearest if two_valued
  bool shape_transform = false;            // MedMNIST's: times U(0, 1) in training, times 0.5 in evaluation
  double contrast = 0;                     // maximum relative change of all values
  double brightness = 0;                   // maximum change added to all values
  double noise = 0;                        // std of noise added to each voxel
  double erase = 0;                        // fraction of samples with a random box set to 0

  void fields(Fields& f);
  /// Sets an open rotation for volumes with this number of axes.
  void choose_rotation(int64_t axes);
};

}  // namespace modewise::data
