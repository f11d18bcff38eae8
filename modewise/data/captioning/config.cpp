#include "modewise/data/captioning/config.h"

#include "modewise/core/integer_bounds.h"

namespace modewise::data {

void CaptionConfig::fields(Fields& f) {
  f.add("path", path, "captions: JSON of COCO's form, with the lists images and annotations",
        {.is_path = always});
  f.add("images", images, "folder of the PNG and JPEG files that it names", {.is_path = always});
  f.add("test_path", test_path, "captions of the test pictures, where they have a file of their own",
        {.is_path = always});
  f.add("test_images", test_images, "folder of the test pictures; empty: data.pictures",
        {.is_path = always});
  f.add("features", features,
        "NPZ of features in place of pixels: ids [n] and features [n, height, width, features]",
        {.is_path = always});
  f.add("validation_ids", validation_ids, "file with the ids of the validation pictures, one a line",
        {.is_path = always});
  f.add("test_ids", test_ids, "file with the ids of the test pictures, one a line", {.is_path = always});
  f.add("split_ratios", split_ratios,
        "shares of training, validation and test of the pictures that no file gives to a part; a part that "
        "has its own file gets no share",
        {.min = 0, .max = 1});
  f.add("split_seed", split_seed, "seed of what is split here", {.min = 0, .max = kAnyInteger});
  f.add("size", size, "pixels of each side of the pictures", {.min = 1, .max = 4096});
  f.add("fit", fit, "pictures of another shape: crop (the largest square in the middle) or stretch",
        {.one_of = {"crop", "stretch"}});
  f.add("min_count", min_count, "times that a word stands in the training captions to be learnt", {.min = 1});
  f.add("allow_missing", allow_missing, "leaves out the images whose picture is not in the folder");
  f.add("allow_outside", allow_outside,
        "reads pictures that the captions name by absolute paths or paths with .., outside the folder");
  f.add("allow_size", allow_size, "decodes pictures that take more memory than twice their file and 64 MiB");
}

}  // namespace modewise::data
