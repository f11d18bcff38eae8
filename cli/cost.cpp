#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/cost.h"
#include "modewise/core/build_info.h"
#include "modewise/core/error.h"
#include "modewise/core/file.h"
#include "modewise/core/folder.h"
#include "modewise/report/html_page.h"

namespace modewise::cli {
namespace {

namespace fs = std::filesystem;

/// The part of a model whose time and memory --measure takes.
std::string measured_part(const CostOptions& options) {
  return options.models.empty() ? "transformer layers only" : "whole models";
}

/// Removes the files of earlier costs in `out`, not all of which these ones have.
void remove_earlier(const fs::path& out) {
  fs::remove(out / "measured.csv");
  for (const char* figure : kCostFigures) fs::remove(out / (std::string(figure) + ".svg"));
}

void write_results(const Program& program, const CostOptions& options,
                   const std::vector<CostEntry>& entries) {
  const fs::path out = options.out;
  make_folders(out);
  remove_stale_temporaries(out, [](std::string_view) { return true; });
  require(options.force || !fs::exists(out / "cost.json"), ErrorKind::cannot_create,
          "{} already contains costs: --overwrite overwrites them", out.string());
  if (fs::exists(out / "cost.json")) remove_earlier(out);
  write_file_atomically(out / "cost.json", cost_json(entries).dump(1) + "\n");
  write_file_atomically(out / "cost.csv", cost_table(entries, true).to_csv());
  report::HtmlPage page("Cost of attention", "Analytic and measured");
  page.add_fact("machine", fmt::format("{}, {} threads", machine_info().processor, program.threads()));
  page.add_fact("blocks", fmt::format("{} of width {}, hidden {}, {} heads", options.model.encoder.blocks,
                                      options.model.encoder.width, options.model.encoder.hidden,
                                      options.model.encoder.heads));
  page.add_section("Cost per sample");
  page.add_table(cost_table(entries), "Multiply-adds of a forward pass.");
  if (!options.measure && entries.size() == 1) page.add_table(layers_table(entries.front()));
  if (options.measure) {
    page.add_section("Measured");
    page.add_table(measured_table(entries),
                   fmt::format("{}, batch {}, float32.", measured_part(options), options.batch));
    if (const report::Table growth = growth_table(entries); growth.rows() > 0)
      page.add_table(growth, "Exponent of the growth of time with the number of tokens.");
    write_file_atomically(out / "measured.csv", measured_table(entries, true).to_csv());
  }
  std::vector<report::CaptionedFigure> shown;
  for (const auto& [name, figure] : cost_figures(entries)) {
    write_file_atomically(out / (name + ".svg"), report::to_svg(figure));
    shown.push_back({figure, ""});
  }
  if (!shown.empty()) page.add_figure_grid(shown);
  page.write(out / "report.html");
}

void cost_of_sequences(const Program& program, const CostOptions& options) {
  const models::EncoderConfig& encoder = options.model.encoder;
  require(encoder.width % encoder.heads == 0, ErrorKind::usage, "--heads {} must divide --width {}",
          encoder.heads, encoder.width);
  require(
      options.out.empty() && !options.measure, ErrorKind::usage,
      "--tokens computes the cost of sequence attention analytically: --out and --measure are for volumes");
  const std::vector<SequenceEntry> entries = sequence_entries(options);
  program.print(tasks::Result(
      sequence_json(entries),
      fmt::format("One layer of attention over a sequence, width {}, {} heads\n\n{}\n"
                  "hops: attention steps from any token to any other, at most; –: tokens that are "
                  "never reached, or chance or the text decides\n"
                  "logits and mixing: multiply-adds of Q Kᵀ and of the weights with V; softmax: "
                  "weights of all heads; M: millions\n",
                  encoder.width, encoder.heads, sequence_table(entries).to_text())));
}

void cost(const Program& program, const CostOptions& options) {
  if (!options.tokens.empty()) return cost_of_sequences(program, options);
  std::vector<CostEntry> entries = account_costs(options);
  if (options.measure) measure_costs(options, entries);
  if (!options.out.empty()) write_results(program, options, entries);
  std::string text =
      fmt::format("{} blocks of width {}, hidden {}, {} heads; patch {}\n\n{}", options.model.encoder.blocks,
                  options.model.encoder.width, options.model.encoder.hidden, options.model.encoder.heads,
                  options.model.patch, cost_table(entries).to_text());
  if (options.layers)
    for (const CostEntry& entry : entries)
      text += fmt::format("\n{}, {}:\n{}", entry.mechanism->title, size_text(entry.size),
                          layers_table(entry).to_text());
  if (options.measure) {
    text += fmt::format("\nMeasured, {} threads, batch {}, {}:\n{}", program.threads(), options.batch,
                        measured_part(options), measured_table(entries).to_text());
    if (const report::Table growth = growth_table(entries); growth.rows() > 0)
      text += "\nExponent of the growth of time with the number of tokens:\n" + growth.to_text();
  }
  program.print(tasks::Result(cost_json(entries), std::move(text)));
}

}  // namespace

void add_cost(Program& program) {
  const auto [command, options] = program.add_command<CostOptions>(
      program.app(), "cost",
      "Compares parameters, multiply-adds and memory of attention types or models over volumes, analytic and "
      "measured.",
      "modewise cost --sides 28,56,112 --measure --blocks 1 --out cost", cost);
  models::EncoderConfig& encoder = options.model.encoder;
  encoder.width = 128;
  encoder.hidden = 512;
  encoder.blocks = 6;
  encoder.heads = 8;
  encoder.dropout = 0;
  CLI::Option* size =
      command->add_option("--size", options.model.size, "voxels along each axis, such as 28,28,28")
          ->delimiter(',')
          ->check(CLI::Range(1, 100000));
  command->add_option("--sides", options.sides, "sides of several cubes, such as 28,56,112,224")
      ->delimiter(',')
      ->excludes(size)
      ->check(CLI::Range(1, 100000));
  CLI::Option* tokens =
      command
          ->add_option(
              "--tokens", options.tokens,
              "sequence lengths, such as 512,2048: attention types of docs/sequences.md instead of volumes")
          ->delimiter(',')
          ->check(CLI::Range(1, 1 << 24));
  command->add_option("--patch", options.model.patch, "voxels of a patch along each axis")
      ->check(CLI::Range(1, 1024));
  CLI::Option* attention =
      command
          ->add_option("--attention", options.mechanisms,
                       "product, sum, released, linear, full, full-linear, divided, pooling-attention, or a "
                       "synthesizer (docs/synthesizers.md)")
          ->delimiter(',');
  command
      ->add_option(
          "--models", options.models,
          "whole models instead of attention types: hot, transformer, divided, pooling-attention, vit, "
          "resnet18, resnet50")
      ->delimiter(',')
      ->excludes(attention);
  command->add_option("--width", encoder.width, "D")->check(CLI::Range(1, 65536));
  command->add_option("--hidden", encoder.hidden, "hidden width of the feed-forward network (default 512)")
      ->check(CLI::Range(1, 1 << 20));
  command->add_option("--blocks", encoder.blocks, "transformer layers (default 6)")
      ->check(CLI::Range(1, 1000));
  command->add_option("--heads", encoder.heads, "attention heads (default 8)")->check(CLI::Range(1, 65536));
  command->add_option("--feed-forward", encoder.feed_forward, "feed-forward network: swiglu, gelu or none")
      ->check(CLI::IsMember({"swiglu", "gelu", "none"}));
  add_positive(*command, "--channels", options.model.channels, "channels of a voxel");
  add_positive(*command, "--classes", options.model.classes, "classes of the head");
  command->add_flag("--layers", options.layers, "show the cost of each layer");
  command->add_flag("--measure", options.measure,
                    "measure time and memory of training and inference on this machine");
  add_positive(*command, "--batch", options.batch, "batch size of measurements (default 1)");
  add_positive(*command, "--repeats", options.repeats, "maximum repetitions of each measurement (default 5)");
  add_positive(*command, "--seconds", options.seconds,
               "time limit: longer measurements are skipped (default 20)");
  command->add_option("--out", options.out, "folder for JSON, CSV, HTML report and SVG figures");
  command->add_flag("--overwrite", options.force, "overwrite existing files");
  for (const char* of_volumes :
       {"--size", "--sides", "--patch", "--attention", "--models", "--hidden", "--blocks", "--feed-forward",
        "--channels", "--classes", "--layers", "--batch", "--repeats", "--seconds"})
    tokens->excludes(command->get_option(of_volumes));
}

}  // namespace modewise::cli
