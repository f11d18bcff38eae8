#include <ATen/TensorOperators.h>
#include <ATen/ops/isfinite.h>

#include "modewise/data/forecasting/panel.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/input_folder.h"

using namespace modewise;
using namespace modewise::data;
using namespace modewise::io;

namespace {

void check_panel(const Panel& panel) {
  const int64_t series = panel.series();
  expect(series > 0 && panel.variables() > 0 && std::ssize(panel.offsets) == series + 1);
  expect(panel.offsets.front() == 0 && panel.offsets.back() == panel.values.size(0));
  expect(panel.values.size(1) == panel.variables());
  expect(at::isfinite(panel.values).all().item<bool>());
  expect(!panel.observed.defined() || panel.observed.sizes() == panel.values.sizes());
  for (int64_t s = 0; s < series; ++s) {
    expect(panel.rows(s) > 0 && panel.clock_row(s, 0) >= 0);
    expect(panel.clock_row(s, panel.rows(s)) <= panel.clock.length);
    panel.name(s);
  }
}

}  // namespace

// A long table as a panel: its series, splits and scaled windows.
FUZZ_TARGET(panel) {
  static const InputFolder folder;
  ForecastDataConfig config;
  config.path = folder.write("long.csv", input_text(data, size));
  config.panel = size % 8 == 0 ? "auto" : "yes";
  return survive([&] {
    PanelChoice choice = choose_panel(config);
    if (!choice.panel) return;
    const Panel panel = load_panel(config, std::move(choice.table));
    check_panel(panel);
    const PanelSplits splits = split_panel(panel, 1, 1);
    const PanelScaler scaler = PanelScaler::fit(panel, splits.train_rows);
    std::vector<int64_t> ends;
    for (int64_t s = 0; s < panel.series(); ++s) ends.push_back(panel.rows(s));
    for (const auto* windows : {&splits.train, &splits.validation, &splits.test}) {
      if (windows->empty()) continue;
      const WindowBatch batch =
          gather_panel(panel, scaler, {.lookback = 2, .horizon = 1}, {windows->data(), 1}, ends);
      expect(at::isfinite(batch.past).all().item<bool>() && at::isfinite(batch.future).all().item<bool>());
    }
  });
}
