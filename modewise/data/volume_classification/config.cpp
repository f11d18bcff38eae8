#include "modewise/data/volume_classification/config.h"

#include "modewise/core/integer_bounds.h"

namespace modewise::data {

void VolumeConfig::fields(Fields& f) {
  f.add("path", path, "volumes: a MedMNIST NPZ, NPZ or NPY with labels, or a folder of NIfTI files",
        {.is_path = always});
  f.add("format", format, "file format; auto: from the name and the contents",
        {.one_of = {"auto", "medmnist", "npz", "npy", "nifti"}});
  f.add("images", images, "image array of an NPZ without MedMNIST's arrays");
  f.add("labels", labels,
        "labels: array of an NPZ, NPY file or CSV file; empty: \"labels\", NAME_labels.npy, "
        "labels.csv; none: a folder's labels.csv is not read",
        {.is_path = [](const std::string& text) {
          return text.find('/') != std::string::npos || text.ends_with(".csv") || text.ends_with(".tsv") ||
                 text.ends_with(".npy");
        }});
  f.add("channels", channels,
        "channel axis: none, first (after the samples) or last; auto: the last if there are 3 axes before it",
        {.one_of = {"auto", "none", "first", "last"}});
  LabelTableConfig::fields(f);
  f.add("classes", classes, "names of the classes, in the order of their labels");
  f.add("counts", counts,
        "check of the sample counts of MedMNIST's sets against the published ones: strict or any",
        {.one_of = {"strict", "any"}});
  f.add("split_ratios", split_ratios, "fractions of training, validation and test for data without a split",
        {.min = 0, .max = 1});
  f.add("validation_share", validation_share,
        "fraction of each class's training volumes used for validation if the data has no validation split",
        {.min = 0, .max = 0.9});
  f.add("split_seed", split_seed, "seed of the splits by split_ratios and validation_share",
        {.min = 0, .max = kAnyInteger});
  f.add("validation_seed", validation_seed,
        "seed that redraws the validation split from training and validation volumes, with equal class "
        "counts; 0: unchanged",
        {.min = 0, .max = kAnyInteger});
  f.add("skip_broken", skip_broken,
        "most broken NIfTI files that are left out with a warning, or below 1 the largest fraction of them",
        {.min = 0});
  f.add("allow_size", allow_size,
        "read compressed NIfTI volumes that take more than 512 MiB and 32 times their files");
  f.add("orientation", orientation, "orientation of NIfTI volumes: RAS or stored",
        {.one_of = {"RAS", "stored"}});
  f.add("size", size,
        "voxels along each axis after resampling; empty: as stored, smaller volumes padded and masked",
        {.min = 1, .max = 4096});
  f.add("spacing", spacing, "isotropic voxel size to which NIfTI volumes are resampled, in mm; 0: as stored",
        {.min = 0, .max = 1000});
  f.add("missing_values", missing_values,
        "values of missing voxels, which are masked, such as -2048 outside the field of view");
  f.add(
      "intensity", intensity,
      "scaling: unit (uint8 divided by 255, uint16 by 65535), range (intensity_range to 0…1, clipped), "
      "volume (mean 0, standard deviation 1 of each volume), none; auto: unit for NPZ and NPY files of uint8 "
      "or uint16, volume for others, such as NIfTI; chosen in training, and kept for later files",
      {.one_of = {"auto", "unit", "range", "volume", "none"}});
  f.add("intensity_range", intensity_range, "values mapped to 0 and 1 with intensity = \"range\"");
}

void AugmentConfig::fields(Fields& f) {
  f.add("flip_axes", flips, "axes along which half of the training samples are flipped",
        {.min = 0, .max = 15});
  f.add("rotate90_axes", quarter_rotations, "axes of random rotations by multiples of 90 degrees",
        {.min = 0, .max = 2});
  f.add("shift", shift, "maximum shift along each axis in voxels", {.min = 0, .max = 1024});
  f.add("rotate", rotate,
        "maximum rotation about each axis in degrees; -1: 15 for volumes with 3 axes, else 0",
        {.min = AugmentConfig::kOpenRotation, .max = 180});
  f.add("scale", scale, "maximum relative change of size", {.min = 0, .max = 0.9});
  f.add("stretch", stretch, "maximum relative change of size along each axis independently",
        {.min = 0, .max = 0.9});
  f.add("interpolation", interpolation,
        "interpolation of rotated and scaled samples: linear, or nearest (for masks and classes); auto: "
        "nearest if the training volumes have at most two values",
        {.one_of = {"auto", "linear", "nearest"}});
  f.add("shape_transform", shape_transform,
        "MedMNIST's shape_transform: voxels times U(0, 1) in training, times 0.5 in evaluation");
  f.add("contrast", contrast, "maximum relative change of all values", {.min = 0, .max = 1});
  f.add("brightness", brightness, "maximum change added to all values", {.min = 0, .max = 1e6});
  f.add("noise", noise, "standard deviation of the noise added to each voxel", {.min = 0, .max = 1e6});
  f.add("erase", erase, "fraction of training samples with a random box set to 0", {.min = 0, .max = 1});
}

void AugmentConfig::choose_rotation(int64_t axes) {
  if (rotate < 0) rotate = axes == 3 ? 15 : 0;
}

}  // namespace modewise::data
