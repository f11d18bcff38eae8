#pragma once
// Config of forecasting data: file or simulation, covariates, time axis, missing values and split.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "modewise/core/fields.h"
#include "modewise/data/number_marks.h"

namespace modewise::data {

/// Two-scale Lorenz-96 on a ring of sites (Lorenz 1996, "Predictability: a problem partly solved", eqs. 2–3):
///   dX_k/dt    = X_{k−1}(X_{k+1} − X_{k−2}) − X_k + F − (hc/b) Σ_j Y_{j,k}
///   dY_{j,k}/dt = −cb Y_{j+1,k}(Y_{j+2,k} − Y_{j−1,k}) − c Y_{j,k} + (hc/b) X_k
struct Lorenz96Config {
  int64_t sites = 8;                        // K slow variables on the ring
  int64_t fast = 4;                         // J fast variables per site
  double forcing = 10;                      // F
  double coupling = 1;                      // h
  double amplitude_ratio = 10;              // b
  double time_ratio = 10;                   // c
  double sample_step = 0.025;               // model time between rows
  int64_t substeps = 12;                    // RK4 steps per row
  std::string variables = "slow_and_mean";  // X and the mean of Y, or "all": X and every Y
  double noise = 0;                         // std of the measurement noise, relative to each series' std
  void fields(Fields& f);
};

/// Ring of logistic maps, diffusively coupled (Kaneko 1984): x_i ← (1−ε) f(x_i) + ε/2 (f(x_{i−1}) +
/// f(x_{i+1})), f(x) = r x (1−x).
struct LogisticConfig {
  int64_t sites = 8;
  double rate = 3.7;      // r, (0, 4]
  double coupling = 0.3;  // ε, [0, 1]
  double noise = 0;       // std of the measurement noise, absolute
  void fields(Fields& f);
};

/// Sum of seasons, trend and AR(1) noise, with a known minimum error (simulate.h).
struct SeasonalConfig {
  int64_t variables = 4;
  std::vector<double> periods = {24, 168};    // in rows
  std::vector<double> amplitudes = {1, 0.5};  // of each period; phases differ by variable
  double trend = 0;                           // per row
  double noise = 0.3;                         // std of the innovations
  double memory = 0.5;                        // coefficient of the autoregression, (−1, 1)
  void fields(Fields& f);
};

/// Categories of each categorical column, sorted.
using Categories = std::map<std::string, std::vector<std::string>>;

struct ForecastDataConfig {
  std::string path;             // a file, or a folder of CSV files
  std::string format = "auto";  // auto, csv, text, npy, npz, folder
  std::string simulate;         // "", lorenz96, logistic, seasonal: instead of a file
  int64_t simulate_rows = 6000;
  int64_t simulate_seed = 1;
  Lorenz96Config lorenz96;
  LogisticConfig logistic;
  SeasonalConfig seasonal;

  std::vector<std::string> columns;      // variables to use, in this order; empty: all
  std::vector<std::string> drop;         // variables not to use
  std::vector<std::string> known;        // future covariates: inputs, not forecast (future_covariates.h)
  std::vector<std::string> statics;      // static covariates of the series of a panel (panel_covariates.h)
  std::vector<std::string> calendar;     // date parts as future covariates (calendar.h)
  std::string calendar_code = "cyclic";  // cyclic, scaled
  std::vector<std::string> categories;   // categorical columns, one-hot encoded
  Categories words;                      // not an option: the categories of a run's training data
  std::string usual_decimal;             // not an option: the decimal mark of a run's training data, or ""
  std::string date_order;                // not an option: date_order_of a run's training data, or ""
  std::vector<std::string> variables;    // not an option: the variables of a run, matched by name
  bool keeps_empty = false;              // not an option: columns without any value are variables
  bool follows = false;                  // not an option: rows continue other data, one row is enough
  std::vector<std::string> trained_id;   // not an option: the id columns of a panel run's training data
  int64_t step_seconds = 0, step_months = 0;  // not an option: the time step of a panel run's training data
  std::vector<std::string> time;              // one or two columns of the time; empty: detected
  std::string time_column;                    // earlier name of `time` with one column
  std::string time_format;       // form of the dates (date_pattern.h), epoch_s …, excel, decimal_year
  std::string time_zone;         // of dates without a UTC offset; "": not known
  std::vector<std::string> id;   // series id columns of a long table; empty: detected
  std::string panel = "auto";    // auto, yes, no: whether the series of a long table are independent
  int64_t split_windows = 1;     // horizons of each series of a panel for validation, and for test
  int64_t test_windows = -1;     // for test; −1: split_windows
  std::string dates = "strict";  // strict: constant steps, gaps are missing rows; rows: equally spaced rows
  std::string calendar_days = "auto";  // auto, all, business, observed: Calendar of time_axis.h
  std::vector<int64_t> week;           // not an option: the weekly calendar of a run's training data
  std::string orient = "auto";  // auto, columns, rows, periods (periods_in_columns.h): the series of a table
  std::string resample;         // resampling step, "1 h"; "": no resampling
  std::string resample_by = "mean";  // mean, sum, last
  std::string delimiter;             // one character or "tab"; "": detected
  std::string header = "auto";       // auto, yes, no: whether the first row of a CSV file names the columns
  int64_t header_rows = 1;           // rows of a CSV file that name the columns together
  NumberMarks marks = {};
  std::vector<std::string> skip_lines;     // lines of a CSV file to skip: "2", "1-4"
  std::vector<std::string> missing_texts;  // further texts for missing values
  std::vector<double> missing_values;      // numbers for missing values, such as -9999
  std::string start, step;                 // for sources without dates: "2019-03-01 00:00", "1 h"
  std::string array;                       // array of an NPZ file
  int64_t time_axis = 0;                   // time axis of an NPY or NPZ array; −1: the last
  std::vector<std::string> mode_names;     // names of the other axes
  std::vector<std::string> ordered_modes;  // modes with ordered positions (grids)
  double knock_out = 0;                    // fraction of cells masked at random, for tests of missing values
  int64_t knock_out_seed = 1;

  std::string split = "auto";                          // auto, ratio, solar, ett_hour, ett_minute, dates
  std::vector<double> split_ratios = {0.7, 0.1, 0.2};  // train, validation, test
  std::vector<std::string> split_dates;                // first date of validation, of test[, end of test]
  void fields(Fields& f);

  /// Whether a series may have one row alone.
  bool takes_single_rows() const { return follows || !trained_id.empty(); }
};

}  // namespace modewise::data
