#include "cli/cost.h"

#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "modewise/core/aliases.h"
#include "modewise/core/error.h"
#include "modewise/models/vision/config.h"
#include "modewise/models/vision/cost.h"
#include "modewise/models/vision/vision_classifier.h"
#include "modewise/ops/attention/attention_types.h"

namespace modewise::cli {
namespace {

using Json = nlohmann::ordered_json;
using report::Cell;
using Measured = analysis::MeasuredCost;

const std::vector<CostMechanism>& mechanisms() {
  using models::Projection;
  static const std::vector<CostMechanism> all = [] {
    std::vector<CostMechanism> rows = {
        {"product", "hot", "softmax", "product", "Kronecker product"},
        {"sum", "hot", "softmax", "mean", "Kronecker sum"},
        {"released", "hot", "softmax", "product", "Kronecker, released projection", Projection::full, 0.67},
        {"linear", "hot", "linear", "product", "Kronecker linear"},
        {"full", "transformer", "softmax", "product", "full", Projection::pooled, 0.72},
        {"full-linear", "transformer", "linear", "product", "full linear"},
        {"divided", "divided", "softmax", "product", "divided", Projection::pooled, 0.71},
        {"pooling-attention", "pooling", "softmax", "product", "pooling (keys and values on a coarser grid)"},
    };
    for (const std::string& name : ops::attention_names(ops::TokenLayout::grid))
      rows.push_back({name, "transformer", "softmax", "product", name, Projection::pooled, {}, name});
    return rows;
  }();
  return all;
}

/// Vision models that `modewise cost` makes from its options.
const std::vector<CostMechanism>& vision_models() {
  static const std::vector<CostMechanism> all = [] {
    std::vector<CostMechanism> rows;
    for (const char* name :
         {"hot", "transformer", "divided", "pooling-attention", "vit", "resnet18", "resnet50"}) {
      rows.push_back({name, "", "", "", name});
      rows.back().whole = true;
    }
    return rows;
  }();
  return all;
}

/// `kind` names the rows in errors.
const CostMechanism& row_named(const std::vector<CostMechanism>& rows, const char* kind,
                               const std::string& name) {
  const auto found = std::ranges::find(rows, name, &CostMechanism::name);
  if (found != rows.end()) return *found;
  std::vector<std::string> names;
  for (const CostMechanism& one : rows) names.push_back(one.name);
  fail(ErrorKind::usage, "there is no {} '{}' (there are {})", kind, name, fmt::join(names, ", "));
}

const CostMechanism& mechanism_named(const std::string& said) {
  const std::string name = said == "mvit" ? "pooling-attention" : current_attention(said);
  if (name != said) warn_of_alias(said, name);
  return row_named(mechanisms(), "mechanism", name);
}

/// Config of a whole model: as released, with the sizes of `options`; the sizes of ResNets are fixed.
models::VisionModelConfig vision_config(const CostOptions& options, const std::string& name) {
  models::VisionModelConfig config;
  config.use_model(name);
  if (name.starts_with("resnet")) return config;
  const models::EncoderConfig& encoder = options.model.encoder;
  if (name != "vit") {
    config.use_preset("release");
    config.feed_forward = encoder.feed_forward;
  }
  config.width = encoder.width;
  config.hidden = encoder.hidden;
  config.blocks = encoder.blocks;
  config.heads = encoder.heads;
  config.patch.size = {options.model.patch};
  return config;
}

models::VisionShape vision_shape(const CostOptions& options, const std::vector<int64_t>& size) {
  return {size, options.model.channels, options.model.classes, false};
}

/// Model of one mechanism and size.
analysis::VisionModel model_of(const CostOptions& options, const CostMechanism& mechanism,
                               const std::vector<int64_t>& size) {
  analysis::VisionModel model = options.model;
  model.size = size;
  model.mechanism = mechanism.attention;
  model.encoder.attention.kernel = mechanism.kernel;
  model.encoder.attention.combine = mechanism.combine;
  model.encoder.attention.type = mechanism.type;
  return model;
}

/// Partial count of multiply-adds: linear maps of the layers, and full attention if there is any. It is the
/// only count that reproduces all three numbers for volumes in Table 2 of the paper, which does not define
/// its count; the forecaster (Table 1) and Figure 6 also include mode products. None for synthesizers, whose
/// maps and products are counted together.
std::optional<double> linear_and_all_token(const analysis::VisionModel& model, const nn::ModelCost& cost) {
  if (model.encoder.attention.from_registry()) return std::nullopt;
  double tokens = 1;
  for (const int64_t n : cost.tokens) tokens *= static_cast<double>(n);
  const double gates = model.encoder.feed_forward == "swiglu"
                           ? tokens * static_cast<double>(model.encoder.hidden * model.encoder.blocks)
                           : 0;
  double sum = cost.multiply_adds_of({"query and key", "value and output", "feed-forward"}) - gates;
  if (model.mechanism == "transformer") sum += cost.multiply_adds_of({"scores and mixing"});
  return sum;
}

/// The paper's model: 28³ voxels, patches of 4, 6 layers of width 128 with SwiGLU of 512.
bool is_paper_model(const analysis::VisionModel& model) {
  const models::EncoderConfig& encoder = model.encoder;
  return model.size == std::vector<int64_t>{28, 28, 28} && model.patch == 4 && encoder.blocks == 6 &&
         encoder.width == 128 && encoder.hidden == 512 && encoder.feed_forward == "swiglu";
}

void add_parts(report::Table& table, const std::vector<Cell>& first, const std::vector<nn::CostPart>& parts) {
  for (const nn::CostPart& part : parts) {
    std::vector<Cell> cells = first;
    cells.insert(cells.end(),
                 {part.name, part.parameters,
                  Cell::number(part.multiply_adds, fmt::format("{:.2f} M", part.multiply_adds / 1e6))});
    table.add_row(std::move(cells));
  }
}

/// Chart over the number of tokens, one curve per mechanism.
template <class Value>
report::LineChart chart(const std::vector<CostEntry>& entries, const std::string& title,
                        const std::string& label, const Value& value) {
  report::LineChart out;
  out.title = title;
  out.x = {"tokens", report::AxisScale::log, {}, {}};
  out.y = {label, report::AxisScale::log, {}, {}};
  for (const CostEntry& entry : entries) {
    const std::optional<double> y = value(entry);
    if (!y) continue;
    if (out.series.empty() || out.series.back().label != entry.mechanism->title)
      out.series.push_back({entry.mechanism->title, {}, {}});
    out.series.back().x.push_back(entry.tokens());
    out.series.back().y.push_back(*y);
  }
  return out;
}

report::BarChart bars(const std::vector<CostEntry>& entries, const std::string& title,
                      double analysis::MeasuredCost::*value, double factor) {
  report::BarChart out;
  out.title = title;
  report::BarSeries series;
  for (const CostEntry& entry : entries) {
    if (!entry.measured || entry.size != entries.front().size) continue;
    out.categories.emplace_back(entry.mechanism->title);
    series.values.push_back((*entry.measured).*value * factor);
  }
  out.series.push_back(std::move(series));
  return out;
}

Measured measured_entry(const CostOptions& options, const CostEntry& entry) {
  if (entry.mechanism->whole)
    return analysis::measure_classifier(vision_config(options, entry.mechanism->name),
                                        vision_shape(options, entry.size), options.batch, options.repeats,
                                        options.seconds);
  const analysis::VisionModel model = model_of(options, *entry.mechanism, entry.size);
  return analysis::measure_encoder(model.encoder, model.mechanism, model.tokens(), options.batch,
                                   options.repeats, options.seconds);
}

/// Tokens of an attention type or transformer, "" for a ResNet.
Cell tokens_cell(const CostEntry& entry) {
  if (entry.cost.tokens.empty()) return Cell("");
  return static_cast<int64_t>(nn::cell_count(entry.cost.tokens));
}

/// Column of mebi_cell; `bytes`: of its values, which CSV has.
report::Column memory_column(const std::string& name, bool bytes) {
  return {bytes ? name + ", bytes" : name};
}

/// Header of the first column.
std::string named_as(const std::vector<CostEntry>& entries) {
  return !entries.empty() && entries.front().mechanism->whole ? "model" : "attention";
}

/// Exponents of the growth of measured times with the number of tokens.
struct CostGrowth {
  std::string title;
  double training = 0, inference = 0;
  double training_end = 0, inference_end = 0;  // between the two largest sizes
  double largest = 0;
  size_t points = 0;
};

/// One entry per mechanism measured at two sizes or more.
std::vector<CostGrowth> growth_of(const std::vector<CostEntry>& entries) {
  std::vector<CostGrowth> out;
  for (size_t i = 0; i < entries.size(); ++i) {
    if (i > 0 && entries[i].mechanism == entries[i - 1].mechanism) continue;
    std::vector<double> tokens, training, inference;
    for (const CostEntry& entry : entries)
      if (entry.mechanism == entries[i].mechanism && entry.measured) {
        tokens.push_back(entry.tokens());
        training.push_back(entry.measured->training_seconds);
        inference.push_back(entry.measured->inference_seconds);
      }
    if (tokens.size() < 2) continue;
    const auto end = [&](const std::vector<double>& seconds) {
      return analysis::growth_exponent({tokens.end() - 2, tokens.end()}, {seconds.end() - 2, seconds.end()});
    };
    out.push_back({entries[i].mechanism->title, analysis::growth_exponent(tokens, training),
                   analysis::growth_exponent(tokens, inference), end(training), end(inference), tokens.back(),
                   tokens.size()});
  }
  return out;
}

}  // namespace

std::vector<CostEntry> account_costs(const CostOptions& options) {
  std::vector<std::vector<int64_t>> sizes;
  for (const int64_t side : options.sides) sizes.emplace_back(options.model.size.size(), side);
  if (sizes.empty()) sizes.push_back(options.model.size);
  std::vector<CostEntry> entries;
  for (const std::string& name : options.models)
    for (const auto& size : sizes)
      entries.push_back(
          {&row_named(vision_models(), "model", name), size,
           model_of(options, mechanisms().front(), size).tokens().sizes,
           models::vision_classifier_cost(vision_config(options, name), vision_shape(options, size))});
  if (!entries.empty()) return entries;
  for (const std::string& name : options.mechanisms)
    for (const auto& size : sizes) {
      const CostMechanism& mechanism = mechanism_named(name);
      const analysis::VisionModel model = model_of(options, mechanism, size);
      models::validate_encoder(model.encoder, model.tokens(), "cost");
      CostEntry entry{&mechanism, size, model.tokens().sizes,
                      analysis::grid_cost(model, mechanism.projection)};
      entry.partial_count = linear_and_all_token(model, entry.cost);
      entry.paper_model = is_paper_model(model);
      entries.push_back(std::move(entry));
    }
  return entries;
}

void measure_costs(const CostOptions& options, std::vector<CostEntry>& entries) {
  const CostMechanism* last = nullptr;
  double seconds_a_count = 0;
  for (CostEntry& entry : entries) {
    if (entry.mechanism->projection == models::Projection::full)
      continue;  // same function, not implemented separately
    if (entry.mechanism != last) seconds_a_count = 0;
    last = entry.mechanism;
    const double expected = seconds_a_count * entry.cost.multiply_adds() * static_cast<double>(options.batch);
    if (expected > options.seconds) {
      spdlog::info("{} at {}: skipped, about {:.0f} s for a training step", entry.mechanism->title,
                   size_text(entry.size), expected);
      continue;
    }
    entry.measured = measured_entry(options, entry);
    seconds_a_count = entry.measured->training_seconds / entry.cost.multiply_adds();
    spdlog::info("{} at {}: {:.4g} ms training, {:.4g} ms inference per sample", entry.mechanism->title,
                 size_text(entry.size), 1e3 * entry.measured->training_seconds,
                 1e3 * entry.measured->inference_seconds);
  }
}

std::string size_text(const std::vector<int64_t>& size) {
  return fmt::format("{}", fmt::join(size, " × "));
}

report::Table cost_table(const std::vector<CostEntry>& entries, bool bytes) {
  report::Table table({{named_as(entries)},
                       {"size"},
                       {"tokens"},
                       {"parameters"},
                       {"multiply-adds"},
                       {"linear maps and all-token attention"},
                       {"printed"},
                       memory_column("saved activations", bytes)});
  for (const CostEntry& entry : entries) {
    const bool printed = entry.mechanism->printed && entry.paper_model;
    table.add_row({entry.mechanism->title, size_text(entry.size), tokens_cell(entry), entry.cost.parameters(),
                   giga_cell(entry.cost.multiply_adds()),
                   entry.partial_count ? giga_cell(*entry.partial_count) : Cell(""),
                   printed ? Cell(fmt::format("{:.2f} G", *entry.mechanism->printed)) : Cell(""),
                   mebi_cell(entry.cost.activation_bytes)});
  }
  return table;
}

report::Table measured_table(const std::vector<CostEntry>& entries, bool bytes) {
  report::Table table({{named_as(entries)},
                       {"tokens"},
                       {"training ms"},
                       {"inference ms"},
                       memory_column("training memory", bytes),
                       memory_column("inference memory", bytes)});
  for (const CostEntry& entry : entries)
    if (entry.measured)
      table.add_row({entry.mechanism->title, tokens_cell(entry),
                     Cell(1e3 * entry.measured->training_seconds, 2),
                     Cell(1e3 * entry.measured->inference_seconds, 2),
                     mebi_cell(entry.measured->training_bytes), mebi_cell(entry.measured->inference_bytes)});
  return table;
}

report::Table growth_table(const std::vector<CostEntry>& entries) {
  report::Table table({{named_as(entries)},
                       {"training"},
                       {"two largest"},
                       {"inference"},
                       {"two largest"},
                       {"sizes"},
                       {"largest, tokens"}});
  for (const CostGrowth& one : growth_of(entries))
    table.add_row({one.title, Cell(one.training, 2), Cell(one.training_end, 2), Cell(one.inference, 2),
                   Cell(one.inference_end, 2), one.points, static_cast<int64_t>(one.largest)});
  return table;
}

report::Table parts_table(const std::vector<nn::CostPart>& parts) {
  report::Table table({{"part"}, {"parameters"}, {"multiply-adds"}});
  add_parts(table, {}, parts);
  return table;
}

report::Table layers_table(const CostEntry& entry) {
  report::Table table({{"layer"}, {"part"}, {"parameters"}, {"multiply-adds"}});
  for (const nn::LayerCost& layer : entry.cost.layers) add_parts(table, {layer.name}, layer.parts);
  return table;
}

Json parts_json(const std::vector<nn::CostPart>& parts) {
  Json out = Json::array();
  for (const nn::CostPart& part : parts)
    out.push_back(
        {{"name", part.name}, {"parameters", part.parameters}, {"multiply_adds", part.multiply_adds}});
  return out;
}

Cell giga_cell(double value) {
  return Cell::number(value, value < 1e8    ? fmt::format("{:.2f} M", value / 1e6)
                             : value < 1e10 ? fmt::format("{:.2f} G", value / 1e9)
                                            : fmt::format("{:.1f} G", value / 1e9));
}

Cell mebi_cell(double bytes) {
  return Cell::number(bytes, fmt::format("{:.1f} MiB", bytes / (1024.0 * 1024.0)));
}

Json cost_json(const std::vector<CostEntry>& entries) {
  Json out = Json::array();
  for (const CostEntry& entry : entries) {
    Json layers = Json::array();
    for (const nn::LayerCost& layer : entry.cost.layers)
      layers.push_back({{"name", layer.name},
                        {"parameters", layer.parameters()},
                        {"multiply_adds", layer.multiply_adds()},
                        {"activation_bytes", layer.activation_bytes},
                        {"parts", parts_json(layer.parts)}});
    out.push_back({{"mechanism", entry.mechanism->name},
                   {"size", entry.size},
                   {"tokens", entry.cost.tokens},
                   {"parameters", entry.cost.parameters()},
                   {"multiply_adds", entry.cost.multiply_adds()},
                   {"linear_and_all_token", entry.partial_count ? Json(*entry.partial_count) : Json()},
                   {"activation_bytes", entry.cost.activation_bytes},
                   {"parts", parts_json(entry.cost.parts)},
                   {"layers", layers}});
    if (entry.measured)
      out.back()["measured"] = {{"training_seconds", entry.measured->training_seconds},
                                {"inference_seconds", entry.measured->inference_seconds},
                                {"training_bytes", entry.measured->training_bytes},
                                {"inference_bytes", entry.measured->inference_bytes},
                                {"repeats", entry.measured->repeats}};
  }
  Json growth = Json::array();
  for (const CostGrowth& one : growth_of(entries))
    growth.push_back({{"mechanism", one.title},
                      {"training", one.training},
                      {"training_two_largest", one.training_end},
                      {"inference", one.inference},
                      {"inference_two_largest", one.inference_end}});
  return {{"entries", out}, {"growth_exponents", growth}};
}

std::vector<std::pair<std::string, report::Figure>> cost_figures(const std::vector<CostEntry>& entries) {
  std::vector<std::pair<std::string, report::Figure>> out;
  const bool several = std::any_of(entries.begin(), entries.end(),
                                   [&](const CostEntry& e) { return e.size != entries.front().size; });
  const auto measured = [](double Measured::*value, double factor) {
    return [=](const CostEntry& e) {
      return e.measured ? std::optional((*e.measured).*value * factor) : std::nullopt;
    };
  };
  if (several)
    out.emplace_back("multiply_adds", chart(entries, "Multiply-adds per sample", "G", [](const CostEntry& e) {
                       return std::optional(e.cost.multiply_adds() / 1e9);
                     }));
  const bool any =
      std::any_of(entries.begin(), entries.end(), [](const CostEntry& e) { return e.measured.has_value(); });
  if (!any) return out;
  if (several) {
    out.emplace_back("training_time", chart(entries, "Training time per sample", "ms",
                                            measured(&Measured::training_seconds, 1e3)));
    out.emplace_back("inference_time", chart(entries, "Inference time per sample", "ms",
                                             measured(&Measured::inference_seconds, 1e3)));
    out.emplace_back("training_memory", chart(entries, "Training memory per sample", "MiB",
                                              measured(&Measured::training_bytes, 0x1p-20)));
  } else {
    out.emplace_back("training_time",
                     bars(entries, "Training, ms per sample", &Measured::training_seconds, 1e3));
    out.emplace_back("inference_time",
                     bars(entries, "Inference, ms per sample", &Measured::inference_seconds, 1e3));
    out.emplace_back("training_memory",
                     bars(entries, "Training memory, MiB per sample", &Measured::training_bytes, 0x1p-20));
    out.emplace_back("inference_memory",
                     bars(entries, "Inference memory, MiB per sample", &Measured::inference_bytes, 0x1p-20));
  }
  return out;
}

}  // namespace modewise::cli
