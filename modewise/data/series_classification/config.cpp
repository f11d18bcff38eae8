#include "modewise/data/series_classification/config.h"

#include "modewise/core/integer_bounds.h"
#include "modewise/data/number_marks.h"

namespace modewise::data {

void MotifsConfig::fields(Fields& f) {
  f.add("samples", samples, "training samples; half as many test samples", {.min = 8, .max = 1e6});
  f.add("steps", steps, "steps of a sample", {.min = 64, .max = 1 << 24});
  f.add("variables", variables, "variables of a sample", {.min = 1, .max = 1024});
  f.add("noise", noise, "standard deviation of the noise; the motifs have amplitude 1",
        {.min = 0, .max = 1e3});
  f.add("width", width, "steps of a motif, at most half a sample; 0: 1/16 of half a sample",
        {.min = 0, .max = 1 << 23});
  f.add("shape", shape,
        "motif: chirp (rising or falling, with equal power spectra) or tone (period of 32 or 8 "
        "steps)",
        {.one_of = {"chirp", "tone"}});
}

void CollectionConfig::fields(Fields& f) {
  f.add("path", path,
        "folder with X_TRAIN.ts and X_TEST.ts (or .tsv, .csv, .txt, .arff), one of the two, a file of all "
        "samples, or motifs (simulated)",
        {.is_path = [](const std::string& text) { return text != "motifs"; }});
  f.add("train", train, "training file (.ts, .tsv, .csv, .txt, .arff), instead of path", {.is_path = always});
  f.add("test", test, "test file, also instead of that of path", {.is_path = always});
  f.add("label", columns.label,
        "class column of a table; auto: label, class, target or y, or the first one without a header");
  f.add("index", columns.index,
        "columns of a table that number or name the samples, left out of their values; auto: nameless "
        "columns, columns "
        "named id, index, sample …, and running numbers; none");
  f.add("header", columns.header, "whether the first row of a table has names: auto, yes or no",
        {.one_of = {"auto", "yes", "no"}});
  add_number_marks(f, columns.marks);
  f.add(
      "protocol", protocol,
      "split protocol: official (validation from the training samples), paper (random 80/10/10 split of all "
      "samples), or tslib (validation on the test samples: an upper bound, for comparison only)",
      {.one_of = {"official", "paper", "tslib"}});
  f.add("validation_share", validation_share,
        "official: fraction of each class's training samples used for validation", {.min = 0.01, .max = 0.9});
  f.add("split_seed", split_seed, "seed of the split, and of simulated series",
        {.min = 0, .max = kAnyInteger});
  f.add("normalize", normalize,
        "normalization: variable (mean 0, standard deviation 1 of each variable over the training samples), "
        "sample (of each variable of each sample), or none",
        {.one_of = {"variable", "sample", "none"}});
  f.add("length", length, "length to which shorter samples are padded, in steps; 0: the longest sample",
        {.min = 0});
  f.group("motifs", motifs);
}

void SeriesAugmentConfig::fields(Fields& f) {
  f.add("noise", noise,
        "standard deviation of noise added to training samples, relative to that of the variable",
        {.min = 0, .max = 100});
  f.add("scale", scale, "maximum relative change of a training sample's values", {.min = 0, .max = 1});
  f.add("shift", shift, "maximum shift of training samples in steps", {.min = 0, .max = 1 << 24});
  f.add("erase", erase, "maximum fraction of contiguous steps of a training sample set to 0",
        {.min = 0, .max = 0.9});
}

}  // namespace modewise::data
