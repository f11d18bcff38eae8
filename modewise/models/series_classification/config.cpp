#include "modewise/models/series_classification/config.h"

#include "modewise/models/series_classification/series_classifier.h"

namespace modewise::models {

void SeriesPatchConfig::fields(Fields& f) {
  f.add("length", length, "patch length in steps", {.min = 1, .max = 1 << 20});
  f.add("stride", stride, "patch stride in steps", {.min = 1, .max = 1 << 20});
  f.add("channels", channels, "variables per token: mixed (all) or independent (one, as in PatchTST)",
        {.one_of = {"mixed", "independent"}});
  f.add("dropout", dropout, "dropout probability of the patch embeddings", {.min = 0, .max = 0.99});
}

void SeriesHeadConfig::fields(Fields& f) {
  f.add("pooling", pooling, "pooling of the tokens in the head: attention, mean or flatten (as in PatchTST)",
        {.one_of = {"attention", "mean", "flatten"}});
  f.add("dropout", dropout, "dropout probability before the last linear layer", {.min = 0, .max = 0.99});
}

void SeriesConvolutionConfig::fields(Fields& f) {
  f.add("width", width, "channels: tcn, and the first block of resnet", {.min = 1, .max = 65536});
}

void SeriesTcnConfig::fields(Fields& f) {
  f.add("kernel", kernel, "kernel size in steps", {.min = 2, .max = 1024});
  f.add("levels", levels,
        "number of blocks, with dilation doubling; 0: receptive field covers the whole series",
        {.min = 0, .max = 30});
}

void SeriesLinearConfig::fields(Fields& f) {
  f.add("kernel", kernel, "steps of the moving average (trend), odd", {.min = 1, .max = 1 << 20});
}

void SeriesForestConfig::fields(Fields& f) {
  f.add("trees", trees, "number of trees of the shapelet forest", {.min = 1, .max = 100000});
  f.add("shapelets", shapelets, "candidate shapelets per node", {.min = 1, .max = 100000});
  f.add("shortest", shortest, "shortest shapelet, as a fraction of the series length", {.min = 0, .max = 1});
  f.add("longest", longest, "longest shapelet, as a fraction of the series length", {.min = 0, .max = 1});
}

void SeriesRocketConfig::fields(Fields& f) {
  f.add("features", features, "number of minirocket features, rounded down to a multiple of its 84 kernels",
        {.min = 84, .max = 1000000});
}

void SeriesModelConfig::fields(Fields& f) {
  f.add("name", name,
        "model: patchtst, nearest (1-NN, Euclidean), dlinear, tcn, resnet, shapelet-forest, minirocket or "
        "ensemble",
        {.one_of = names_of(series_models())});
  f.add("precision", precision, "dtype of activations; weights, statistics and sums are float32",
        {.one_of = {"float32", "bf16"}});
  f.add("width", width, "width D of a token", {.min = 1, .max = 65536});
  f.add("hidden", hidden, "hidden width of the feed-forward network", {.min = 1, .max = 262144});
  f.add("layers", blocks, "number of transformer blocks", {.min = 1, .max = 1000});
  f.add("heads", heads, "attention heads; must divide width", {.min = 1, .max = 4096});
  f.add("dropout", dropout, "dropout probability of the attention and feed-forward outputs, and in tcn",
        {.min = 0, .max = 0.99});
  f.group("patch", patch);
  f.group("attention", attention);
  f.group("head", head);
  f.group("convolution", convolution);
  f.group("tcn", tcn);
  f.group("dlinear", dlinear);
  f.group("shapelet-forest", shapelet_forest);
  f.group("minirocket", minirocket);
  f.group("ensemble", ensemble);
}

int64_t SeriesModelConfig::tokens(int64_t length) const {
  if (length <= patch.length) return 1;
  return (length - patch.length + patch.stride - 1) / patch.stride + 1;
}

std::string title_of(const SeriesModelConfig& config) {
  if (config.name != "patchtst" || config.attention.type == "full") return config.name;
  return config.name + " " + config.attention.title();
}

}  // namespace modewise::models
