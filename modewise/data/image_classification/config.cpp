#include "modewise/data/image_classification/config.h"

#include "modewise/core/integer_bounds.h"

namespace modewise::data {

void ImageConfig::fields(Fields& f) {
  f.add("path", path,
        "images: a folder of CIFAR-10's binary batches, a folder with one folder of PNG and JPEG files for "
        "each class or with a table of labels, or an NPZ",
        {.is_path = always});
  f.add("format", format, "file format; auto: from the name and the contents",
        {.one_of = {"auto", "cifar", "folders", "npz"}});
  f.add(
      "labels", labels,
      "table of the labels of a folder of images (CSV): a column of files and one of classes, optionally of "
      "splits and groups; empty: labels.csv, if the folder has it; none: folders are the classes",
      {.is_path = [](const std::string& text) { return text != "none"; }});
  LabelTableConfig::fields(f);
  f.add("size", size, "height and width of the images in pixels; empty: their own, which must be equal",
        {.min = 1, .max = 4096});
  f.add("fit", fit, "images of another aspect ratio: crop (the largest centred part) or stretch",
        {.one_of = {"crop", "stretch"}});
  f.add("channels", channels, "grey, color, or auto: grey if no image has colors",
        {.one_of = {"auto", "grey", "color"}});
  f.add("classes", classes, "names of the classes, in the order of their labels");
  f.add("split_ratios", split_ratios, "fractions of training, validation and test for data without a split",
        {.min = 0, .max = 1});
  f.add("validation_share", validation_share,
        "fraction of each class's training images used for validation if the data has no validation split",
        {.min = 0, .max = 0.9});
  f.add("split_seed", split_seed, "seed of the splits by split_ratios and validation_share",
        {.min = 0, .max = kAnyInteger});
  f.add("normalize", normalize,
        "train (mean 0 and standard deviation 1 of each channel over the training images) or unit (0 to 1)",
        {.one_of = {"train", "unit"}});
  f.add("skip_broken", skip_broken,
        "most broken files that are left out with a warning, or below 1 the largest fraction of them",
        {.min = 0});
  f.add("allow_size", allow_size, "decode images that need more memory than twice their file and 64 MiB");
}

void ImageAugmentConfig::fields(Fields& f) {
  f.add("flip", flip, "horizontal flip of half of the training images");
  f.add("crop", crop, "padding of the random crop of training images, in black pixels; 0: no crop",
        {.min = 0, .max = 1024});
}

}  // namespace modewise::data
