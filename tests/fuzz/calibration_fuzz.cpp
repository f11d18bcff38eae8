#include "modewise/metrics/conformal.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/input_folder.h"

using namespace modewise;
using namespace modewise::io;

// calibration.npz of a forecasting run, and quantiles of one window by it.
FUZZ_TARGET(calibration) {
  static const InputFolder folder;
  return survive([&] {
    const metrics::Calibration calibration =
        metrics::read_calibration(folder.write("calibration.npz", input_text(data, size)));
    const auto series = static_cast<size_t>(calibration.series);
    const std::vector<float> forecast(series * static_cast<size_t>(calibration.horizon)), stddev(series, 1);
    const std::vector<int64_t> first_target = {0};
    const std::vector<float> quantiles =
        metrics::calibrated_quantiles(calibration, forecast, {}, stddev, first_target);
    expect(quantiles.size() == forecast.size() * calibration.levels().size());
  });
}
