#include "modewise/models/series_classification/config.h"

#include "modewise/models/series_classification/series_classifier.h"

namespace modewise::models {

void SeriesPatchConfig::fields(Fields& f) {
  f.add("length", length, "steps of a patch, which is a token", {.min = 1, .max = 1 << 20});
  f.add("stride", stride, "steps from one patch to the next", {.min = 1, .max = 1 << 20});
  f.add("channels", channels,
        "mixed (a token holds all variables) or independent (a token a variable, PatchTST's)",
        {.one_of = {"mixed", "independent"}});
  f.add("dropout", dropout, "dropout of the tokens", {.min = 0, .max = 0.99});
}

void SeriesHeadConfig::fields(Fields& f) {
  f.add("pooling", pooling, "what the head makes of the tokens: attention, mean or flatten (PatchTST's)",
        {.one_of = {"attention", "mean", "flatten"}});
  f.add("dropout", dropout, "dropout before the last linear map", {.min = 0, .max = 0.99});
}

void SeriesConvolutionConfig::fields(Fields& f) {
  f.add("width", width, "channels of tcn, and of resnet's first block", {.min = 1, .max = 65536});
  f.add("kernel", kernel, "tcn: steps of its kernels", {.min = 2, .max = 1024});
  f.add("levels", levels, "tcn: blocks, each seeing twice as far; 0: as many as see the whole series",
        {.min = 0, .max = 30});
}

void SeriesLinearConfig::fields(Fields& f) {
  f.add("kernel", kernel, "odd: steps of the moving average that is the trend", {.min = 1, .max = 1 << 20});
}

void SeriesForestConfig::fields(Fields& f) {
  f.add("trees", trees, "trees of the shapelet forest", {.min = 1, .max = 100000});
  f.add("shapelets", shapelets, "shapelets drawn at each node", {.min = 1, .max = 100000});
  f.add("shortest", shortest, "the shortest shapelet, as a share of its series", {.min = 0, .max = 1});
  f.add("longest", longest, "the longest shapelet, as a share of its series", {.min = 0, .max = 1});
}

void SeriesRocketConfig::fields(Fields& f) {
  f.add("features", features, "features of minirocket, cut to a multiple of its 84 kernels",
        {.min = 84, .max = 1000000});
}

void SeriesModelConfig::fields(Fields& f) {
  f.add("name", name,
        "patchtst, nearest (1-NN, Euclidean), dlinear, tcn, resnet, shapelet-forest, minirocket or ensemble",
        {.one_of = names_of(series_models())});
  f.add("precision", precision, "of activations; weights, statistics and sums are float32",
        {.one_of = {"float32", "bf16"}});
  f.add("width", width, "width D of a token", {.min = 1, .max = 65536});
  f.add("hidden", hidden, "width of the feed-forward", {.min = 1, .max = 262144});
  f.add("layers", blocks, "transformer blocks", {.min = 1, .max = 1000});
  f.add("heads", heads, "attention heads; divide the width", {.min = 1, .max = 4096});
  f.add("dropout", dropout, "dropout of what attention and feed-forward add, and within tcn",
        {.min = 0, .max = 0.99});
  f.group("patch", patch);
  f.group("attention", attention);
  f.group("head", head);
  f.group("convolution", convolution);
  f.group("linear", linear);
  f.group("forest", forest);
  f.group("rocket", rocket);
  f.group("ensemble", ensemble);
}

int64_t SeriesModelConfig::tokens(int64_t length) const {
  if (length <= patch.length) return 1;
  return (length - patch.length + patch.stride - 1) / patch.stride + 1;
}

std::string title_of(const SeriesModelConfig& config) {
  if (config.name != "patchtst" || config.attention.form == "full") return config.name;
  return config.name + " " + config.attention.title();
}

}  // namespace modewise::models
