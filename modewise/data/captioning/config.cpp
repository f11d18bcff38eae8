#include "modewise/data/captioning/config.h"

#include "modewise/core/integer_bounds.h"

namespace modewise::data {

void CaptionConfig::fields(Fields& f) {
  f.add("path", path, "captions: COCO's or Karpathy's JSON, a table, or lines (docs/captioning.md)",
        {.is_path = always});
  f.add("images", images, "folder of its PNG and JPEG files", {.is_path = always});
  f.add("test_path", test_path, "captions of a separate test set", {.is_path = always});
  f.add("test_images", test_images, "folder of the test images; empty: data.images", {.is_path = always});
  f.add("features", features,
        "NPZ with features instead of pixels: ids [n] and features [n, height, width, features]",
        {.is_path = always});
  f.add("validation_ids", validation_ids,
        "file with the ids or file names of the validation images, one per line", {.is_path = always});
  f.add("test_ids", test_ids, "file with the ids or file names of the test images, one per line",
        {.is_path = always});
  f.add(
      "split_ratios", split_ratios,
      "fractions of training, validation and test among the images that no file assigns to a split; a split "
      "with its own file gets none",
      {.min = 0, .max = 1});
  f.add("split_seed", split_seed, "seed of the split by split_ratios", {.min = 0, .max = kAnyInteger});
  f.add("size", size, "image height and width in pixels", {.min = 1, .max = 4096});
  f.add("fit", fit, "images that are not square: crop (the largest centred square) or stretch",
        {.one_of = {"crop", "stretch"}});
  f.add("min_count", min_count,
        "minimum frequency of a word in the training captions to be in the vocabulary", {.min = 1});
  f.add("strict", strict,
        "refuse captions of images that are not in the folder, and images of the folder without captions in "
        "the "
        "list; otherwise these are left out with a count");
  f.add("allow_missing", allow_missing, "of earlier versions, without effect: data.strict is its contrary");
  f.add("skip_broken", skip_broken,
        "most broken images that are left out with a warning, or below 1 the largest fraction of them",
        {.min = 0});
  f.add("allow_outside", allow_outside, "allow absolute image paths and paths with .., outside the folder");
  f.add("allow_size", allow_size, "decode images that need more memory than twice their file and 64 MiB");
}

}  // namespace modewise::data
