#include "modewise/data/segmentation/config.h"

#include <cstdlib>

#include "modewise/core/error.h"
#include "modewise/core/integer_bounds.h"

namespace modewise::data {

void SegmentationAugmentConfig::fields(Fields& f) {
  f.add("crop", crop,
        "minimum area of the random crop, relative to the window; crops are resized to the window; 1: shift "
        "only",
        {.min = 0.05, .max = 1});
  f.add("stretch", stretch, "maximum aspect ratio of the crop, for crop below 1", {.min = 1, .max = 4});
  f.add("flip", flips, "random horizontal and vertical flips");
  f.add("rotate90", rotations, "random rotations by multiples of 90 degrees");
}

void SegmentationDataConfig::fields(Fields& f) {
  f.add("path", path, "image (GeoTIFF, NPY, PNG or JPEG), or a folder of images", {.is_path = always});
  f.add("masks", masks, "mask of class ids, or a folder of masks", {.is_path = always});
  f.add("layout", layout, "auto, ssl4eo (SSL4EO-L benchmark folders), folder (of tiles) or scene (one image)",
        {.one_of = {"auto", "ssl4eo", "folder", "scene"}});
  f.add("axes", axes, "order of the axes of NPY arrays; auto: hw, hwc or thwc (t dates, c bands)",
        {.one_of = {"auto", "hw", "hwc", "chw", "thwc", "tchw"}});
  f.add("image_suffix", image_suffix, "suffix of image names before the extension, such as \"_S2Hand\"");
  f.add("mask_suffix", mask_suffix, "suffix of mask names before the extension, such as \"_LabelHand\"");
  f.add("bands", bands, "bands used, counted from 0; empty: all", {.min = 0, .max = 65535});
  f.add("nodata", nodata, "nodata value of pixels: auto (from the file), none, or a number");
  f.add("classes", classes, "class map: auto (the values in the masks), nlcd, cdl, or list (class_ids)",
        {.one_of = {"auto", "nlcd", "cdl", "list"}});
  f.add("class_ids", class_ids, "mask values of the classes, with classes = \"list\"");
  f.add("class_names", class_names, "names of the class_ids, in the same order");
  f.add("class_colors", class_colors,
        "colours of the class_ids in maps, such as \"#0072b2\", in the same order");
  f.add("ignore", ignore,
        "ignored mask values; empty: -1, the masks' nodata value, and 255 unless the masks have grey levels "
        "such as 0 and 255");
  f.add("ignore_unlisted", ignore_unlisted,
        "ignore mask values that are in no list; otherwise they are an error");
  f.add("scale", scale,
        "scaling of bands: standard (mean 0, standard deviation 1 over the training split), divide, or none",
        {.one_of = {"standard", "divide", "none"}});
  f.add("divide", divide, "divisor of scale = \"divide\"", {.min = 1e-12});
  f.add("split", split,
        "split: auto, ssl4eo (numpy's shuffle, seed 0, 70/15/15), folders (train, val, test), random (tiles) "
        "or blocks (of one scene)",
        {.one_of = {"auto", "ssl4eo", "folders", "random", "blocks"}});
  f.add("validation", validation, "fraction of tiles or blocks for validation", {.min = 0, .max = 0.9});
  f.add("test", test, "fraction of tiles or blocks for the test", {.min = 0, .max = 0.9});
  f.add("split_seed", split_seed, "seed of random splits", {.min = 0, .max = kAnyInteger});
  f.add("blocks", blocks, "rows and columns of the grid of blocks of a scene; empty: automatic",
        {.min = 1, .max = 1000});
  f.add("guard", guard, "unused pixels between blocks of different splits", {.min = 0, .max = 10000});
  f.add("window", window, "side of the model's windows in pixels; 0: automatic", {.min = 0, .max = 4096});
  f.add("stride", stride, "stride of the training windows in pixels; 0: half a window",
        {.min = 0, .max = 65536});
  f.add("centre", centre,
        "side in pixels of the central square of each tile that is evaluated; 0: the whole tile",
        {.min = 0, .max = 65536});
  f.add("cache_mb", cache_mb, "cache of decoded images, in MB", {.min = 0, .max = 1e6});
  f.group("augment", augment);
}

void SegmentationDataConfig::validate(const std::string& source) const {
  require(validation + test < 1, ErrorKind::config,
          "{}: data.validation = {} and data.test = {} leave nothing to train on", source, validation, test);
  require(
      classes == "list" || (class_ids.empty() && class_names.empty() && class_colors.empty()),
      ErrorKind::config,
      "{}: data.class_ids, data.class_names and data.class_colors need data.classes = \"list\", got \"{}\"",
      source, classes);
  require(classes != "list" || !class_ids.empty(), ErrorKind::config,
          "{}: data.classes = \"list\" needs data.class_ids", source);
  require(blocks.empty() || blocks.size() == 2, ErrorKind::config,
          "{}: data.blocks must be rows and columns, got {} numbers", source, blocks.size());
  if (nodata == "auto" || nodata == "none") return;
  char* end = nullptr;
  std::strtod(nodata.c_str(), &end);
  require(!nodata.empty() && *end == '\0', ErrorKind::config,
          "{}: data.nodata must be auto, none or a number, got '{}'", source, nodata);
}

}  // namespace modewise::data
