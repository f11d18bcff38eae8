#include "modewise/data/forecasting/config.h"

#include "modewise/core/integer_bounds.h"
#include "modewise/data/number_marks.h"

namespace modewise::data {

void Lorenz96Config::fields(Fields& f) {
  f.add("sites", sites, "slow variables on the ring (K)", {.min = 4, .max = 100000});
  f.add("fast", fast, "fast variables per site (J)", {.min = 1, .max = 1000});
  f.add("forcing", forcing, "forcing F", {.min = -100, .max = 100});
  f.add("coupling", coupling, "coupling h of the two scales", {.min = -10, .max = 10});
  f.add("amplitude_ratio", amplitude_ratio, "amplitude ratio b", {.min = 0.1, .max = 100});
  f.add("time_ratio", time_ratio, "time ratio c", {.min = 0.1, .max = 100});
  f.add("sample_step", sample_step, "model time between rows", {.min = 1e-6, .max = 100});
  f.add("substeps", substeps, "Runge-Kutta steps between rows", {.min = 1, .max = 100000});
  f.add("variables", variables, "slow and mean fast variable of each site, or all variables",
        {.one_of = {"slow_and_mean", "all"}});
  f.add("noise", noise, "standard deviation of the measurement noise, relative to that of each series",
        {.min = 0, .max = 100});
}

void LogisticConfig::fields(Fields& f) {
  f.add("sites", sites, "maps on the ring", {.min = 3, .max = 1000000});
  f.add("rate", rate, "growth rate r of each map", {.min = 0, .max = 4});
  f.add("coupling", coupling, "coupling to the two neighbours, from 0 to 1", {.min = 0, .max = 1});
  f.add("noise", noise, "standard deviation of the measurement noise, in the map's units",
        {.min = 0, .max = 100});
}

void SeasonalConfig::fields(Fields& f) {
  f.add("variables", variables, "number of series", {.min = 1, .max = 1000000});
  f.add("periods", periods, "lengths of the seasons in rows", {.min = 1.001});
  f.add("amplitudes", amplitudes, "amplitude of each season");
  f.add("trend", trend, "slope per row");
  f.add("noise", noise, "standard deviation of the noise's innovations", {.min = 0});
  f.add("memory", memory, "AR(1) coefficient of the noise", {.min = -0.999, .max = 0.999});
}

void ForecastDataConfig::fields(Fields& f) {
  f.add("path", path, "data file, or a folder of CSV files as the first mode", {.is_path = always});
  f.add("format", format, "file format; auto: from the file name",
        {.one_of = {"auto", "csv", "text", "npy", "npz", "folder"}});
  f.add("simulate", simulate, "simulated system instead of a file",
        {.one_of = {"", "lorenz96", "logistic", "seasonal"}});
  f.add("simulate_rows", simulate_rows, "rows to simulate", {.min = 1, .max = 1e9});
  f.add("simulate_seed", simulate_seed, "seed of the simulated system", {.min = 0, .max = kAnyInteger});
  f.add("columns", columns, "variables to use, in this order; empty: all");
  f.add("drop", drop, "variables not to use");
  f.add("future_covariates", known,
        "future covariates: columns known beyond the last row (plans, prices, holidays); inputs of tide "
        "and of hot and its variants, not forecast");
  f.add(
      "static_covariates", statics,
      "static covariates of a panel: columns with one category or number for each series (a region, a size); "
      "inputs of tide and of hot and its variants");
  f.add("calendar", calendar,
        "date parts as future covariates: hour, weekday, day, yearday, month; auto: those that vary at the "
        "step of the rows",
        {.one_of = {"auto", "hour", "weekday", "day", "yearday", "month"}});
  f.add("calendar_encoding", calendar_code,
        "encoding of date parts: cyclic (sine and cosine) or scaled (from -0.5 to 0.5)",
        {.one_of = {"cyclic", "scaled"}});
  f.add("categories", categories,
        "categorical columns to one-hot encode as variables; other text columns are dropped");
  f.add("time", time,
        "column of dates, or column of dates and column of clock times, hours or periods of the day; empty: "
        "detected");
  f.add("time_column", time_column, "earlier name of time, for one column");
  f.add(
      "time_format", time_format,
      "form of the dates: %d.%m.%Y %H:%M (codes of strptime), epoch_s, epoch_ms, epoch_us, epoch_ns, excel, "
      "decimal_year; empty: detected");
  f.add("time_zone", time_zone,
        "zone of dates without a UTC offset: Europe/Berlin, +01:00; empty: local times are not converted");
  f.add("id", id, "series id columns of a long table; empty: detected; none: a wide table");
  f.add(
      "panel", panel,
      "whether the series of a long table are independent, each with its own start, end and scale: yes, no, "
      "or auto: if there are more than 500, or one has fewer than 90 % of the dates",
      {.one_of = {"auto", "yes", "no"}});
  f.add("split_windows", split_windows,
        "horizons at the end of each series of a panel for the test split, and as many before for validation",
        {.min = 1, .max = 1000});
  f.add("test_windows", test_windows,
        "horizons at the end of each series of a panel for the test split; -1: split_windows, 0: none",
        {.min = -1, .max = 1000});
  f.add("dates", dates,
        "strict: dates rise by a constant step, gaps become missing rows; rows: equally spaced rows",
        {.one_of = {"strict", "rows"}});
  f.add(
      "calendar_days", calendar_days,
      "rows of the calendar: all steps, business days, the observed times of the week, or auto: as the dates "
      "show",
      {.one_of = {"auto", "all", "business", "observed"}});
  f.add("orient", orient,
        "whether each column of a table is a series, or each row; auto: rows if the header holds dates; "
        "periods: "
        "the columns are the months of a row's year, or the hours of its day",
        {.one_of = {"auto", "columns", "rows", "periods"}});
  f.add("resample", resample, "resampling step: 1 h, 1 day, 1 month; empty: no resampling");
  f.add("resample_by", resample_by, "aggregation of the rows of a resampling step: mean, sum or last",
        {.one_of = {"mean", "sum", "last"}});
  f.add("delimiter", delimiter,
        "delimiter: one character, tab or space (any number of them); empty: detected");
  f.add("header", header,
        "whether the first row of a CSV file is a header; auto: decided from the rows below",
        {.one_of = {"auto", "yes", "no"}});
  f.add("header_rows", header_rows,
        "rows of a CSV file that make up its header; the name of a column is their texts, joined by spaces",
        {.min = 1, .max = 20});
  add_number_marks(f, marks);
  f.add("skip_lines", skip_lines,
        "lines of a CSV file to leave out, counted from 1, such as a row of units: 2 or 1-4");
  f.add("missing_texts", missing_texts, "further texts for missing values, besides NA, NaN, empty …");
  f.add("missing_values", missing_values, "numbers for missing values, such as -9999");
  f.add("start", start, "date of the first row, for sources without dates");
  f.add("step", step, "time between rows, for sources without dates: 1 h, 15 min, 1 month");
  f.add("array", array, "array of an NPZ file; empty: the only one");
  f.add("time_axis", time_axis, "time axis of an array; -1: the last", {.min = -64, .max = 63});
  f.add("mode_names", mode_names, "names of the axes besides time");
  f.add("ordered_modes", ordered_modes, "names of the modes with ordered positions (grids)");
  f.add("missing_fraction", knock_out, "fraction of cells masked at random, for tests of missing values",
        {.min = 0, .max = 1});
  f.add("missing_seed", knock_out_seed, "seed of the masked cells", {.min = 0, .max = kAnyInteger});
  f.add("split", split, "rule of the split by rows; auto: ratio",
        {.one_of = {"auto", "ratio", "solar", "ett_hour", "ett_minute", "dates"}});
  f.add("split_ratios", split_ratios, "fractions of training, validation and test", {.min = 0, .max = 1});
  f.add("split_dates", split_dates, "first date of validation, of test, and (optional) the end of test");
  f.group("lorenz96", lorenz96);
  f.group("logistic", logistic);
  f.group("seasonal", seasonal);
}

}  // namespace modewise::data
