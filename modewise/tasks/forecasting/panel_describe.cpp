#include "modewise/tasks/forecasting/panel_describe.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "modewise/data/forecasting/panel.h"
#include "modewise/metrics/json_number.h"
#include "modewise/report/table.h"
#include "modewise/tasks/forecasting/choose_defaults.h"
#include "modewise/tasks/forecasting/panel_forecast.h"

namespace modewise::tasks {
namespace {

using Json = nlohmann::ordered_json;
using report::Cell;

/// Statistics of the columns of [R, W].
Json statistics(const at::Tensor& table, const at::Tensor& mask, const std::vector<std::string>& names) {
  const int64_t width = table.size(1), rows = table.size(0);
  const double* values = table.const_data_ptr<double>();
  const bool* observed = mask.defined() ? mask.const_data_ptr<bool>() : nullptr;
  Json list = Json::array();
  for (int64_t v = 0; v < width; ++v) {
    double count = 0, mean = 0, squares = 0, low = std::numeric_limits<double>::infinity(), high = -low;
    for (int64_t cell = v; cell < rows * width; cell += width) {
      if (observed != nullptr && !observed[cell]) continue;
      const double difference = values[cell] - mean;  // Welford's update
      mean += difference / ++count;
      squares += difference * (values[cell] - mean);
      low = std::min(low, values[cell]);
      high = std::max(high, values[cell]);
    }
    list.push_back({{"name", names[static_cast<size_t>(v)]},
                    {"missing", rows - static_cast<int64_t>(count)},
                    {"min", metrics::finite_or_null(low)},
                    {"mean", metrics::finite_or_null(count > 0 ? mean : std::nan(""))},
                    {"max", metrics::finite_or_null(high)},
                    {"std", metrics::finite_or_null(std::sqrt(squares / count))}});
  }
  return list;
}

/// Ids and variables as the modes of one tensor would have them.
Json modes_of(const data::Panel& panel) {
  Json ids = Json::array();
  for (int64_t s = 0; s < panel.series(); ++s) ids.push_back(panel.name(s));
  Json modes = Json::array();
  modes.push_back({{"name", fmt::format("{}", fmt::join(panel.layout.id, "/"))},
                   {"ordered", false},
                   {"labels", std::move(ids)}});
  if (panel.layout.values.size() > 1)
    modes.push_back({{"name", "variable"}, {"ordered", false}, {"labels", panel.layout.values}});
  return modes;
}

}  // namespace

Result describe_panel(ForecastConfig config, data::PanelChoice choice) {
  const data::Panel panel = data::load_panel(config.data, std::move(choice.table));
  std::vector<int64_t> rows;
  int64_t last = 0, first_series = 0, last_series = 0;
  const auto end = [&](int64_t s) { return panel.time_at(s, panel.rows(s) - 1); };
  for (int64_t s = 0; s < panel.series(); ++s) {
    rows.push_back(panel.rows(s));
    last = std::max(last, panel.clock_row(s, panel.rows(s)) - 1);
    if (panel.time_at(s, 0) < panel.time_at(first_series, 0)) first_series = s;
    if (end(s) > end(last_series)) last_series = s;
  }
  const std::string first_time = panel.time_text(first_series, 0),
                    last_time = panel.time_text(last_series, panel.rows(last_series) - 1);
  std::sort(rows.begin(), rows.end());
  const int64_t median = rows[rows.size() / 2];
  if (config.forecast.longest() == 0)
    config.forecast.horizon = usual_horizon(panel.clock, std::max<int64_t>(median / 4, 2));
  const data::PanelSplits splits = splits_of(config, panel);
  std::vector<std::string> notes = panel.notes;
  notes.insert(notes.end(), panel.warnings.begin(), panel.warnings.end());
  if (!choice.reason.empty()) notes.insert(notes.begin(), choice.reason);
  std::vector<std::string> statics;
  for (const data::StaticColumn& column : panel.statics) statics.push_back(column.name);
  Json variables = statistics(panel.values, panel.observed, panel.layout.values);
  if (!panel.known.names.empty())
    for (const Json& one : statistics(panel.known.values, panel.known.observed, panel.known.names))
      variables.push_back(one);
  Json json = {{"source", panel.source},
               {"panel", true},
               {"series", panel.series()},
               {"modes", modes_of(panel)},
               {"rows", last + 1},
               {"rows_of_all_series", panel.offsets.back()},
               {"rows_of_a_series", {{"min", rows.front()}, {"median", median}, {"max", rows.back()}}},
               {"dated", panel.clock.dated},
               {"first", first_time},
               {"last", last_time},
               {"frequency", panel.clock.frequency_text()},
               {"variables", variables},
               {"future_covariates", panel.known.names},
               {"static_covariates", statics},
               {"horizon", config.forecast.longest()},
               {"split_rule", splits.rule},
               {"splits",
                {{{"name", "training"}, {"windows", splits.train.size()}},
                 {{"name", "validation"}, {"windows", splits.validation.size()}},
                 {{"name", "test"}, {"windows", splits.test.size()}}}},
               {"notes", notes}};
  std::string text = fmt::format("{}: a panel of {} series of {} to {} rows (median {}), {} rows in all\n",
                                 panel.source, Cell::count(panel.series()).text(), rows.front(), rows.back(),
                                 median, Cell::count(panel.offsets.back()).text());
  if (panel.clock.has_times())
    text += fmt::format("from {} to {}, every {}\n", first_time, last_time, panel.clock.frequency_text());
  for (const std::string& note : notes) text += "note: " + note + "\n";
  report::Table table({{"variable"}, {"missing"}, {"min"}, {"mean"}, {"max"}, {"deviation"}});
  const auto value = [](const Json& x) {
    return x.is_null() ? Cell("") : Cell::number(x.get<double>(), fmt::format("{:.6g}", x.get<double>()));
  };
  for (const Json& one : variables)
    table.add_row({one.at("name").get<std::string>(), one.at("missing").get<int64_t>(), value(one.at("min")),
                   value(one.at("mean")), value(one.at("max")), value(one.at("std"))});
  text += "\n" + table.to_text();
  text += fmt::format("\nsplit for a horizon of {}: {}\nwindows: {} training, {} validation, {} test\n",
                      config.forecast.longest(), splits.rule, splits.train.size(), splits.validation.size(),
                      splits.test.size());
  return {std::move(json), text};
}

}  // namespace modewise::tasks
