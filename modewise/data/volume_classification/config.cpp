#include "modewise/data/volume_classification/config.h"

#include "modewise/core/integer_bounds.h"

namespace modewise::data {

void VolumeConfig::fields(Fields& f) {
  f.add("path", path, "volumes: a MedMNIST NPZ, NPZ or NPY with labels, or a folder of NIfTI files",
        {.is_path = always});
  f.add("format", format, "auto goes by the name and what is inside",
        {.one_of = {"auto", "medmnist", "npz", "npy", "nifti"}});
  f.add("images", images, "array of an NPZ that holds the volumes, where it has not MedMNIST's six");
  f.add("labels", labels,
        "array of an NPZ, NPY file or CSV file that holds the labels; empty: \"labels\", NAME_labels.npy, "
        "labels.csv",
        {.is_path = [](const std::string& text) {
          return text.find('/') != std::string::npos || text.ends_with(".csv") || text.ends_with(".npy");
        }});
  f.add("channels", channels,
        "whether the last axis of the volumes holds channels; auto: where there are 3 axes before it",
        {.one_of = {"auto", "none", "last"}});
  f.add("file_column", file_column, "column of the CSV that names the files; empty finds it");
  f.add("label_column", label_column, "column of the CSV that holds the labels; empty finds it");
  f.add("split_column", split_column,
        "column of the CSV that says train, validation or test; empty finds it");
  f.add("classes", classes, "names of the classes, in the order of their labels");
  f.add("counts", counts, "whether MedMNIST's sets must have the numbers of samples they were published with",
        {.one_of = {"strict", "any"}});
  f.add("split_ratios", split_ratios, "shares of training, validation and test where the data has no split",
        {.min = 0, .max = 1});
  f.add("split_seed", split_seed, "seed of that split", {.min = 0, .max = kAnyInteger});
  f.add(
      "validation_seed", validation_seed,
      "deals the training and validation volumes of the split anew, as many of each class to validate on; 0: "
      "they stay as they are",
      {.min = 0, .max = kAnyInteger});
  f.add("orientation", orientation, "of NIfTI volumes: turned to RAS, or as stored",
        {.one_of = {"RAS", "stored"}});
  f.add("size", size,
        "voxels along each axis, resampled; empty: as stored, smaller volumes padded and masked",
        {.min = 1, .max = 4096});
  f.add("spacing", spacing, "NIfTI volumes resampled to cubes of this many mm; 0: as stored",
        {.min = 0, .max = 1000});
  f.add("missing_values", missing_values,
        "voxels of these values are missing and masked, such as -2048 beyond a scan's field of view");
  f.add("intensity", intensity,
        "unit (integers by their range), range (intensity_range to 0…1, clipped), volume (mean 0, deviation "
        "1 of "
        "each volume), none; auto: unit for integers, volume for others",
        {.one_of = {"auto", "unit", "range", "volume", "none"}});
  f.add("intensity_range", intensity_range, "what becomes 0 and 1 with intensity = \"range\"");
}

void AugmentConfig::fields(Fields& f) {
  f.add("flip_axes", flips, "axes mirrored in half of the training samples", {.min = 0, .max = 15});
  f.add("rotate90_axes", quarter_turns,
        "axes about which training samples are turned by a multiple of 90 degrees", {.min = 0, .max = 2});
  f.add("shift", shift, "voxels along each axis by which training samples are moved, at most",
        {.min = 0, .max = 1024});
  f.add("rotate", rotate, "degrees about each axis by which they are turned, at most",
        {.min = 0, .max = 180});
  f.add("scale", scale, "relative change of their size, at most", {.min = 0, .max = 0.9});
  f.add("stretch", stretch, "relative change of their size along each axis on its own, at most",
        {.min = 0, .max = 0.9});
  f.add(
      "interpolation", interpolation,
      "of turned and resized samples: linear, or nearest, which keeps masks and classes crisp; auto: nearest "
      "where the training volumes hold two values at most",
      {.one_of = {"auto", "linear", "nearest"}});
  f.add("shape_transform", shape_transform,
        "MedMNIST's: all voxels times a random number of 0…1 in training, times 0.5 in evaluation");
  f.add("contrast", contrast, "relative change of all values, at most", {.min = 0, .max = 1});
  f.add("brightness", brightness, "added to all values, at most", {.min = 0, .max = 1e6});
  f.add("noise", noise, "deviation of the noise added to each voxel", {.min = 0, .max = 1e6});
  f.add("erase", erase, "share of the training samples in which a random box is set to 0",
        {.min = 0, .max = 1});
}

bool AugmentConfig::moves_voxels() const {
  return !flips.empty() || !quarter_turns.empty() || shift > 0 || rotate > 0 || scale > 0 || stretch > 0;
}

}  // namespace modewise::data
