#include <ATen/Parallel.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <torch/version.h>

#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/config_options.h"
#include "modewise/analysis/forecaster_cost.h"
#include "modewise/core/build_info.h"
#include "modewise/core/error.h"
#include "modewise/ops/kernel_info.h"
#include "modewise/tasks/forecast/config.h"
#include "modewise/tasks/forecast/kind.h"

namespace modewise::cli {
namespace {

using Json = nlohmann::ordered_json;
using report::Cell;

struct InfoOptions {
  ConfigOptions config;
  std::vector<int64_t> series;
  bool released = false;
};

std::string giga(double value) {
  return fmt::format("{:.2f} G", value / 1e9);
}
std::string mebi(double bytes) {
  return fmt::format("{:.1f} MiB", bytes / (1024.0 * 1024.0));
}

Json cost_json(const std::string& name, const analysis::ForecasterCost& cost) {
  Json parts = Json::array();
  for (const analysis::CostPart& part : cost.parts)
    parts.push_back(
        {{"name", part.name}, {"parameters", part.parameters}, {"multiply_adds", part.multiply_adds}});
  return {{"name", name},
          {"tokens", cost.tokens},
          {"parameters", cost.parameters()},
          {"multiply_adds", cost.multiply_adds()},
          {"activation_bytes", cost.activation_bytes},
          {"parts", parts}};
}

struct NamedCost {
  std::string name;
  analysis::ForecasterCost cost;
};

/// The forms worth setting side by side: for hot as it computes here, as released code would, and with
/// attention over all tokens.
std::vector<NamedCost> costs_of(const models::ForecasterConfig& model, const models::ForecastShape& shape) {
  using analysis::Projection;
  if (model.name != "hot") return {{model.name, analysis::forecaster_cost(model, shape)}};
  models::ForecasterConfig full = model;
  full.use_model("transformer");
  full.use_preset(model.preset);
  const models::AttentionConfig factors = full.attention;  // options that only factors have stay as they are
  full = model;
  full.name = "transformer";
  full.attention = factors;
  full.attention.query_key_norm = model.attention.query_key_norm;
  return {{"hot", analysis::forecaster_cost(model, shape)},
          {"hot, queries and keys projected before pooling (released code)",
           analysis::forecaster_cost(model, shape, Projection::full)},
          {"not factorized (attention over all tokens)", analysis::forecaster_cost(full, shape)}};
}

models::ForecastShape shape_of(const InfoOptions& options, const tasks::ForecastConfig& config) {
  models::ForecastShape shape;
  shape.series = options.series.empty() ? std::vector<int64_t>{options.released ? 100 : 7} : options.series;
  shape.ordered.assign(shape.series.size(), false);
  shape.lookback = config.forecast.lookback;
  shape.horizon = config.forecast.longest();
  shape.quantiles = config.forecast.probabilistic() ? std::ssize(config.forecast.quantiles) : 0;
  return shape;
}

int model_info(const Program& program, const InfoOptions& options) {
  ConfigOptions config_options = options.config;
  if (options.released) {
    // The forecaster whose cost the paper prints: 100 variables × 96 rows, patches of 4, 720 outputs.
    std::vector<std::string> settings = {"model.preset=release", "forecast.lookback=96",
                                         "forecast.horizon=720"};
    settings.insert(settings.end(), config_options.assignments.begin(), config_options.assignments.end());
    config_options.assignments = settings;
  }
  const tasks::ForecastConfig config =
      tasks::load_forecast_config(config_options.config, config_options.all_assignments());
  const models::ForecastShape shape = shape_of(options, config);
  const std::vector<NamedCost> costs = costs_of(config.model, shape);
  if (program.json()) {
    Json forms = Json::array();
    for (const NamedCost& one : costs) forms.push_back(cost_json(one.name, one.cost));
    program.print(Json{{"series", shape.series},
                       {"lookback", shape.lookback},
                       {"horizon", shape.horizon},
                       {"forms", forms}});
    return 0;
  }
  std::string text =
      fmt::format("{} series × {} rows, horizon {}; tokens {}\n\n", fmt::join(shape.series, " × "),
                  shape.lookback, shape.horizon, fmt::join(costs.front().cost.tokens, " × "));
  report::Table forms({{"form"}, {"parameters"}, {"multiply-adds a sample"}, {"activations kept a sample"}});
  for (const NamedCost& one : costs)
    forms.add_row({one.name, one.cost.parameters(),
                   Cell::number(one.cost.multiply_adds(), giga(one.cost.multiply_adds())),
                   Cell::number(one.cost.activation_bytes, mebi(one.cost.activation_bytes))});
  report::Table parts({{"part"}, {"parameters"}, {"multiply-adds"}});
  for (const analysis::CostPart& part : costs.front().cost.parts)
    parts.add_row({part.name, part.parameters,
                   Cell::number(part.multiply_adds, fmt::format("{:.2f} M", part.multiply_adds / 1e6))});
  program.print(text + forms.to_text() + "\n" + costs.front().name + ":\n" + parts.to_text());
  return 0;
}

int machine(const Program& program) {
  const BuildInfo build = build_info();
  const MachineInfo machine = machine_info();
  const std::vector<ops::KernelSummary> kernels = ops::kernel_summary();
  if (program.json()) {
    Json ops = Json::object();
    for (const ops::KernelSummary& op : kernels) ops[op.op] = op.kernels;
    program.print(Json{{"build", to_json(build)},
                       {"torch", TORCH_VERSION},
                       {"machine", to_json(machine)},
                       {"threads", program.threads()},
                       {"instruction_set", ops::active_isa()},
                       {"kernels", ops}});
    return 0;
  }
  std::string text = fmt::format(
      "modewise {} ({}), {}, {}\ntorch {}\n{}, {} cores, {:.1f} GiB, {}\n{}\n{} threads, loops for {} (of "
      "{})\n\n",
      build.version, build.commit, build.compiler, build.build_type, TORCH_VERSION, machine.processor,
      machine.cores, machine.memory_gib, machine.system, fmt::join(machine.instruction_sets, " "),
      program.threads(), ops::active_isa(), fmt::join(ops::available_isas(), ", "));
  report::Table table({{"operator"}, {"kernels, fastest first"}});
  for (const ops::KernelSummary& op : kernels)
    table.add_row({op.op, fmt::format("{}", fmt::join(op.kernels, ", "))});
  program.print(text + table.to_text());
  return 0;
}

int info(const Program& program, const InfoOptions& options) {
  if (options.released || !options.config.model.empty() || !options.config.config.empty())
    return model_info(program, options);
  require(options.config.assignments.empty() && options.series.empty(), ErrorKind::usage,
          "--set and --series say something about a model: give --model NAME, --config FILE or --released");
  return machine(program);
}

}  // namespace

void add_info(Program& program) {
  const auto options = std::make_shared<InfoOptions>();
  CLI::App* command = program.add_command(program.app(), "info",
                                          "Build, machine and kernels; with a model its parameters and cost.",
                                          "modewise info --model hot --series 21 --set forecast.horizon=720",
                                          [&program, options] { return info(program, *options); });
  options->config.add_to(*command, tasks::forecast_kind.data_help, tasks::forecast_kind.model_help);
  command->add_option("--series", options->series, "sizes of the series modes, such as 21, or 12 11")
      ->check(CLI::PositiveNumber);
  command->add_flag("--released", options->released,
                    "the released forecaster at 100 series × 96 rows, as the paper counts its cost");
}

}  // namespace modewise::cli
