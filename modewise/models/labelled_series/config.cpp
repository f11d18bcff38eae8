#include "modewise/models/labelled_series/config.h"

#include <fmt/ranges.h>

#include <cmath>

#include "modewise/core/error.h"
#include "modewise/models/labelled_series/series_classifier.h"
#include "modewise/models/model_choice.h"

namespace modewise::models {

const std::vector<std::string>& series_model_names() {
  static const std::vector<std::string> names = {"patchtst", "nearest", "dlinear", "tcn", "resnet"};
  return names;
}

void SeriesPatchConfig::fields(Fields& f) {
  f.add("length", length, "steps of a patch, which is a token", {.min = 1, .max = 1 << 20});
  f.add("stride", stride, "steps from one patch to the next", {.min = 1, .max = 1 << 20});
  f.add("channels", channels,
        "mixed (a token holds all variables) or independent (a token a variable, PatchTST's)",
        {.one_of = {"mixed", "independent"}});
  f.add("dropout", dropout, "dropout of the tokens", {.min = 0, .max = 0.99});
}

void SeriesAttentionConfig::fields(Fields& f) {
  f.add("form", form,
        "full, or of the folded series: axial (the paper's tensor attention), pooled (weights shared by all "
        "fibres), causal (window and summaries of blocks)",
        {.one_of = {"full", "axial", "pooled", "causal"}});
  f.add("fold", fold, "sizes n_1 … n_m that the tokens are folded to, last fastest; n_1 may be 0: it grows",
        {.min = 0});
  f.add("window", window, "causal: tokens that a token sees one by one; 0: twice the last size", {.min = 0});
  f.add("slots", slots, "causal: summaries a finished block", {.min = 1, .max = 1024});
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

void SeriesModelConfig::fields(Fields& f) {
  f.add("name", name, "patchtst, nearest (1-NN, Euclidean), dlinear, tcn or resnet",
        {.one_of = series_model_names()});
  f.add("precision", precision, "of activations; weights, statistics and sums are float32",
        {.one_of = {"float32", "bf16"}});
  f.add("width", width, "width D of a token", {.min = 1, .max = 65536});
  f.add("hidden", hidden, "width of the feed-forward", {.min = 1, .max = 262144});
  f.add("blocks", blocks, "transformer blocks", {.min = 1, .max = 1000});
  f.add("heads", heads, "attention heads; divide the width", {.min = 1, .max = 4096});
  f.add("dropout", dropout, "dropout of what attention and feed-forward add, and within tcn",
        {.min = 0, .max = 0.99});
  f.group("patch", patch);
  f.group("attention", attention);
  f.group("head", head);
  f.group("convolution", convolution);
  f.group("linear", linear);
}

int64_t SeriesModelConfig::tokens(int64_t length) const {
  if (length <= patch.length) return 1;
  return (length - patch.length + patch.stride - 1) / patch.stride + 1;
}

ops::TensorAttentionOptions SeriesModelConfig::attention_options(int64_t tokens) const {
  ops::TensorAttentionOptions out;
  out.form = attention.form;
  out.causal = attention.form == "causal";
  if (attention.form == "full") return out;
  out.fold = attention.fold;
  out.window = attention.window;
  if (out.fold.empty())
    out.fold = {
        0, static_cast<int64_t>(std::ceil(std::sqrt(static_cast<double>(std::max<int64_t>(tokens, 1)))))};
  return out;
}

namespace {

bool series_model_has(std::string_view name, std::string_view path) {
  if (path == "name") return true;
  if (name == "nearest") return false;
  if (path == "precision") return name != "dlinear";
  if (path == "dropout") return name == "patchtst" || name == "tcn";
  if (path == "convolution.width") return name == "tcn" || name == "resnet";
  if (path.starts_with("convolution.")) return name == "tcn";
  if (path.starts_with("linear.")) return name == "dlinear";
  return name == "patchtst";
}

/// attention's options that have no effect with the chosen form.
void check_unused(const SeriesAttentionConfig& a, const std::string& source) {
  const auto unused = [&](bool given, const char* name) {
    require(!given, ErrorKind::config, "{}: attention.{} has no effect with attention.form = \"{}\"", source,
            name, a.form);
  };
  unused(a.form == "full" && !a.fold.empty(), "fold");
  unused(a.form != "causal" && a.window != 0, "window");
  unused(a.form != "causal" && a.slots != 1, "slots");
}

void check_fold(const SeriesAttentionConfig& a, int64_t tokens, const std::string& source) {
  double cells = 1;
  for (size_t i = 0; i < a.fold.size(); ++i) {
    require(
        a.fold[i] > 0 || i == 0, ErrorKind::config,
        "{}: attention.fold holds {} as its size {}; only the first may be 0, which grows with the series",
        source, a.fold[i], i + 1);
    cells *= static_cast<double>(a.fold[i]);
  }
  const bool grows = a.fold.empty() || a.fold.front() == 0;
  require(cells < 0x1p62, ErrorKind::config,
          "{}: the product of attention.fold, about {:.3g}, is beyond 62 bits", source, cells);
  require(grows || cells >= static_cast<double>(tokens), ErrorKind::config,
          "{}: attention.fold [{}] holds {} tokens, but the series has {}; a first size of 0 grows with it",
          source, fmt::join(a.fold, ", "), cells, tokens);
  require(
      a.form != "causal" || a.window == 0 || a.fold.size() < 2 || a.window >= a.fold.back(),
      ErrorKind::config,
      "{}: attention.window = {} is smaller than the last size of attention.fold, {}: tokens of the block "
      "that is not finished yet would be seen by nobody",
      source, a.window, a.fold.empty() ? 0 : a.fold.back());
}

}  // namespace

void validate(const SeriesModelConfig& config, const SeriesShape& shape, const std::string& source) {
  SeriesModelConfig copy = config, plain;
  const Fields fields = fields_of(copy);
  fields.validate(source);
  plain.name = config.name;
  check_options_are_used(fields, fields_of(plain), config.name, series_model_names(), series_model_has,
                         source);
  require(shape.variables >= 1 && shape.length >= 1 && shape.classes >= 2, ErrorKind::config,
          "{}: a classifier needs series and at least 2 classes, got {}", source, shape.classes);
  require(config.linear.kernel % 2 == 1, ErrorKind::config, "{}: linear.kernel must be odd, got {}", source,
          config.linear.kernel);
  if (config.name != "patchtst") return;
  require(config.width % config.heads == 0, ErrorKind::config,
          "{}: width = {} must be a multiple of heads = {}", source, config.width, config.heads);
  require(config.patch.stride <= config.patch.length, ErrorKind::config,
          "{}: patch.stride = {} leaves steps out between patches of patch.length = {}", source,
          config.patch.stride, config.patch.length);
  require(config.patch.length <= shape.length, ErrorKind::config,
          "{}: patch.length = {} is longer than the series of {} steps", source, config.patch.length,
          shape.length);
  check_unused(config.attention, source);
  check_fold(config.attention, config.tokens(shape.length), source);
  require(
      config.attention.form != "pooled" || !shape.padded, ErrorKind::config,
      "{}: attention.form = \"pooled\" has weights that all fibres share, so that it cannot leave out the "
      "padding of shorter cases; axial, causal and full can",
      source);
}

std::string title_of(const SeriesModelConfig& config) {
  if (config.name != "patchtst" || config.attention.form == "full") return config.name;
  std::string title = config.name + " " + config.attention.form;
  if (!config.attention.fold.empty()) title += fmt::format(" {}", fmt::join(config.attention.fold, "·"));
  if (config.attention.slots > 1) title += fmt::format(", {} slots", config.attention.slots);
  return title;
}

}  // namespace modewise::models
