#include "modewise/models/forecasting/config.h"

#include <utility>

namespace modewise::models {

void WindowConfig::fields(Fields& f) {
  f.add("centre", centre,
        "what is taken off a window: the mean or the last of its observed values, or nothing",
        {.one_of = {"mean", "last", "none"}});
  f.add("scale", scale, "divide a window by its deviation, or not", {.one_of = {"std", "none"}});
  f.add("affine", affine, "learn a weight and a bias a series behind the normalisation (RevIN)");
  f.add("cycle", cycle,
        "rows of the residual cycle of CycleNet (arXiv 2409.18479): a learned profile a series, taken off "
        "windows and put back on forecasts (24: daily in hourly data); 0 is none",
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

void HeadConfig::fields(Fields& f) {
  f.add("time", time, "what the head makes of the time tokens: flatten, mean (as released) or attention",
        {.one_of = {"flatten", "mean", "attention"}});
  f.add("norm", norm, "LayerNorm in the head (as released; the paper has none)");
  f.add("dropout", dropout, "dropout before the last linear map", {.min = 0, .max = 0.99});
  f.add("zero_start", zero_start,
        "start the last linear map at zero: the first forecast is the window's centre");
  f.add("skip", skip, "a linear map of the window beside the model, for all series or one a series",
        {.one_of = {"none", "shared", "individual"}});
}

void FutureCovariateConfig::fields(Fields& f) {
  f.add(
      "width", width,
      "of columns that are known ahead (data.future_covariates, data.calendar): numbers that tide projects a step's to; "
      "nonlinear terms of their effect in hot and its siblings, 0: a linear one",
      {.min = 0, .max = 65536});
}

void TideConfig::fields(Fields& f) {
  f.add("step_width", step_width, "numbers that tide's decoder makes for each step of the horizon",
        {.min = 1, .max = 65536});
  f.add("norm", norm, "layer normalisation behind tide's residual blocks");
}

void BaselineConfig::fields(Fields& f) {
  f.add("period", period,
        "rows of a season (24: a day of hours); 0: from the data's step, 24 where that tells none",
        {.min = 0, .max = 1e6});
  f.add("kernel", kernel, "rows of dlinear's moving average, odd", {.min = 1, .max = 100001});
  f.add("individual", individual, "own linear maps for each series");
  f.add("start", start, "linear maps start at random or as averages (1/lookback)",
        {.one_of = {"random", "average"}});
  f.add("ridge", ridge,
        "penalty of ridge, in mean squares of a lag times the windows; 0: that of the smallest validation "
        "error",
        {.min = 0, .max = 1e9});
  f.add("form", form,
        "error, trend and season of ets: ANN, AAN, AAdN, ANA, AAA, AAdA, MAM …; auto: of the smallest AICc");
}

void ForecasterConfig::fields(Fields& f) {
  choice_fields(f, *this, names_of(forecasters()), "its authors'", "the hot family");
  block_fields(f);
  f.group("window", window);
  f.group("patch", patch);
  f.group("position", position);
  f.group("attention", attention);
  f.group("head", head);
  f.group("future_covariates", known);
  f.group("tide", tide);
  f.group("baseline", baseline);
  f.group("ensemble", ensemble);
}

bool is_token_model(std::string_view name) {
  return has_tokens(forecasters(), name);
}

void ForecasterConfig::use_model(std::string new_name) {
  use_model_of(forecasters(), *this, std::move(new_name));
}

void ForecasterConfig::use_preset(std::string new_preset) {
  if (!use_published(*this, std::move(new_preset))) return;
  patch.length = patch.stride = 4;
  position.identity = false;
  head.time = "mean";
  head.norm = preset == "release";
}

}  // namespace modewise::models
