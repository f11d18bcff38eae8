#include "modewise/models/model_config.h"

#include <utility>

namespace modewise::models {

const std::vector<std::string>& forecaster_names() {
  static const std::vector<std::string> names = {"hot",      "transformer",  "spatial", "temporal",
                                                 "patchtst", "itransformer", "dlinear", "nlinear",
                                                 "rlinear",  "seasonal",     "repeat"};
  return names;
}

void WindowConfig::fields(Fields& f) {
  f.add("centre", centre,
        "what is taken off a window: the mean or the last of its observed values, or nothing",
        {.one_of = {"mean", "last", "none"}});
  f.add("scale", scale, "divide a window by its deviation, or not", {.one_of = {"deviation", "none"}});
  f.add("affine", affine, "learn a weight and a bias a series behind the normalisation (RevIN)");
  f.add("cycle", cycle, "rows of a learned periodic profile a series (24: daily in hourly data); 0 is none",
        {.min = 0, .max = 1e6});
  f.add("cycle_gain", cycle_gain, "how much faster than other weights the profile learns",
        {.min = 1e-3, .max = 1e3});
  f.add("cycle_start", cycle_start, "the profile starts from the training data's or from zero",
        {.one_of = {"profile", "zero"}});
}

void PatchConfig::fields(Fields& f) {
  f.add("length", length, "rows of a time patch", {.min = 1});
  f.add("stride", stride, "rows between the starts of patches", {.min = 1});
  f.add("embedding", embedding, "linear, relu (the paper's) or relu_norm (as released: ReLU and LayerNorm)",
        {.one_of = {"linear", "relu", "relu_norm"}});
  f.add("dropout", dropout, "dropout of the embedded patches", {.min = 0, .max = 0.99});
}

void PositionConfig::fields(Fields& f) {
  f.add("code", code, "position codes over time and the ordered series modes",
        {.one_of = {"none", "learned", "sincos"}});
  f.add("identity", identity,
        "learn a code for each place of the series modes without order (variables, stations)");
  f.add("rotary", rotary, "modes with rotary codes: ordered (time and ordered series modes), time or none",
        {.one_of = {"ordered", "time", "none"}});
  f.add("rotary_base", rotary_base, "base of the rotary frequencies", {.min = 1});
}

void AttentionConfig::fields(Fields& f) {
  f.add("combine", combine, "product, sum (as released) or mean (the paper's sum) of the factors",
        {.one_of = {"product", "sum", "mean"}});
  f.add("pooling", pooling, "how the other modes are pooled for queries and keys",
        {.one_of = {"sum", "mean"}});
  f.add("share_modes", share_modes, "one query and key projection for all modes");
  f.add("attend_modes", attend_modes, "modes attended, counted from 0, time last; empty is all", {.min = 0});
  f.add("query_key_norm", query_key_norm, "LayerNorm of queries and keys");
  f.add("kernel", kernel, "softmax, or linear (positive random features)", {.one_of = {"softmax", "linear"}});
  f.add("features", features, "random features of the linear kernel; 0 chooses", {.min = 0, .max = 65536});
  f.add("dropout", dropout, "dropout of attention weights", {.min = 0, .max = 0.99});
}

void HeadConfig::fields(Fields& f) {
  f.add("time", time, "what the head makes of the time tokens: flatten, mean (as released) or attention",
        {.one_of = {"flatten", "mean", "attention"}});
  f.add("dropout", dropout, "dropout before the last linear map", {.min = 0, .max = 0.99});
  f.add("zero_start", zero_start,
        "start the last linear map at zero: the first forecast is the window's centre");
  f.add("skip", skip, "a linear map of the window beside the model, for all series or one a series",
        {.one_of = {"none", "shared", "individual"}});
}

void BaselineConfig::fields(Fields& f) {
  f.add("period", period, "rows after which the seasonal forecast repeats", {.min = 1});
  f.add("kernel", kernel, "rows of dlinear's moving average, odd", {.min = 1, .max = 100001});
  f.add("individual", individual, "own linear maps for each series");
  f.add("start", start, "linear maps start at random or as averages (1/lookback)",
        {.one_of = {"random", "average"}});
}

void ModelConfig::fields(Fields& f) {
  f.add_preset("name", name, "the model; sets the other options to its authors'",
               {.one_of = forecaster_names()}, [this] { use_model(name); });
  f.add_preset("preset", preset, "of the hot family: default, release (the released code) or paper",
               {.one_of = {"default", "release", "paper"}}, [this] { use_preset(preset); });
  f.add("precision", precision, "of activations; weights, statistics and sums are float32",
        {.one_of = {"float32", "bf16"}});
  f.add("width", width, "width D of a token", {.min = 1, .max = 65536});
  f.add("hidden", hidden, "width of the feed-forward", {.min = 1, .max = 262144});
  f.add("blocks", blocks, "transformer blocks", {.min = 1, .max = 1000});
  f.add("heads", heads, "attention heads; divide the width", {.min = 1, .max = 4096});
  f.add("feed_forward", feed_forward, "swiglu (as released) or gelu (the paper's)",
        {.one_of = {"swiglu", "gelu"}});
  f.add("dropout", dropout, "dropout of what attention and feed-forward add", {.min = 0, .max = 0.99});
  f.add("layer_scale", layer_scale, "start of a learned scale a channel of each branch; 0 is none",
        {.min = 0, .max = 10});
  f.group("window", window);
  f.group("patch", patch);
  f.group("position", position);
  f.group("attention", attention);
  f.group("head", head);
  f.group("baseline", baseline);
}

bool is_token_model(std::string_view name) {
  return name == "hot" || name == "transformer" || name == "spatial" || name == "temporal";
}

void ModelConfig::use_model(std::string new_name) {
  if (is_token_model(name) && is_token_model(new_name)) {
    name = std::move(new_name);
    return;
  }
  *this = ModelConfig();
  name = std::move(new_name);
  if (name == "patchtst") {
    width = 128;
    hidden = 256;
    blocks = 3;
    heads = 16;
    dropout = 0.2;
    feed_forward = "gelu";
  } else if (name == "itransformer") {
    width = 512;
    hidden = 512;
    heads = 8;
    feed_forward = "gelu";
  } else if (name == "rlinear") {
    window.affine = true;
  }
}

void ModelConfig::use_preset(std::string new_preset) {
  const std::string kept = std::exchange(*this, ModelConfig()).name;
  use_model(kept);
  preset = std::move(new_preset);
  if (preset == "default") return;
  const bool release = preset == "release";
  width = 128;
  hidden = 512;
  heads = 8;
  patch.length = patch.stride = 4;
  patch.embedding = release ? "relu_norm" : "relu";
  position.identity = false;
  attention.query_key_norm = release;
  attention.pooling = release ? "sum" : "mean";
  feed_forward = release ? "swiglu" : "gelu";
  head.time = "mean";
  head.dropout = release ? 0.1 : 0.0;
}

}  // namespace modewise::models
