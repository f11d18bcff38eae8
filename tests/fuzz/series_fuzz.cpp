#include <ATen/TensorOperators.h>
#include <ATen/ops/isfinite.h>

#include "modewise/data/forecasting/future_covariates.h"
#include "modewise/data/forecasting/load_series.h"
#include "modewise/data/forecasting/scaler.h"
#include "modewise/data/forecasting/splits.h"
#include "modewise/data/forecasting/windows.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/input_folder.h"

using namespace modewise;
using namespace modewise::data;
using namespace modewise::io;

namespace {

void expect_finite(const at::Tensor& values) {
  expect(!values.defined() || at::isfinite(values).all().item<bool>());
}

void check_series(const Series& series) {
  const int64_t rows = series.rows();
  expect(rows > 0 && series.series_count() > 0 && series.time.length == rows);
  expect(!series.observed.defined() || series.observed.sizes() == series.values.sizes());
  expect_finite(series.values);
  for (size_t i = 0; i < series.modes.size(); ++i)
    expect(std::ssize(series.modes[i].labels) == series.shape()[i]);
  for (int64_t row = 1; row < rows && series.time.dated; ++row)
    expect(series.time.at(row) > series.time.at(row - 1));
  series.time.text_at(rows);
  series.where(rows - 1, series.series_count() - 1);
}

void check_windows(const WindowSource& source, const WindowSet& windows) {
  if (windows.size() == 0) return;
  const WindowBatch batch = source.gather(windows, std::vector<int64_t>{0, windows.size() - 1});
  expect_finite(batch.past);
  expect_finite(batch.future);
  expect_finite(batch.known);
}

}  // namespace

// A table as a forecasting run reads it: series, splits, scaled windows with calendar features.
FUZZ_TARGET(series) {
  static const InputFolder folder;
  ForecastDataConfig config;
  config.path = folder.write("table.csv", input_text(data, size));
  return survive([&] {
    const Series series = load_series(config);
    check_series(series);
    const WindowShape shape{.lookback = 2, .horizon = 1};
    check_window(shape, series);
    const Splits splits = make_splits(config, series);
    WindowSource source(Scaler::fit(series, splits.train).transform(series), series.observed);
    if (series.time.dated) config.calendar = {"auto"};
    const at::Tensor known =
        future_covariate_features(config, series, Scaler(), false, series.rows() + shape.horizon);
    if (known.defined()) source.set_known(known);
    const SplitWindows windows = cut_windows(splits, shape);
    for (const WindowSet* set : {&windows.train, &windows.validation, &windows.test})
      check_windows(source, *set);
  });
}
