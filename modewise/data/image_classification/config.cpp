#include "modewise/data/image_classification/config.h"

#include "modewise/core/integer_bounds.h"

namespace modewise::data {

void ImageConfig::fields(Fields& f) {
  f.add("path", path,
        "pictures: a folder of CIFAR-10's binary batches, a folder with a folder of PNG and JPEG files for "
        "each "
        "class, or an NPZ",
        {.is_path = always});
  f.add("format", format, "auto goes by the name and what is inside",
        {.one_of = {"auto", "cifar", "folders", "npz"}});
  f.add("size", size, "height and width of all pictures; empty: their own, where all are alike",
        {.min = 1, .max = 4096});
  f.add("fit", fit,
        "pictures of another shape: crop (the largest part in the middle that has the shape) or stretch",
        {.one_of = {"crop", "stretch"}});
  f.add("channels", channels, "grey, color, or auto: grey where no picture has a color",
        {.one_of = {"auto", "grey", "color"}});
  f.add("classes", classes, "names of the classes, in the order of their labels");
  f.add("split_ratios", split_ratios, "shares of training, validation and test where the data has no split",
        {.min = 0, .max = 1});
  f.add("validation_share", validation_share,
        "share of each class's training pictures that becomes validation where the data has no such part",
        {.min = 0, .max = 0.9});
  f.add("split_seed", split_seed, "seed of what is split here", {.min = 0, .max = kAnyInteger});
  f.add("normalize", normalize,
        "train (mean 0 and deviation 1 of each channel over the training pictures) or unit (0 to 1)",
        {.one_of = {"train", "unit"}});
  f.add("allow_size", allow_size, "decodes pictures that take more memory than twice their file and 64 MiB");
}

void ImageAugmentConfig::fields(Fields& f) {
  f.add("flip", flip, "mirrors half of the training pictures, left to right");
  f.add("crop", crop,
        "black pixels around a training picture, out of which its size is cut at a random place; 0: none",
        {.min = 0, .max = 1024});
}

}  // namespace modewise::data
