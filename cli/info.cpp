#include <ATen/Parallel.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <torch/version.h>

#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/cost.h"
#include "cli/options.h"
#include "modewise/core/build_info.h"
#include "modewise/core/error.h"
#include "modewise/core/processor_rates.h"
#include "modewise/data/forecasting/panel.h"
#include "modewise/models/forecasting/cost.h"
#include "modewise/ops/dense/tile_rate.h"
#include "modewise/ops/kernel_info.h"
#include "modewise/tasks/forecasting/config.h"
#include "modewise/tasks/forecasting/data.h"
#include "modewise/tasks/forecasting/spec.h"
#include "modewise/tasks/run/load_config.h"

namespace modewise::cli {
namespace {

using Json = nlohmann::ordered_json;

struct InfoOptions {
  ConfigOptions config;
  std::vector<int64_t> series;
  bool released = false, rates = false;
};

struct NamedCost {
  std::string name;
  nn::ModelCost cost;
};

/// Compared costs: hot as implemented here, as in the released code, and with full attention.
std::vector<NamedCost> costs_of(const models::ForecasterConfig& model, const models::ForecastShape& shape) {
  using models::Projection;
  if (model.name != "hot") return {{model.name, models::forecaster_cost(model, shape)}};
  models::ForecasterConfig full = model;
  full.use_model("transformer");
  full.use_preset(model.preset);
  const models::AttentionConfig factors = full.attention;  // options that only factors have are unchanged
  full = model;
  full.name = "transformer";
  full.attention = factors;
  full.attention.query_key_norm = model.attention.query_key_norm;
  return {{"hot", models::forecaster_cost(model, shape)},
          {"hot, queries and keys projected before pooling (released code)",
           models::forecaster_cost(model, shape, Projection::full)},
          {"not factorized (attention over all tokens)", models::forecaster_cost(full, shape)}};
}

/// Sizes of the data, which choose an open lookback and horizon.
models::ForecastShape shape_of_data(tasks::ForecastConfig& config) {
  require(!data::choose_panel(config.data).panel, ErrorKind::usage,
          "{} is read as a panel, and info counts models of one tensor: give --series, the number of its "
          "variables, without the data, or set data.panel = no",
          config.data.path);
  const tasks::ForecastData data = tasks::load_forecast_data(config);
  return config.model_shape(data.series);
}

models::ForecastShape shape_of(const InfoOptions& options, tasks::ForecastConfig& config) {
  if (options.series.empty() && !(config.data.path.empty() && config.data.simulate.empty()))
    return shape_of_data(config);
  models::ForecastShape shape;
  shape.series = options.series.empty() ? std::vector<int64_t>{options.released ? 100 : 7} : options.series;
  shape.ordered.assign(shape.series.size(), false);
  const auto usual = [](int64_t rows) { return rows > 0 ? rows : tasks::ForecastOptions::kUsualRows; };
  shape.lookback = usual(config.forecast.lookback);
  shape.horizon = usual(config.forecast.longest());
  shape.quantiles = config.forecast.probabilistic() ? std::ssize(config.forecast.quantiles) : 0;
  return shape;
}

void model_info(const Program& program, const InfoOptions& options) {
  ConfigOptions config_options = options.config;
  if (options.released) {
    // The paper's forecaster: 100 variables × 96 rows, patches of 4, 720 outputs.
    std::vector<std::string> settings = {"model.preset=release", "forecast.lookback=96",
                                         "forecast.horizon=720"};
    settings.insert(settings.end(), config_options.assignments.begin(), config_options.assignments.end());
    config_options.assignments = settings;
  }
  auto config =
      tasks::load_config<tasks::ForecastConfig>({config_options.config, config_options.all_assignments()});
  const models::ForecastShape shape = shape_of(options, config);
  const std::vector<NamedCost> costs = costs_of(config.model, shape);
  Json forms = Json::array();
  report::Table table(
      {{"model"}, {"parameters"}, {"multiply-adds per sample"}, {"saved activations per sample"}});
  for (const auto& [name, cost] : costs) {
    const double multiply_adds = cost.multiply_adds();
    forms.push_back({{"name", name},
                     {"tokens", cost.tokens},
                     {"parameters", cost.parameters()},
                     {"multiply_adds", multiply_adds},
                     {"activation_bytes", cost.activation_bytes},
                     {"parts", parts_json(cost.parts)}});
    table.add_row({name, cost.parameters(), giga_cell(multiply_adds), mebi_cell(cost.activation_bytes)});
  }
  const auto& [name, cost] = costs.front();
  program.print(tasks::Result(
      {{"series", shape.series}, {"lookback", shape.lookback}, {"horizon", shape.horizon}, {"forms", forms}},
      fmt::format("{} series × {} rows, horizon {}{}{}\n\n{}\n{}:\n{}", fmt::join(shape.series, " × "),
                  shape.lookback, shape.horizon, cost.tokens.empty() ? "" : "; tokens ",
                  fmt::join(cost.tokens, " × "), table.to_text(), name, parts_table(cost.parts).to_text())));
}

constexpr double kGiga = 1e9;

/// Measured rates of one core.
struct Rates {
  ProcessorRates core = processor_rates();
  double float32_tile = ops::tile_rate(at::kFloat), bf16_tile = ops::tile_rate(at::kBFloat16);
};

Json rates_json(const Rates& rates) {
  const auto giga = [](double rate) { return rate > 0 ? Json(rate / kGiga) : Json(); };
  return {{"float32_peak_gflops", giga(rates.core.float32)},
          {"bf16_pairs_peak_gflops", giga(rates.core.bf16_pairs)},
          {"bf16_tiles_peak_gflops", giga(rates.core.bf16_tiles)},
          {"float32_tile_gflops", giga(rates.float32_tile)},
          {"bf16_tile_gflops", giga(rates.bf16_tile)},
          {"copy_gigabytes", giga(rates.core.copy)}};
}

std::string rates_text(const Rates& rates) {
  const double peak = rates.core.float32;
  const auto peak_of = [](double rate) {
    return rate > 0 ? fmt::format("{:.0f} GF/s", rate / kGiga) : std::string("none");
  };
  const auto tile = [&](double rate) {
    return fmt::format("{:.0f} GF/s ({:.0f} % of the float32 peak)", rate / kGiga, 100 * rate / peak);
  };
  report::Table table({{"one core"}, {"rate"}});
  table.add_row({"float32 multiply-adds on registers", fmt::format("{:.0f} GF/s", peak / kGiga)});
  table.add_row({"bf16 products of pairs", peak_of(rates.core.bf16_pairs)});
  table.add_row({"bf16 products of tiles (AMX)", peak_of(rates.core.bf16_tiles)});
  table.add_row({"linear 512 → 128, float32", tile(rates.float32_tile)});
  table.add_row({"linear 512 → 128, bf16", tile(rates.bf16_tile)});
  table.add_row({"copy of memory, read and written", fmt::format("{:.1f} GB/s", rates.core.copy / kGiga)});
  return table.to_text() + "\n";
}

void machine(const Program& program, bool with_rates) {
  const BuildInfo build = build_info();
  const MachineInfo machine = machine_info();
  Json by_operator = Json::object();
  report::Table table({{"operator"}, {"kernels, fastest first"}});
  for (const ops::KernelSummary& op : ops::kernel_summary()) {
    by_operator[op.op] = op.kernels;
    table.add_row({op.op, fmt::format("{}", fmt::join(op.kernels, ", "))});
  }
  const std::string text = fmt::format(
      "modewise {} ({}), {}, {}\ntorch {}\n{}, {} cores, {:.1f} GiB, {}\n{}\n{} threads, loops for {} (of "
      "{})\n{}\n\n",
      build.version, build.commit, build.compiler, build.build_type, TORCH_VERSION, machine.processor,
      machine.cores, machine.memory_gib, machine.system, fmt::join(machine.instruction_sets, " "),
      program.threads(), ops::active_isa(), fmt::join(ops::available_isas(), ", "), ops::bits_promise());
  Json known = {{"build", to_json(build)},
                {"torch", TORCH_VERSION},
                {"machine", to_json(machine)},
                {"threads", program.threads()},
                {"instruction_set", ops::active_isa()},
                {"bits", ops::bits_promise()},
                {"kernels", by_operator}};
  std::string rates_table;
  if (with_rates) {
    const Rates rates;
    known["rates"] = rates_json(rates);
    rates_table = rates_text(rates);
  }
  program.print(tasks::Result(known, text + rates_table + table.to_text()));
}

void info(const Program& program, const InfoOptions& options) {
  const bool of_model = options.released || !options.config.model.empty() || !options.config.config.empty();
  require(!of_model || !options.rates, ErrorKind::usage,
          "--rates measures the machine: remove --model, --config and --released");
  require(options.series.empty() || options.config.data.empty(), ErrorKind::usage,
          "--series contradicts --data, from which the sizes are read: give one of them");
  if (of_model) return model_info(program, options);
  require(options.config.all_assignments().empty() && options.series.empty(), ErrorKind::usage,
          "--set, --data, --seed and --series need a model: give --model NAME, --config FILE or --released");
  machine(program, options.rates);
}

}  // namespace

void add_info(Program& program) {
  const auto [command, options] = program.add_command<InfoOptions>(
      program.app(), "info", "Prints build, machine and kernels, or parameters and cost of a model.",
      "modewise info --model hot --series 21 --set forecast.horizon=720", info);
  options.config.add_to(*command, tasks::forecasting_spec.data_help, tasks::forecasting_spec.model_help);
  command->add_option("--series", options.series, "sizes of the series modes, such as 21, or 12 11")
      ->delimiter(',')
      ->check(positive_number());
  command->add_flag("--released", options.released,
                    "cost of the released forecaster at 100 series × 96 rows, as in the paper");
  command->add_flag("--rates", options.rates,
                    "measure one core: peak of float32 and bf16 products, matrix kernel, memory copies");
}

}  // namespace modewise::cli
