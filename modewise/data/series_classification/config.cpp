#include "modewise/data/series_classification/config.h"

#include "modewise/core/integer_bounds.h"

namespace modewise::data {

void MotifsConfig::fields(Fields& f) {
  f.add("samples", samples, "training cases; half as many for the test", {.min = 8, .max = 1e6});
  f.add("steps", steps, "steps of a case", {.min = 64, .max = 1 << 24});
  f.add("variables", variables, "variables of a case", {.min = 1, .max = 1024});
  f.add("noise", noise, "deviation of the noise; the motifs have amplitude 1", {.min = 0, .max = 1e3});
  f.add("width", width, "steps of a motif, at most half a case; 0: a sixteenth of that",
        {.min = 0, .max = 1 << 23});
  f.add("shape", shape,
        "of a motif: chirp (rising or falling, told by the order of its waves alone) or tone (of 32 or 8 "
        "steps a wave)",
        {.one_of = {"chirp", "tone"}});
}

void CollectionConfig::fields(Fields& f) {
  f.add("path", path,
        "folder with X_TRAIN.ts and X_TEST.ts (or .tsv, .csv, .txt, .arff), one of the two, a file of all "
        "cases, or motifs (simulated)",
        {.is_path = [](const std::string& text) { return text != "motifs"; }});
  f.add("train", train, "training file (.ts, .tsv, .csv, .txt, .arff), instead of path", {.is_path = always});
  f.add("test", test, "test file, instead of path", {.is_path = always});
  f.add("protocol", protocol,
        "official (validation cut from the training cases), paper (all cases split anew, 80/10/10), or "
        "tslib (validates on the test cases: an upper bound, for comparison alone)",
        {.one_of = {"official", "paper", "tslib"}});
  f.add("validation_share", validation_share, "official: share of each class's training cases",
        {.min = 0.01, .max = 0.9});
  f.add("split_seed", split_seed, "seed of the split, and of simulated series",
        {.min = 0, .max = kAnyInteger});
  f.add("normalize", normalize,
        "variable (mean 0, deviation 1 of each variable over the training cases), case (of each variable of "
        "each case), or none",
        {.one_of = {"variable", "sample", "none"}});
  f.add("length", length, "steps that shorter cases are padded to; 0: the longest case", {.min = 0});
  f.group("motifs", motifs);
}

void SeriesAugmentConfig::fields(Fields& f) {
  f.add("noise", noise, "deviation of noise added to training cases, in deviations of the variable",
        {.min = 0, .max = 100});
  f.add("scale", scale, "relative change of a training case's values, at most", {.min = 0, .max = 1});
  f.add("shift", shift, "steps by which training cases are moved, at most", {.min = 0, .max = 1 << 24});
  f.add("erase", erase, "share of a training case's steps, in one piece, that become 0, at most",
        {.min = 0, .max = 0.9});
}

}  // namespace modewise::data
