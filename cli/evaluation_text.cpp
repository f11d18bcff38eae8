#include "cli/evaluation_text.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "modewise/report/table.h"

namespace modewise::cli {
namespace {

using Json = nlohmann::ordered_json;
using report::Cell;
using report::Column;

double number(const Json& json, const char* key) {
  return json.contains(key) && json[key].is_number() ? json[key].get<double>() : std::nan("");
}

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

std::string evaluation_text(const Json& evaluation, bool detail) {
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

}  // namespace modewise::cli
