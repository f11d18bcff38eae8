#include "modewise/data/forecasting/load_series.h"

#include <ATen/ops/empty.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <utility>

#include "modewise/core/counted.h"
#include "modewise/core/data_files.h"
#include "modewise/core/error.h"
#include "modewise/core/nearest_name.h"
#include "modewise/data/fill_values.h"
#include "modewise/data/forecasting/future_covariates.h"
#include "modewise/data/forecasting/simulate.h"
#include "modewise/data/forecasting/sources.h"
#include "modewise/data/forecasting/tables/table_time.h"
#include "modewise/data/forecasting/tables/value_columns.h"
#include "modewise/data/forecasting/tensor_cells.h"
#include "modewise/io/mapped_file.h"
#include "modewise/io/tables/csv.h"

namespace modewise::data {
namespace {

/// Whether a file without a known extension is a CSV table: its first non-empty line contains text, no digit,
/// or whole numbers as column names.
bool holds_table(const ForecastDataConfig& config) {
  const io::MappedFile file(config.path);
  const std::string_view text(reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size());
  const size_t begin = text.find_first_not_of("\r\n");
  if (begin == std::string_view::npos) return true;
  const std::string_view line =
      text.substr(begin, std::min(text.find_first_of("\r\n", begin), text.size()) - begin);
  constexpr std::string_view kDigits = "0123456789", kNumbers = "0123456789+-.eE,; \t\r";
  if (line.find_first_not_of(kNumbers) != std::string_view::npos) return true;
  if (line.find_first_of(kDigits) == std::string_view::npos) return true;
  if (config.header != "auto") return config.header == "yes";
  // Numbers separated by spaces are numeric text, not CSV.
  return line.find_first_of(",;") != std::string_view::npos &&
         io::guess_csv_header(file.bytes(), config.path).names;
}

/// An option of tables that is set, which plain numbers would not heed; "": none.
std::string option_of_tables(const ForecastDataConfig& config) {
  const std::pair<const char*, bool> options[] = {
      {"categories", !config.categories.empty()},
      {"time", names_time(config)},
      {"time_format", !config.time_format.empty()},
      {"id", !config.id.empty()},
      {"orient", config.orient == "rows" || config.orient == "periods"},
      {"delimiter", !config.delimiter.empty()},
      {"header_rows", config.header_rows != 1},
      {"decimal", config.marks.decimal != "auto"},
      {"thousands", config.marks.thousands != "auto"},
      {"magnitudes", !config.marks.magnitudes},
      {"skip_lines", !config.skip_lines.empty()},
      {"missing_texts", !config.missing_texts.empty()}};
  for (const auto& [name, given] : options)
    if (given) return name;
  return {};
}

std::string format_of(const ForecastDataConfig& config) {
  if (config.format == "text")
    if (const std::string option = option_of_tables(config); !option.empty())
      fail(ErrorKind::config,
           "data.{} is for CSV, but data.format = text reads plain numbers; data.format = csv reads a table",
           option);
  if (config.format != "auto") return config.format;
  const std::filesystem::path path(config.path);
  if (std::filesystem::is_directory(path)) return "folder";
  const std::string extension = lower_extension(path);
  if (extension == ".npy" || extension == ".npz") return extension.substr(1);
  if (extension == ".csv" || extension == ".tsv") return "csv";
  return !option_of_tables(config).empty() || holds_table(config) ? "csv" : "text";
}

Series simulate(const ForecastDataConfig& config) {
  const auto seed = static_cast<uint64_t>(config.simulate_seed);
  if (config.simulate == "lorenz96") return simulate_lorenz96(config.lorenz96, config.simulate_rows, seed);
  if (config.simulate == "logistic") return simulate_logistic(config.logistic, config.simulate_rows, seed);
  return simulate_seasonal(config.seasonal, config.simulate_rows, seed);
}

Series read(const ForecastDataConfig& config) {
  const std::string format = format_of(config);
  if (format == "folder") return read_folder_series(config);
  if (format == "text") return read_text_series(config);
  if (format == "npy") return read_npy_series(config);
  if (format == "npz") return read_npz_series(config);
  return read_csv_series(config);
}

/// Applies `columns` and `drop` to the last mode, for sources that did not apply them while reading.
void choose_columns(Series& series, const ForecastDataConfig& config) {
  if (config.columns.empty() && config.drop.empty()) return;
  const std::vector<size_t> chosen = chosen_columns(series.modes.back().labels, config, series.source);
  series = with_positions(std::move(series), chosen);
}

void name_modes(Series& series, const ForecastDataConfig& config) {
  if (!config.mode_names.empty()) {
    require(config.mode_names.size() == series.modes.size(), ErrorKind::config,
            "data.mode_names: {} has {} modes besides time, got {} names", series.source, series.modes.size(),
            config.mode_names.size());
    for (size_t i = 0; i < series.modes.size(); ++i) series.modes[i].name = config.mode_names[i];
  }
  std::vector<std::string> names;
  for (const SeriesMode& mode : series.modes) names.push_back(mode.name);
  for (const std::string& name : config.ordered_modes) {
    const auto at = std::find(names.begin(), names.end(), name);
    require(at != names.end(), ErrorKind::config, "data.ordered_modes: {} has no mode '{}'{}", series.source,
            name, nearest_name_hint(name, names));
    series.modes[static_cast<size_t>(at - names.begin())].ordered = true;
  }
}

/// Applies `start` and `step` to sources without dates.
void date_rows(Series& series, const ForecastDataConfig& config) {
  TimeAxis& time = series.time;
  if (!time.dated) time.length = series.rows();
  if (config.start.empty() && config.step.empty()) return;
  require(!time.dated, ErrorKind::config,
          "data.start and data.step are for sources without dates, {} has dates", series.source);
  require(!config.start.empty() && !config.step.empty(), ErrorKind::config,
          "data.start and data.step must both be set, only data.{} is",
          config.start.empty() ? "step" : "start");
  const auto written = io::read_date_time(config.start);
  if (written && written->style.order_guessed)
    series.warnings.push_back(fmt::format("data.start = {} is read as {}; day and month are ambiguous",
                                          config.start, written->style.text()));
  const auto seconds = io::parse_date_time(config.start);
  require(written.has_value() && seconds.has_value(), ErrorKind::config,
          "data.start: expected a date such as 2019-03-01 00:00, got '{}'", config.start);
  const Step step = parse_step(config.step, "data.step");
  time.dated = true;
  time.start = *seconds;
  time.step = step.seconds;
  time.months = step.months;
  time.month_day = step.months != 0 ? io::to_civil(*seconds).day : 0;
  time.style = written->style;
  if (time.step % io::kSecondsOfDay != 0 && time.style.clock == io::DateStyle::no_clock)
    time.style.clock = io::DateStyle::minutes;
  if (time.step % 60 != 0) time.style.clock = io::DateStyle::seconds;
}

/// Whether `x` is the missing-value number `mark`, or the float32 nearest to it.
bool is_special_token(double x, double mark) {
  return x == mark || (x == static_cast<float>(x) && x == static_cast<float>(mark));
}

/// Warns of fill values that missing_values does not list.
void warn_of_fills(Series& series, const FillValues& fills) {
  const int64_t width = series.series_count();
  for (const FillValues::Found& fill : fills.found()) {
    const std::string value = fill_text(fill.value);
    series.warnings.push_back(
        fmt::format("{} hold{} {}, which usually stands for a missing value, the first at {}: "
                    "data.missing_values={} treats them as missing",
                    counted(fill.count, "cell"), fill.count == 1 ? "s" : "", value,
                    series.where(fill.first / width, fill.first % width), value));
  }
}

/// Makes the mask: NaN, infinities and `missing_values` are missing and set to 0.
void mark_missing(Series& series, const ForecastDataConfig& config) {
  series.values = series.values.contiguous();
  const TensorCells values(series.values);
  const int64_t cells = series.values.numel();
  const std::vector<double>& sentinels = config.missing_values;
  int64_t infinite = 0, marked = 0, missing = 0;
  FillValues fills;
  for (int64_t i = 0; i < cells; ++i) {
    const double x = values[i];
    const bool sentinel = std::any_of(sentinels.begin(), sentinels.end(),
                                      [&](double mark) { return is_special_token(x, mark); });
    if (std::isfinite(x) && !sentinel) {
      fills.see(x, i);
      continue;
    }
    infinite += std::isinf(x);
    marked += sentinel;
    ++missing;
    values.set(i, std::numeric_limits<double>::quiet_NaN());
  }
  warn_of_fills(series, fills);
  if (infinite > 0)
    series.notes.push_back(fmt::format("{} treated as missing", counted(infinite, "infinite cell")));
  if (marked > 0)
    series.notes.push_back(
        fmt::format("{} of {} treated as missing", counted(marked, "cell"), fmt::join(sentinels, " or ")));
  require(missing < cells, ErrorKind::data, "{}: every cell is missing", series.source);
  if (missing == 0) return;
  series.observed = at::empty(series.values.sizes(), at::kBool);
  bool* observed = series.observed.mutable_data_ptr<bool>();
  for (int64_t i = 0; i < cells; ++i) {
    observed[i] = !std::isnan(values[i]);
    if (!observed[i]) values.set(i, 0);
  }
}

/// Ends at the last value to forecast. Future covariates have ended the series before, and a plan may have
/// empty rows.
void leave_out_empty_end(Series& series, const ForecastDataConfig& config) {
  if (!config.known.empty() || config.follows) return;
  const int64_t after = end_at_last_value(series), last = series.rows() - 1;
  if (after > 0)
    series.warnings.push_back(fmt::format(
        "{} after the last row with a value to forecast ({}) {} left out", counted(after, "row"),
        series.time.dated ? series.time.text_at(last) : fmt::format("row {}", last + 1), is_or_are(after)));
}

}  // namespace

bool reads_table(const ForecastDataConfig& config) {
  return config.simulate.empty() && format_of(config) == "csv";
}

Series load_series(const ForecastDataConfig& asked) {
  ForecastDataConfig config = asked;
  if (!config.columns.empty())
    config.columns.insert(config.columns.end(), config.known.begin(), config.known.end());
  const bool simulated = !config.simulate.empty();
  require(simulated || !config.path.empty(), ErrorKind::config,
          "data: expected data.path (a file or folder) or data.simulate (lorenz96, logistic, seasonal), got "
          "neither");
  require(!simulated || config.path.empty(), ErrorKind::config,
          "data: expected data.path or data.simulate, got both ({} and {})", config.path, config.simulate);
  require(
      config.statics.empty(), ErrorKind::config,
      "data.static_covariates are of the series of a panel, {} is read as one tensor: set data.panel = yes",
      simulated ? config.simulate : config.path);
  require(config.format != "text" || config.header != "yes", ErrorKind::config,
          "data.header = yes is for CSV, but data.format = text reads plain numbers without a header");
  Series series = simulated ? simulate(config) : read(config);
  if (!simulated) series.source = config.path;
  const bool by_name = !simulated && (format_of(config) == "csv" || format_of(config) == "folder");
  if (!by_name) choose_columns(series, config);
  require(config.resample.empty() || by_name, ErrorKind::config,
          "data.resample is for CSV files with dates, {} is not one", series.source);
  name_modes(series, config);
  date_rows(series, config);
  mark_missing(series, config);
  take_known(series, config);
  leave_out_empty_end(series, config);
  if (config.knock_out > 0) knock_out(series, config.knock_out, static_cast<uint64_t>(config.knock_out_seed));
  return series;
}

}  // namespace modewise::data
