#include "modewise/data/segmentation/config.h"

#include <cstdlib>

#include "modewise/core/error.h"
#include "modewise/core/integer_bounds.h"

namespace modewise::data {

void SegmentationAugmentConfig::fields(Fields& f) {
  f.add("crop", crop,
        "cut a random part of at least this share of the area and resize it to the window; 1: only shift",
        {.min = 0.05, .max = 1});
  f.add("stretch", stretch, "with crop below 1: the most that width : height of the part differs from 1",
        {.min = 1, .max = 4});
  f.add("flip", flips, "mirror windows at random");
  f.add("rotate90", turns, "turn windows by quarters at random");
}

void SegmentationDataConfig::fields(Fields& f) {
  f.add("path", path, "image (GeoTIFF or NPY), or a folder of images", {.is_path = always});
  f.add("masks", masks, "its mask of class ids, or a folder of masks", {.is_path = always});
  f.add("layout", layout, "auto, ssl4eo (SSL4EO-L benchmark folders), folder (of tiles) or scene (one image)",
        {.one_of = {"auto", "ssl4eo", "folder", "scene"}});
  f.add("axes", axes, "order of the axes of NPY arrays; auto: hw, hwc or thwc (t dates, c bands)",
        {.one_of = {"auto", "hw", "hwc", "chw", "thwc", "tchw"}});
  f.add("image_suffix", image_suffix, "end of the images' names before the extension, as in \"_S2Hand\"");
  f.add("mask_suffix", mask_suffix, "end of the masks' names before the extension, as in \"_LabelHand\"");
  f.add("bands", bands, "bands used, counted from 0; empty: all", {.min = 0, .max = 65535});
  f.add("nodata", nodata, "value of pixels without data: auto (as the file says), none, or a number");
  f.add("classes", classes, "auto (whatever the masks hold), nlcd, cdl, or list (class_ids)",
        {.one_of = {"auto", "nlcd", "cdl", "list"}});
  f.add("class_ids", class_ids, "numbers of the masks that are classes, with classes = \"list\"");
  f.add("class_names", class_names, "their names, in the same order");
  f.add("class_colors", class_colors, "their colours in maps, as in \"#0072b2\", in the same order");
  f.add("ignore", ignore,
        "numbers of the masks that count nowhere; empty: -1, 255 and the masks' nodata where they occur");
  f.add("ignore_unlisted", ignore_unlisted, "ignore numbers that are in no list instead of refusing them");
  f.add("scale", scale, "standard (mean 0, deviation 1 a band over the training part), divide, or none",
        {.one_of = {"standard", "divide", "none"}});
  f.add("divide", divide, "what scale = \"divide\" divides by", {.min = 1e-12});
  f.add("split", split,
        "auto, ssl4eo (numpy's shuffle, seed 0, 70/15/15), folders (train, val, test), random (tiles) or "
        "blocks "
        "(of one scene)",
        {.one_of = {"auto", "ssl4eo", "folders", "random", "blocks"}});
  f.add("validation", validation, "share of tiles or blocks for validation", {.min = 0, .max = 0.9});
  f.add("test", test, "share of tiles or blocks for the test", {.min = 0, .max = 0.9});
  f.add("split_seed", split_seed, "seed of random splits", {.min = 0, .max = kAnyInteger});
  f.add("blocks", blocks, "rows and columns of the grid that a scene is cut into; empty: chosen",
        {.min = 1, .max = 1000});
  f.add("guard", guard, "pixels left out between blocks of different splits", {.min = 0, .max = 10000});
  f.add("window", window, "pixels a side of the windows a model sees; 0: chosen", {.min = 0, .max = 4096});
  f.add("stride", stride, "pixels between the windows a training epoch holds; 0: half a window",
        {.min = 0, .max = 65536});
  f.add("centre", centre, "judge the central square of each tile alone, pixels a side; 0: all of it",
        {.min = 0, .max = 65536});
  f.add("cache_mb", cache_mb, "decoded images kept in memory, in MB", {.min = 0, .max = 1e6});
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
          "{}: data.blocks holds rows and columns, got {} numbers", source, blocks.size());
  if (nodata == "auto" || nodata == "none") return;
  char* end = nullptr;
  std::strtod(nodata.c_str(), &end);
  require(!nodata.empty() && *end == '\0', ErrorKind::config,
          "{}: data.nodata must be auto, none or a number, got '{}'", source, nodata);
}

}  // namespace modewise::data
