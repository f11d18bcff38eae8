#include "modewise/tasks/forecast/tables.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "modewise/report/table.h"
#include "modewise/tasks/run_figures.h"

namespace modewise::tasks {
namespace {

using Json = nlohmann::ordered_json;
using report::Cell;
using report::Column;

std::vector<Cell> error_cells(std::vector<Cell> first, const Json& errors, int decimals = 4) {
  for (const char* key : {"mse", "mae", "rmse"}) first.emplace_back(number(errors, key), decimals);
  first.emplace_back(number(errors, "smape"), 2);
  return first;
}

const std::vector<Column> error_columns(const std::string& first) {
  return {{first}, {"MSE"}, {"MAE"}, {"RMSE"}, {"SMAPE %"}};
}

std::string interval_lines(const Json& quantiles, const Json& in_units) {
  std::string text;
  for (size_t i = 0; i < quantiles["intervals"].size(); ++i) {
    const Json& interval = quantiles["intervals"][i];
    text +=
        fmt::format("{:g} % interval: holds {:.1f} % of the targets, mean width {:.4g} ({:.4g} in units)\n",
                    100 * number(interval, "nominal"), 100 * number(interval, "coverage"),
                    number(interval, "width"), number(in_units["intervals"][i], "width"));
  }
  return text + fmt::format("CRPS {:.4f}, mean pinball loss {:.4f}\n", number(quantiles, "crps"),
                            number(quantiles, "mean_pinball"));
}

}  // namespace

std::string forecast_text(const Json& evaluation, bool detail) {
  std::string text =
      fmt::format("{}: {} windows, lookback {}, horizon {}\n\n", evaluation["split"].get<std::string>(),
                  Cell::count(evaluation["windows"]).text(), evaluation["lookback"].get<int64_t>(),
                  evaluation["horizon"].get<int64_t>());
  report::Table total(error_columns("all"));
  if (evaluation["horizons"].size() > 1)
    for (const auto& [steps, errors] : evaluation["horizons"].items())
      total.add_row(error_cells({"scaled, horizon " + steps}, errors));
  else
    total.add_row(error_cells({"scaled"}, evaluation["scaled"]));
  total.add_row(error_cells({"in units"}, evaluation["units"]));
  text += total.to_text();
  if (evaluation.contains("quantiles"))
    text += "\n" + interval_lines(evaluation["quantiles"], evaluation["quantiles_units"]);
  if (!detail) return text;
  report::Table by_series({{"series"}, {"MSE"}, {"MAE"}, {"MAE in units"}, {"RMSE in units"}, {"SMAPE %"}});
  for (const Json& row : evaluation["by_series"])
    by_series.add_row({row["name"].get<std::string>(), Cell(number(row["scaled"], "mse"), 4),
                       Cell(number(row["scaled"], "mae"), 4), Cell(number(row["units"], "mae"), 4),
                       Cell(number(row["units"], "rmse"), 4), Cell(number(row["units"], "smape"), 2)});
  report::Table by_step(error_columns("step"));
  for (const Json& row : evaluation["by_step"])
    by_step.add_row(error_cells({row["step"].get<int64_t>()}, row));
  return text + "\n" + by_series.to_text() + "\n" + by_step.to_text();
}

std::string description_text(const data::Description& d) {
  std::string text = fmt::format("{}: {} rows", d.source, Cell::count(d.rows).text());
  for (const data::SeriesMode& mode : d.modes)
    text += fmt::format(" × {} {}{}", mode.labels.size(), mode.name, mode.ordered ? " (ordered)" : "");
  text += fmt::format(", {} of {} cells missing\n", Cell::count(d.missing_cells).text(),
                      Cell::count(d.cells).text());
  if (d.dated) text += fmt::format("from {} to {}, every {}\n", d.first_time, d.last_time, d.frequency);
  for (const std::string& note : d.notes) text += "note: " + note + "\n";
  report::Table variables({{"variable"}, {"missing"}, {"min"}, {"mean"}, {"max"}, {"deviation"}});
  const auto value = [](double x) { return Cell::number(x, fmt::format("{:.6g}", x)); };
  for (const data::SeriesStatistics& v : d.variables)
    variables.add_row({v.name, v.missing, value(v.min), value(v.mean), value(v.max), value(v.deviation)});
  text += "\n" + variables.to_text();
  if (!d.gaps.empty()) {
    report::Table gaps({{"gap from"}, {"to"}, {"rows"}});
    for (const data::Gap& gap : d.gaps) gaps.add_row({gap.first_time, gap.last_time, gap.rows});
    text += "\n" + gaps.to_text();
  }
  if (!d.split_problem.empty()) return text + "\nno split: " + d.split_problem + "\n";
  report::Table splits({{"split"}, {"rows"}, {"windows"}, {"from"}, {"to"}});
  for (const data::SplitLine& line : d.splits)
    splits.add_row({line.name, line.rows, line.windows, line.first_time, line.last_time});
  return text + fmt::format("\nsplit: {}\n", d.split_rule) + splits.to_text();
}

}  // namespace modewise::tasks
