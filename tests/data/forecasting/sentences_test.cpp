// Exact error messages of reading series; all numbers and names in them are distinct.

#include <ATen/ops/empty.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "modewise/data/forecasting/load_series.h"
#include "modewise/data/forecasting/scaler.h"
#include "modewise/data/forecasting/simulate.h"
#include "modewise/data/forecasting/splits.h"
#include "modewise/data/forecasting/windows.h"
#include "modewise/io/arrays/npy.h"
#include "modewise/io/arrays/npz.h"
#include "tests/data/scratch.h"

namespace modewise::data {
namespace {

using testing::ElementsAre;

class SeriesSentences : public testing::Test {
 protected:
  std::string of(ErrorKind kind, const ForecastDataConfig& config) {
    return error_of(kind, [&] { load_series(config); });
  }
  std::string array(const std::string& name, const std::vector<int64_t>& shape) {
    int64_t count = 1;
    for (const int64_t size : shape) count *= size;
    const std::vector<float> values(static_cast<size_t>(count), 1.5F);
    io::write_npy(folder_.path(name), io::make_array(shape, std::span<const float>(values)));
    return folder_.path(name);
  }
  ScratchFolder folder_;
};

TEST_F(SeriesSentences, OfArrays) {
  ForecastDataConfig config;
  config.path = array("a.npy", {0, 3});
  EXPECT_EQ(of(ErrorKind::data, config),
            config.path + ": expected an array with a time axis, got shape [0, 3]");
  config.path = array("a.npy", {});
  EXPECT_EQ(of(ErrorKind::data, config), config.path + ": expected an array with a time axis, got shape []");
  config.path = array("a.npy", {2, 3, 4});
  for (const int64_t axis : {3, -4}) {
    config.time_axis = axis;
    EXPECT_EQ(of(ErrorKind::config, config),
              fmt::format("data.time_axis: {} has 3 axes, got {}", config.path, axis));
  }
  config.time_axis = -3;
  EXPECT_EQ(load_series(config).rows(), 2);
  config.mode_names = {"a", "b", "c"};
  EXPECT_EQ(of(ErrorKind::config, config),
            "data.mode_names: " + config.path + " has 2 modes besides time, got 3 names");
  config.mode_names = {};
  config.ordered_modes = {"mode1", "mode3"};
  EXPECT_EQ(of(ErrorKind::config, config),
            "data.ordered_modes: " + config.path + " has no mode 'mode3' (did you mean 'mode1'?)");
  config.ordered_modes = {};
  const std::vector<double> values = {1, 2};
  const io::Array one = io::make_array({2}, std::span<const double>(values));
  config.path = folder_.path("b.npz");
  config.time_axis = 0;
  io::write_npz(config.path, {{"flow", one}, {"level", one}});
  EXPECT_EQ(of(ErrorKind::config, config),
            "data.array: " + config.path + " contains 2 arrays (flow, level), name one of them");
  config.array = "levl";
  EXPECT_EQ(of(ErrorKind::config, config),
            "data.array: " + config.path + " has no array 'levl' (did you mean 'level'?)");
}

TEST_F(SeriesSentences, OfSettingsThatDoNotFit) {
  ForecastDataConfig config;
  EXPECT_EQ(
      of(ErrorKind::config, config),
      "data: expected data.path (a file or folder) or data.simulate (lorenz96, logistic, seasonal), got "
      "neither");
  config.path = folder_.write("a.csv", "date,x,y\n2020-01-01,1,2\n2020-01-02,3,4\n");
  config.start = "2019-01-01";
  EXPECT_EQ(of(ErrorKind::config, config),
            "data.start and data.step are for sources without dates, " + config.path + " has dates");
  config.start = "";
  config.columns = {"x", "y", "x"};
  EXPECT_EQ(of(ErrorKind::config, config), "data.columns: duplicate column 'x'");
  config.columns = {};
  config.drop = {"date", "x", "y"};
  EXPECT_EQ(of(ErrorKind::config, config), "data.drop: no column of " + config.path + " is left");
  config.drop = {"z"};
  EXPECT_EQ(of(ErrorKind::config, config),
            "data.drop: " + config.path + " has no column 'z' (did you mean 'x'?)");
  config.drop = {};
  config.time_column = "dat";
  EXPECT_EQ(of(ErrorKind::config, config),
            "data.time_column: " + config.path + " has no column 'dat' (did you mean 'date'?)");
  config.time_column = "t";
  config.path = folder_.write("b.csv", "t,x\nearly,1\nlate,2\n");
  EXPECT_EQ(of(ErrorKind::data, config),
            config.path +
                ": the time column 't' must hold dates, it holds text, such as 'early' in line 2; "
                "data.time_format describes their form");
  config.time_column = "";
  config.path = folder_.write("c.csv", "x\n1\n2\n");
  config.step = "1 h";
  EXPECT_EQ(of(ErrorKind::config, config), "data.start and data.step must both be set, only data.step is");
  config.start = "soon";
  EXPECT_EQ(of(ErrorKind::config, config),
            "data.start: expected a date such as 2019-03-01 00:00, got 'soon'");
  config.start = "2019-03-01";
  config.step = "1 fortnight";
  EXPECT_EQ(of(ErrorKind::config, config),
            "data.step: expected a number and a unit (s, min, h, day, week, month, year), got '1 fortnight'");
  config.step = "";
  EXPECT_EQ(of(ErrorKind::config, config), "data.start and data.step must both be set, only data.start is");
  config.start = "";
  config.format = "text";
  config.header = "yes";
  EXPECT_EQ(of(ErrorKind::config, config),
            "data.header = yes is for CSV, but data.format = text reads plain numbers without a header");
}

TEST_F(SeriesSentences, OfFolders) {
  ForecastDataConfig config;
  config.path = folder_.path("d");
  config.format = "folder";
  EXPECT_EQ(of(ErrorKind::no_input, config),
            "cannot list the folder " + config.path + ": No such file or directory");
  folder_.write("d/readme.md", "");
  folder_.write("d/.hidden.csv", "a\n1\n2\n");
  EXPECT_EQ(of(ErrorKind::no_input, config),
            config.path + ": expected a folder with files named *.csv, found none");
  const std::string p = folder_.path("d/p.csv"), q = folder_.path("d/q.csv"),
                    same = p + " and " + q + " must have the same dates, but ";
  const auto refused = [&](const std::string& first, const std::string& second) {
    folder_.write("d/p.csv", first);
    folder_.write("d/q.csv", second);
    return of(ErrorKind::data, config);
  };
  const std::string dated = "when,a\n2020-01-01,1\n2020-02-01,2\n2020-03-01,3\n",
                    named = "when,a\nfirst,1\nsecond,2\nthird,3\n";
  EXPECT_EQ(refused(dated, named), same + "only the first has dates");
  EXPECT_EQ(refused(named, dated), same + "only the second has dates");
  EXPECT_EQ(refused(dated, "when,a\n2020-01-01,1\n2020-04-01,2\n2020-07-01,3\n"),
            same + "the first has steps of 1 month and the second of 3 months");
  EXPECT_EQ(refused("a,b\n1,2\n3,4\n", "a,b\n1,2020-01-01\n3,2020-01-02\n"),
            "column 'b' holds numbers in " + p + ", but dates in " + q);
}

TEST_F(SeriesSentences, OfScalers) {
  const auto refused = [](const nlohmann::json& json) {
    return error_of(ErrorKind::data, [&] { Scaler::from_json(json, "run/scaler.json"); });
  };
  EXPECT_EQ(refused(nlohmann::json::object()),
            "run/scaler.json: expected a scaler with shape, mean and std: "
            "[json.exception.out_of_range.403] key 'shape' not found");
  EXPECT_EQ(refused({{"shape", {3}}, {"mean", {1, 2}}, {"deviation", {1}}}),
            "run/scaler.json: expected as many means and standard deviations as in the scaler's shape, got 2 "
            "and 1");
  const std::string wanted =
      "run/scaler.json: expected a finite mean and a standard deviation above 0 for series 1, got ";
  EXPECT_EQ(refused({{"shape", {2}}, {"mean", {1, 2}}, {"deviation", {3, 0}}}), wanted + "2 and 0");
  EXPECT_EQ(refused({{"shape", {2}}, {"mean", {1.0, std::nan("")}}, {"deviation", {3, 4}}}),
            wanted + "nan and 4");
  EXPECT_EQ(refused({{"shape", {2}}, {"mean", {1, 2}}, {"deviation", {3.0, HUGE_VAL}}}),
            wanted + "2 and inf");
  Series s = make_series({4, 2}, [](int64_t i) { return static_cast<double>(i / 2 % 2 * 2); });
  const Scaler scaler = Scaler::fit(s, {0, 4});  // mean 1, std 1
  s.values.mutable_data_ptr<double>()[5] = 1e39;
  EXPECT_EQ(error_of(ErrorKind::data, [&] { scaler.transform(s); }),
            "test: row 3, 'v1': 1e+39 is 1e+39 standard deviations from the mean of its training rows, more "
            "than 32-bit "
            "floats can hold; if it stands for a missing value, name it in data.missing_values");
}

TEST_F(SeriesSentences, OfModesInJson) {
  const auto refused = [](const char* text) {
    return error_of(ErrorKind::data, [&] { modes_from_json(nlohmann::json::parse(text), "m.json"); });
  };
  EXPECT_EQ(
      refused(R"([{"name": "a", "labels": []}])"),
      "m.json: expected a list of modes with name, ordered and labels: [json.exception.out_of_range.403] "
      "key 'ordered' not found");
  EXPECT_EQ(refused("[]"), "m.json: expected at least one mode");
  EXPECT_EQ(to_json(std::vector<SeriesMode>{{"a", {"x"}, true}, {"b", {}, false}}).dump(),
            R"([{"labels":["x"],"name":"a","ordered":true},{"labels":[],"name":"b","ordered":false}])");
}

TEST_F(SeriesSentences, OfSimulations) {
  LogisticConfig large;
  large.sites = 7;
  EXPECT_EQ(error_of(ErrorKind::config, [&] { simulate_logistic(large, 1'000'000'000, 1); }),
            "data.simulate_rows: logistic would hold 7e+09 values, more than the 1073741824 allowed");
  Lorenz96Config coarse;
  coarse.sample_step = 1;
  coarse.substeps = 4;
  coarse.forcing = 100;
  EXPECT_THAT(error_of(ErrorKind::config, [&] { simulate_lorenz96(coarse, 10, 1); }),
              testing::MatchesRegex("data.lorenz96: the integration diverges at row [0-9] with steps of 0.25 "
                                    ".sample_step 1 / substeps 4.; raise data.lorenz96.substeps"));
}

TEST_F(SeriesSentences, OfSplits) {
  Series s = make_series({100, 1}, [](int64_t) { return 0.0; });
  ForecastDataConfig config;
  const auto refused = [&](ErrorKind kind) { return error_of(kind, [&] { make_splits(config, s); }); };
  config.split = "dates";
  for (const size_t count : {1, 4}) {
    config.split_dates.assign(count, "1970-02-01");
    EXPECT_EQ(refused(ErrorKind::config),
              fmt::format("data.split_dates: expected the first dates of validation and test, and optionally "
                          "the end of test, got {} date{}",
                          count, count == 1 ? "" : "s"));
  }
  config.split = "ratio";
  config.split_ratios = {0.75, 0, 0.25};
  EXPECT_EQ(refused(ErrorKind::data),
            "test: the split 'ratio 0.75 / 0 / 0.25' leaves no rows for validation (100 rows, 0 to 99)");
  config.split_ratios = {0.75, 0.245, 0.005};
  EXPECT_EQ(refused(ErrorKind::data),
            "test: the split 'ratio 0.75 / 0.245 / 0.005' leaves no rows for test (100 rows, 0 to 99)");
  config.split = "ett_minute";
  EXPECT_EQ(refused(ErrorKind::data),
            "test: the split ett_minute (12, 4 and 4 months of 30 days) needs 57600 rows, got 100");
}

TEST_F(SeriesSentences, OfWindows) {
  for (const WindowShape shape : {WindowShape{0, 2}, {3, 0}, {3, -1}})
    EXPECT_EQ(error_of(ErrorKind::config,
                       [&] {
                         WindowSet("t", {0, 20}, shape, false);
                       }),
              fmt::format("lookback and horizon must be at least 1 row, got {} and {}", shape.lookback,
                          shape.horizon));
  EXPECT_EQ(WindowSet("t", {0, 20}, {1, 1}, false).size(), 19);
  const WindowSource source(at::empty({20, 2}, at::kFloat), {});
  for (const int64_t first : {-1, 17}) {
    const std::vector<int64_t> rows = {first};
    EXPECT_EQ(error_of(ErrorKind::internal,
                       [&] {
                         source.gather_rows({4, 3}, rows);
                       }),
              fmt::format("a lookback of 4 rows from row {} requested, the series has 20", first));
  }
  const std::vector<int64_t> last = {13}, beyond = {14};  // 13 + 4 + 3 = 20
  EXPECT_FALSE(source.gather_rows({4, 3}, last).future_observed.defined());
  EXPECT_TRUE(source.gather_rows({4, 3}, beyond).future_observed.defined());
}

}  // namespace
}  // namespace modewise::data
