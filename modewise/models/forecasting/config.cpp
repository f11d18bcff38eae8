#include "modewise/models/forecasting/config.h"

#include <utility>

namespace modewise::models {

void WindowConfig::fields(Fields& f) {
  f.add("centre", centre,
        "value subtracted from a window: mean or last of its observed values, or none; auto: last for panels "
        "in "
        "hot and its variants, else mean",
        {.one_of = {"auto", "mean", "last", "none"}});
  f.add("scale", scale, "divisor of a window: std (standard deviation) or none", {.one_of = {"std", "none"}});
  f.add("affine", affine, "learned weight and bias per series after the normalization (RevIN)");
  f.add("cycle", cycle,
        "length in rows of CycleNet's residual cycle (arXiv 2409.18479): a learned profile per series, "
        "subtracted from "
        "windows and added to forecasts (24: daily in hourly data); 0: none",
        {.min = 0, .max = 1e6});
  f.add("cycle_gain", cycle_gain, "learning rate factor of the cycle", {.min = 1e-3, .max = 1e3});
  f.add("cycle_start", cycle_start, "initial cycle: profile (mean cycle of the training split) or zero",
        {.one_of = {"profile", "zero"}});
}

void PatchConfig::fields(Fields& f) {
  f.add("length", length, "patch length in rows", {.min = 1});
  f.add("stride", stride, "patch stride in rows", {.min = 1});
  f.add("embedding", embedding,
        "patch embedding: linear, relu (as in the paper) or relu_norm (as released: ReLU and LayerNorm)",
        {.one_of = {"linear", "relu", "relu_norm"}});
  f.add("dropout", dropout, "dropout probability of the patch embeddings", {.min = 0, .max = 0.99});
}

void HeadConfig::fields(Fields& f) {
  f.add("time", time, "pooling of the time tokens in the head: flatten, mean (as released) or attention",
        {.one_of = {"flatten", "mean", "attention"}});
  f.add("norm", norm, "LayerNorm in the head (as released; the paper has none)");
  f.add("dropout", dropout, "dropout probability before the last linear layer", {.min = 0, .max = 0.99});
  f.add("zero_start", zero_start,
        "zero initial weights of the last linear layer: the first forecast is the window's centre");
  f.add("skip", skip,
        "linear skip connection from the window: none, shared (by all series) or individual (one per series)",
        {.one_of = {"none", "shared", "individual"}});
}

void FutureCovariateConfig::fields(Fields& f) {
  f.add(
      "width", width,
      "width for future covariates (data.future_covariates, data.calendar): tide: projected width per step; "
      "hot, transformer, spatial, temporal: ReLU features of their effect, 0: linear effect",
      {.min = 0, .max = 65536});
}

ForecasterConfig::ForecasterConfig() : own(own_options_of(forecasters())) {}

void ForecasterConfig::fields(Fields& f) {
  choice_fields(f, *this, names_of(forecasters()), "its authors' values", "the hot family");
  block_fields(f);
  f.add("period", period,
        "season length in rows (24: daily in hourly data); 0: from the data's time step, else 24",
        {.min = 0, .max = 1e6});
  f.add("individual", individual, "linear models: separate weights per series");
  f.add("weight_init", weight_init, "initial weights of dlinear and nlinear: random or average (1/lookback)",
        {.one_of = {"random", "average"}});
  f.group("window", window);
  f.group("patch", patch);
  f.group("position", position);
  f.group("attention", attention);
  f.group("head", head);
  f.group("future_covariates", known);
  own.fields(f);
  f.group("ensemble", ensemble);
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
