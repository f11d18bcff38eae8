#include "modewise/data/forecasting/config.h"

#include "modewise/core/integer_bounds.h"

namespace modewise::data {

void Lorenz96Config::fields(Fields& f) {
  f.add("sites", sites, "slow variables on the ring (K)", {.min = 4, .max = 100000});
  f.add("fast", fast, "fast variables a site (J)", {.min = 1, .max = 1000});
  f.add("forcing", forcing, "forcing F", {.min = -100, .max = 100});
  f.add("coupling", coupling, "coupling h of the two scales", {.min = -10, .max = 10});
  f.add("amplitude_ratio", amplitude_ratio, "amplitude ratio b", {.min = 0.1, .max = 100});
  f.add("time_ratio", time_ratio, "time ratio c", {.min = 0.1, .max = 100});
  f.add("sample_step", sample_step, "model time between rows", {.min = 1e-6, .max = 100});
  f.add("substeps", substeps, "Runge-Kutta steps between rows", {.min = 1, .max = 100000});
  f.add("variables", variables, "slow and mean fast variable of a site, or all of them",
        {.one_of = {"slow_and_mean", "all"}});
  f.add("noise", noise, "measuring noise, in deviations of each series", {.min = 0, .max = 100});
}

void LogisticConfig::fields(Fields& f) {
  f.add("sites", sites, "maps on the ring", {.min = 3, .max = 1000000});
  f.add("rate", rate, "growth r of each map", {.min = 0, .max = 4});
  f.add("coupling", coupling, "share taken from the two neighbours", {.min = 0, .max = 1});
  f.add("noise", noise, "measuring noise, deviation in the map's units", {.min = 0, .max = 100});
}

void SeasonalConfig::fields(Fields& f) {
  f.add("variables", variables, "number of series", {.min = 1, .max = 1000000});
  f.add("periods", periods, "lengths of the seasons in rows", {.min = 1.001});
  f.add("amplitudes", amplitudes, "amplitude of each season");
  f.add("trend", trend, "rise a row");
  f.add("noise", noise, "deviation of the noise's innovations", {.min = 0});
  f.add("memory", memory, "autoregression of the noise", {.min = -0.999, .max = 0.999});
}

void ForecastDataConfig::fields(Fields& f) {
  f.add("path", path, "data file, or a folder of CSV files as the first mode", {.is_path = always});
  f.add("format", format, "auto goes by the file's name",
        {.one_of = {"auto", "csv", "text", "npy", "npz", "folder"}});
  f.add("simulate", simulate, "simulated system instead of a file",
        {.one_of = {"", "lorenz96", "logistic", "seasonal"}});
  f.add("simulate_rows", simulate_rows, "rows to simulate", {.min = 1, .max = 1e9});
  f.add("simulate_seed", simulate_seed, "seed of the simulated system", {.min = 0, .max = kAnyInteger});
  f.add("columns", columns, "variables to use, in this order; empty uses all");
  f.add("drop", drop, "variables not to use");
  f.add("future_covariates", known,
        "columns whose values are known for the rows to come too (a plan, prices, holidays): inputs of tide "
        "and of hot and its siblings, not forecast");
  f.add("calendar", calendar,
        "parts of the date as further such inputs: hour, weekday, day, yearday, month; auto: those that the "
        "step of the rows tells apart",
        {.one_of = {"auto", "hour", "weekday", "day", "yearday", "month"}});
  f.add("calendar_encoding", calendar_code,
        "a part of the date as its place on a circle (sine and cosine) or on a line from -0.5 to 0.5",
        {.one_of = {"cyclic", "scaled"}});
  f.add("categories", categories,
        "columns of words (yes and no, names) to take as variables of 0 and 1; others are left out");
  f.add("time_column", time_column, "column of dates; empty finds it");
  f.add("id", id,
        "columns that tell the series of a long table apart; empty finds the one, none: a wide table");
  f.add("dates", dates,
        "strict: dates rise by a constant step, gaps become missing rows; rows: equally spaced rows",
        {.one_of = {"strict", "rows"}});
  f.add("resample", resample,
        "step to which rows are pooled by their dates: 1 h, 1 day, 1 month; empty: as they stand");
  f.add("resample_by", resample_by,
        "what the rows of a step become: their mean, their sum or the last of them",
        {.one_of = {"mean", "sum", "last"}});
  f.add("delimiter", delimiter, "one character or tab; empty guesses");
  f.add("header", header, "whether the first row of a CSV file holds names; auto looks at the rows below",
        {.one_of = {"auto", "yes", "no"}});
  f.add("missing_texts", missing_texts,
        "further texts that stand for a missing cell, besides NA, NaN, empty …");
  f.add("missing_values", missing_values, "numbers that stand for a missing cell, such as -9999");
  f.add("start", start, "date of the first row, for sources without dates");
  f.add("step", step, "time between rows, for sources without dates: 1 h, 15 min, 1 month");
  f.add("array", array, "array of an NPZ file; empty takes the only one");
  f.add("time_axis", time_axis, "axis of an array that is time; -1 is the last", {.min = -64, .max = 63});
  f.add("mode_names", mode_names, "names of the axes besides time");
  f.add("ordered_modes", ordered_modes, "names of the modes whose positions have an order (grids)");
  f.add("missing_fraction", knock_out, "fraction of cells hidden at random, to try missing values",
        {.min = 0, .max = 1});
  f.add("missing_seed", knock_out_seed, "seed of the hidden cells", {.min = 0, .max = kAnyInteger});
  f.add("split", split, "rule that splits the rows; auto is ratio",
        {.one_of = {"auto", "ratio", "solar", "ett_hour", "ett_minute", "dates"}});
  f.add("split_ratios", split_ratios, "shares of training, validation and test", {.min = 0, .max = 1});
  f.add("split_dates", split_dates, "first date of validation, of test, and (optional) the end of test");
  f.group("lorenz96", lorenz96);
  f.group("logistic", logistic);
  f.group("seasonal", seasonal);
}

}  // namespace modewise::data
