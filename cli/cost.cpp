#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/commands.h"
#include "modewise/analysis/cost.h"
#include "modewise/analysis/measured_cost.h"
#include "modewise/core/build_info.h"
#include "modewise/core/error.h"
#include "modewise/core/file.h"
#include "modewise/report/html_page.h"

namespace modewise::cli {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
using report::Cell;

struct CostOptions {
  analysis::GridModel model;
  std::vector<int64_t> sides;
  std::vector<std::string> mechanisms = {"product", "released", "linear", "full", "divided"};
  std::string out;
  int64_t batch = 1, repeats = 5;
  double seconds = 20;
  bool layers = false, measure = false, force = false;
};

struct Mechanism {
  const char *name, *attention, *kernel, *combine, *title;
  analysis::Projection projection = analysis::Projection::pooled;
  std::optional<double> printed = {};  // G, in the paper's Table 2
};

const std::vector<Mechanism>& mechanisms() {
  using analysis::Projection;
  static const std::vector<Mechanism> all = {
      {"product", "hot", "softmax", "product", "Kronecker product"},
      {"sum", "hot", "softmax", "mean", "Kronecker sum"},
      {"released", "hot", "softmax", "product", "Kronecker, projected as released", Projection::full, 0.67},
      {"linear", "hot", "linear", "product", "Kronecker linear"},
      {"full", "transformer", "softmax", "product", "full", Projection::pooled, 0.72},
      {"full-linear", "transformer", "linear", "product", "full linear"},
      {"divided", "divided", "softmax", "product", "divided", Projection::pooled, 0.71},
      {"mvit", "mvit", "softmax", "product", "pooling (MViT)"},
  };
  return all;
}

const Mechanism& mechanism_named(const std::string& name) {
  for (const Mechanism& one : mechanisms())
    if (one.name == name) return one;
  std::vector<std::string> names;
  for (const Mechanism& one : mechanisms()) names.emplace_back(one.name);
  fail(ErrorKind::usage, "there is no mechanism '{}' (there are {})", name, fmt::join(names, ", "));
}

/// The model of one mechanism and size.
analysis::GridModel model_of(const CostOptions& options, const Mechanism& mechanism,
                             const std::vector<int64_t>& size) {
  analysis::GridModel model = options.model;
  model.size = size;
  model.mechanism = mechanism.attention;
  model.encoder.attention.kernel = mechanism.kernel;
  model.encoder.attention.combine = mechanism.combine;
  return model;
}

/// The blocks' linear maps, and attention between all tokens where there is any. Of the counts that were
/// tried this is the one that gives all three figures which Table 2 of the paper prints for volumes; the
/// paper does not say how it counts, and its forecaster (Table 1) and Figure 6 contain mode products, which
/// this leaves out.
double linear_and_all_token(const analysis::GridModel& model, const analysis::ModelCost& cost) {
  double tokens = 1;
  for (const int64_t n : cost.tokens) tokens *= static_cast<double>(n);
  const double gates = model.encoder.feed_forward == "swiglu"
                           ? tokens * static_cast<double>(model.encoder.hidden * model.encoder.blocks)
                           : 0;
  double sum = cost.multiply_adds_of({"query and key", "value and output", "feed-forward"}) - gates;
  if (model.mechanism == "transformer") sum += cost.multiply_adds_of({"scores and mixing"});
  return sum;
}

/// 28³ voxels, patches of 4, 6 blocks of width 128 with SwiGLU of 512.
bool is_paper_model(const analysis::GridModel& model) {
  const models::EncoderConfig& encoder = model.encoder;
  return model.size == std::vector<int64_t>{28, 28, 28} && model.patch == 4 && encoder.blocks == 6 &&
         encoder.width == 128 && encoder.hidden == 512 && encoder.feed_forward == "swiglu";
}

struct Entry {
  const Mechanism* mechanism;
  std::vector<int64_t> size;
  analysis::ModelCost cost;
  double partial_count = 0;
  bool paper_model = false;  // the one whose figures the paper prints
  std::optional<analysis::MeasuredCost> measured = {};

  double tokens() const {
    double product = 1;
    for (const int64_t n : cost.tokens) product *= static_cast<double>(n);
    return product;
  }
};

std::string giga(double value) {
  return value < 1e10 ? fmt::format("{:.2f} G", value / 1e9) : fmt::format("{:.1f} G", value / 1e9);
}
std::string mebi(double bytes) {
  return fmt::format("{:.1f} MiB", bytes / (1024.0 * 1024.0));
}
Cell giga_cell(double value) {
  return Cell::number(value, giga(value));
}
Cell mebi_cell(double bytes) {
  return Cell::number(bytes, mebi(bytes));
}
std::string size_text(const std::vector<int64_t>& size) {
  return fmt::format("{}", fmt::join(size, " × "));
}

std::vector<Entry> account(const CostOptions& options) {
  std::vector<std::vector<int64_t>> sizes;
  for (const int64_t side : options.sides) sizes.emplace_back(options.model.size.size(), side);
  if (sizes.empty()) sizes.push_back(options.model.size);
  std::vector<Entry> entries;
  for (const std::string& name : options.mechanisms)
    for (const auto& size : sizes) {
      const Mechanism& mechanism = mechanism_named(name);
      const analysis::GridModel model = model_of(options, mechanism, size);
      models::validate_encoder(model.encoder, model.tokens(), "cost");
      Entry entry{&mechanism, size, analysis::grid_cost(model, mechanism.projection)};
      entry.partial_count = linear_and_all_token(model, entry.cost);
      entry.paper_model = is_paper_model(model);
      entries.push_back(std::move(entry));
    }
  return entries;
}

/// Measures ascending sizes of each mechanism until one would take longer than the budget.
void measure(const CostOptions& options, std::vector<Entry>& entries) {
  const Mechanism* last = nullptr;
  double seconds_a_count = 0;
  for (Entry& entry : entries) {
    if (entry.mechanism->projection == analysis::Projection::full)
      continue;  // the same function, not built here
    if (entry.mechanism != last) seconds_a_count = 0;
    last = entry.mechanism;
    const double expected = seconds_a_count * entry.cost.multiply_adds() * static_cast<double>(options.batch);
    if (expected > options.seconds) {
      spdlog::info("{} at {}: not measured, about {:.0f} s for a training step", entry.mechanism->title,
                   size_text(entry.size), expected);
      continue;
    }
    const analysis::GridModel model = model_of(options, *entry.mechanism, entry.size);
    entry.measured = analysis::measure_encoder(model.encoder, model.mechanism, model.tokens(), options.batch,
                                               options.repeats, options.seconds);
    seconds_a_count = entry.measured->training_seconds / entry.cost.multiply_adds();
    spdlog::info("{} at {}: {:.4g} ms training, {:.4g} ms inference a sample", entry.mechanism->title,
                 size_text(entry.size), 1e3 * entry.measured->training_seconds,
                 1e3 * entry.measured->inference_seconds);
  }
}

struct Growth {
  std::string title;
  double training = 0, inference = 0;
  double training_end = 0, inference_end = 0;  // between the two largest sizes
  double largest = 0;
  size_t points = 0;
};

std::vector<Growth> growth_of(const std::vector<Entry>& entries) {
  std::vector<Growth> out;
  for (size_t i = 0; i < entries.size(); ++i) {
    if (i > 0 && entries[i].mechanism == entries[i - 1].mechanism) continue;
    std::vector<double> tokens, training, inference;
    for (const Entry& entry : entries)
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

report::Table cost_table(const std::vector<Entry>& entries) {
  report::Table table({{"attention"},
                       {"size"},
                       {"tokens"},
                       {"parameters"},
                       {"multiply-adds"},
                       {"linear maps and all-token attention"},
                       {"printed"},
                       {"activations kept"}});
  for (const Entry& entry : entries) {
    const bool printed = entry.mechanism->printed && entry.paper_model;
    table.add_row({entry.mechanism->title, size_text(entry.size), static_cast<int64_t>(entry.tokens()),
                   entry.cost.parameters(), giga_cell(entry.cost.multiply_adds()),
                   giga_cell(entry.partial_count),
                   printed ? Cell(fmt::format("{:.2f} G", *entry.mechanism->printed)) : Cell(""),
                   mebi_cell(entry.cost.activation_bytes)});
  }
  return table;
}

report::Table measured_table(const std::vector<Entry>& entries) {
  report::Table table({{"attention"},
                       {"tokens"},
                       {"training ms"},
                       {"inference ms"},
                       {"training memory"},
                       {"inference memory"}});
  for (const Entry& entry : entries)
    if (entry.measured)
      table.add_row({entry.mechanism->title, static_cast<int64_t>(entry.tokens()),
                     Cell(1e3 * entry.measured->training_seconds, 2),
                     Cell(1e3 * entry.measured->inference_seconds, 2),
                     mebi_cell(entry.measured->training_bytes), mebi_cell(entry.measured->inference_bytes)});
  return table;
}

report::Table growth_table(const std::vector<Growth>& growth) {
  report::Table table({{"attention"},
                       {"training"},
                       {"two largest"},
                       {"inference"},
                       {"two largest"},
                       {"sizes"},
                       {"largest, tokens"}});
  for (const Growth& one : growth)
    table.add_row({one.title, Cell(one.training, 2), Cell(one.training_end, 2), Cell(one.inference, 2),
                   Cell(one.inference_end, 2), one.points, static_cast<int64_t>(one.largest)});
  return table;
}

report::Table parts_table(const Entry& entry, bool layers) {
  std::vector<report::Column> columns = {{"part"}, {"parameters"}, {"multiply-adds"}};
  if (layers) columns.insert(columns.begin(), {"layer"});
  report::Table table(columns);
  const auto add = [&](const std::string& layer, const std::vector<analysis::CostPart>& parts) {
    for (const analysis::CostPart& part : parts) {
      std::vector<Cell> cells = {
          part.name, part.parameters,
          Cell::number(part.multiply_adds, fmt::format("{:.2f} M", part.multiply_adds / 1e6))};
      if (layers) cells.insert(cells.begin(), layer);
      table.add_row(std::move(cells));
    }
  };
  if (!layers)
    add("", entry.cost.parts);
  else
    for (const analysis::LayerCost& layer : entry.cost.layers) add(layer.name, layer.parts);
  return table;
}

Json parts_json(const std::vector<analysis::CostPart>& parts) {
  Json out = Json::array();
  for (const analysis::CostPart& part : parts)
    out.push_back(
        {{"name", part.name}, {"parameters", part.parameters}, {"multiply_adds", part.multiply_adds}});
  return out;
}

Json cost_json(const std::vector<Entry>& entries) {
  Json out = Json::array();
  for (const Entry& entry : entries) {
    Json layers = Json::array();
    for (const analysis::LayerCost& layer : entry.cost.layers)
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
                   {"linear_and_all_token", entry.partial_count},
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
  for (const Growth& one : growth_of(entries))
    growth.push_back({{"mechanism", one.title},
                      {"training", one.training},
                      {"training_two_largest", one.training_end},
                      {"inference", one.inference},
                      {"inference_two_largest", one.inference_end}});
  return {{"entries", out}, {"growth_exponents", growth}};
}

/// One curve a mechanism over the number of tokens.
template <class Value>
report::LineChart chart(const std::vector<Entry>& entries, const std::string& title, const std::string& label,
                        const Value& value) {
  report::LineChart out;
  out.title = title;
  out.x = {"tokens", report::AxisScale::log, {}, {}};
  out.y = {label, report::AxisScale::log, {}, {}};
  for (const Entry& entry : entries) {
    const std::optional<double> y = value(entry);
    if (!y) continue;
    if (out.series.empty() || out.series.back().label != entry.mechanism->title)
      out.series.push_back({entry.mechanism->title, {}, {}});
    out.series.back().x.push_back(entry.tokens());
    out.series.back().y.push_back(*y);
  }
  return out;
}

report::BarChart bars(const std::vector<Entry>& entries, const std::string& title,
                      double analysis::MeasuredCost::*value, double factor) {
  report::BarChart out;
  out.title = title;
  report::BarSeries series;
  for (const Entry& entry : entries) {
    if (!entry.measured || entry.size != entries.front().size) continue;
    out.categories.emplace_back(entry.mechanism->title);
    series.values.push_back((*entry.measured).*value * factor);
  }
  out.series.push_back(std::move(series));
  return out;
}

using Measured = analysis::MeasuredCost;

std::vector<std::pair<std::string, report::Figure>> figures(const std::vector<Entry>& entries) {
  std::vector<std::pair<std::string, report::Figure>> out;
  const bool several = std::any_of(entries.begin(), entries.end(),
                                   [&](const Entry& e) { return e.size != entries.front().size; });
  const auto measured = [](double Measured::*value, double factor) {
    return [=](const Entry& e) {
      return e.measured ? std::optional((*e.measured).*value * factor) : std::nullopt;
    };
  };
  if (several)
    out.emplace_back("multiply_adds", chart(entries, "Multiply-adds a sample", "G", [](const Entry& e) {
                       return std::optional(e.cost.multiply_adds() / 1e9);
                     }));
  const bool any =
      std::any_of(entries.begin(), entries.end(), [](const Entry& e) { return e.measured.has_value(); });
  if (!any) return out;
  if (several) {
    out.emplace_back("training_time",
                     chart(entries, "Training, a sample", "ms", measured(&Measured::training_seconds, 1e3)));
    out.emplace_back("inference_time", chart(entries, "Inference, a sample", "ms",
                                             measured(&Measured::inference_seconds, 1e3)));
    out.emplace_back("training_memory", chart(entries, "Memory in training, a sample", "MiB",
                                              measured(&Measured::training_bytes, 0x1p-20)));
  } else {
    out.emplace_back("training_time",
                     bars(entries, "Training, ms a sample", &Measured::training_seconds, 1e3));
    out.emplace_back("inference_time",
                     bars(entries, "Inference, ms a sample", &Measured::inference_seconds, 1e3));
    out.emplace_back("training_memory",
                     bars(entries, "Memory in training, MiB a sample", &Measured::training_bytes, 0x1p-20));
    out.emplace_back("inference_memory",
                     bars(entries, "Memory in inference, MiB a sample", &Measured::inference_bytes, 0x1p-20));
  }
  return out;
}

void write_results(const Program& program, const CostOptions& options, const std::vector<Entry>& entries) {
  const fs::path out = options.out;
  fs::create_directories(out);
  require(options.force || !fs::exists(out / "cost.json"), ErrorKind::cannot_create,
          "{} holds costs already: --force overwrites them", out.string());
  write_file_atomically(out / "cost.json", cost_json(entries).dump(1) + "\n");
  write_file_atomically(out / "cost.csv", cost_table(entries).to_csv());
  report::HtmlPage page("What attention costs", "By formula, and measured where asked");
  page.add_fact("machine", fmt::format("{}, {} threads", machine_info().processor, program.threads()));
  page.add_fact("blocks", fmt::format("{} of width {}, hidden {}, {} heads", options.model.encoder.blocks,
                                      options.model.encoder.width, options.model.encoder.hidden,
                                      options.model.encoder.heads));
  page.add_section("Cost of a sample");
  page.add_table(cost_table(entries), "Multiply-adds of a forward pass.");
  if (!options.measure && entries.size() == 1) page.add_table(parts_table(entries.front(), true));
  if (options.measure) {
    page.add_section("Measured");
    page.add_table(measured_table(entries),
                   fmt::format("The blocks alone, batch {}, float32.", options.batch));
    if (const auto growth = growth_of(entries); !growth.empty())
      page.add_table(growth_table(growth), "Time grows as tokens to this power.");
    write_file_atomically(out / "measured.csv", measured_table(entries).to_csv());
  }
  std::vector<report::CaptionedFigure> shown;
  for (const auto& [name, figure] : figures(entries)) {
    write_file_atomically(out / (name + ".svg"), report::to_svg(figure));
    shown.push_back({figure, ""});
  }
  if (!shown.empty()) page.add_figure_grid(shown);
  page.write(out / "report.html");
}

int cost(const Program& program, const CostOptions& options) {
  std::vector<Entry> entries = account(options);
  if (options.measure) measure(options, entries);
  if (!options.out.empty()) write_results(program, options, entries);
  if (program.json()) {
    program.print(cost_json(entries));
    return 0;
  }
  std::string text =
      fmt::format("{} blocks of width {}, hidden {}, {} heads; patch {}\n\n{}", options.model.encoder.blocks,
                  options.model.encoder.width, options.model.encoder.hidden, options.model.encoder.heads,
                  options.model.patch, cost_table(entries).to_text());
  if (options.layers)
    for (const Entry& entry : entries)
      text += fmt::format("\n{}, {}:\n{}", entry.mechanism->title, size_text(entry.size),
                          parts_table(entry, true).to_text());
  if (options.measure) {
    text += fmt::format("\nMeasured, {} threads, batch {}, the blocks alone:\n{}", program.threads(),
                        options.batch, measured_table(entries).to_text());
    if (const auto growth = growth_of(entries); !growth.empty())
      text += "\nTime grows as tokens to this power:\n" + growth_table(growth).to_text();
  }
  program.print(text);
  return 0;
}

}  // namespace

void add_cost(Program& program) {
  const auto options = std::make_shared<CostOptions>();
  models::EncoderConfig& encoder = options->model.encoder;
  encoder.width = 128;
  encoder.hidden = 512;
  encoder.blocks = 6;
  encoder.heads = 8;
  encoder.dropout = 0;
  CLI::App* command = program.add_command(
      program.app(), "cost",
      "Parameters, multiply-adds and memory of attention forms over volumes, by formula and measured.",
      "modewise cost --sides 28,56,112 --measure --blocks 1 --out cost",
      [&program, options] { return cost(program, *options); });
  command->add_option("--size", options->model.size, "voxels along each axis, such as 28,28,28")
      ->delimiter(',')
      ->check(CLI::Range(1, 100000));
  command->add_option("--sides", options->sides, "several cubes, such as 28,56,112,224")
      ->delimiter(',')
      ->check(CLI::Range(1, 100000));
  command->add_option("--patch", options->model.patch, "voxels of a patch along each axis")
      ->check(CLI::Range(1, 1024));
  command
      ->add_option("--attention", options->mechanisms,
                   "product, sum, released, linear, full, full-linear, divided, mvit")
      ->delimiter(',');
  command->add_option("--width", encoder.width, "D")->check(CLI::Range(1, 65536));
  command->add_option("--hidden", encoder.hidden, "of the feed-forward")->check(CLI::Range(1, 1 << 20));
  command->add_option("--blocks", encoder.blocks, "blocks")->check(CLI::Range(1, 1000));
  command->add_option("--heads", encoder.heads, "heads")->check(CLI::Range(1, 65536));
  command->add_option("--feed-forward", encoder.feed_forward, "swiglu, gelu or none")
      ->check(CLI::IsMember({"swiglu", "gelu", "none"}));
  command->add_option("--channels", options->model.channels, "of a voxel")->check(CLI::PositiveNumber);
  command->add_option("--classes", options->model.classes, "of the head")->check(CLI::PositiveNumber);
  command->add_flag("--layers", options->layers, "layer by layer");
  command->add_flag("--measure", options->measure,
                    "time and memory of training and inference on this machine");
  command->add_option("--batch", options->batch, "samples at once when measuring")
      ->check(CLI::PositiveNumber);
  command->add_option("--repeats", options->repeats, "most runs of each measurement")
      ->check(CLI::PositiveNumber);
  command->add_option("--seconds", options->seconds, "a measurement that would take longer is left out")
      ->check(CLI::PositiveNumber);
  command->add_option("--out", options->out, "folder for JSON, CSV, HTML report and SVG figures");
  command->add_flag("--force", options->force, "overwrite what is there");
}

}  // namespace modewise::cli
