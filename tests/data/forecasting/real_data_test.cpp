// Real data files: shapes, missing cells, dates and published window counts.

#include <gmock/gmock.h>

#include "modewise/data/forecasting/describe.h"
#include "modewise/data/forecasting/load_series.h"
#include "modewise/data/forecasting/windows.h"
#include "tests/data/scratch.h"

namespace modewise::data {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

ForecastDataConfig config_of(const std::string& path, const std::string& split = "auto") {
  ForecastDataConfig config;
  config.path = path;
  config.split = split;
  return config;
}

int64_t test_windows(const Series& series, const ForecastDataConfig& config) {
  return cut_windows(make_splits(config, series), {96, 96}).test.size();
}

TEST(RealData, Etth1) {
  const std::string path = real_data("forecasting/ETTh1.csv");
  SKIP_WITHOUT(path, "ETTh1.csv");
  const ForecastDataConfig config = config_of(path, "ett_hour");
  const Series s = load_series(config);
  EXPECT_EQ(s.rows(), 17420);
  EXPECT_THAT(s.modes[0].labels, ElementsAre("HUFL", "HULL", "MUFL", "MULL", "LUFL", "LULL", "OT"));
  EXPECT_EQ(s.time.frequency_text(), "1 h");
  EXPECT_EQ(s.time.text_at(17420), "2018-06-26 20:00:00");
  EXPECT_THAT(s.notes, IsEmpty());
  EXPECT_EQ(test_windows(s, config), 2785);
}

TEST(RealData, Ettm1) {
  const std::string path = real_data("forecasting/ETTm1.csv");
  SKIP_WITHOUT(path, "ETTm1.csv");
  const ForecastDataConfig config = config_of(path, "ett_minute");
  const Series s = load_series(config);
  EXPECT_EQ(s.rows(), 69680);
  EXPECT_EQ(s.time.frequency_text(), "15 min");
  EXPECT_EQ(test_windows(s, config), 11425);
}

TEST(RealData, Weather) {
  const std::string path = real_data("forecasting/weather.csv");
  SKIP_WITHOUT(path, "weather.csv");
  ForecastDataConfig config = config_of(path);
  EXPECT_THAT(
      error_of(ErrorKind::data, [&] { load_series(config); }),
      HasSubstr(
          "weather.csv:19046: dates must increase, but 2020-05-12 06:00:00 equals the date of line 19045"));
  config.dates = "rows";  // as in TSLib: one duplicate row, and later nine missing rows
  const Series s = load_series(config);
  EXPECT_EQ(s.series_count(), 21);
  EXPECT_THAT(s.notes,
              ElementsAre("the rows are read as 10 min apart up to 2021-01-01 00:00:00, although 2 of 52695 "
                          "differ, first in line 19046"));
  EXPECT_EQ(s.time.text_at(52696), "2021-01-01 00:10:00");
  EXPECT_EQ(s.modes[0].labels.back(), "OT");
  EXPECT_EQ(s.time.frequency_text(), "10 min");
  EXPECT_EQ(s.missing_cells(), 0) << "the published tables keep the -9999 cells";
  EXPECT_EQ(s.rows(), 52696);
  EXPECT_EQ(test_windows(s, config), 10444);
  config.missing_values = {-9999};
  EXPECT_GT(load_series(config).missing_cells(), 0);
}

TEST(RealData, Exchange) {
  const std::string path = real_data("forecasting/exchange_rate.txt");
  SKIP_WITHOUT(path, "exchange_rate.txt");
  const ForecastDataConfig config = config_of(path);
  const Series s = load_series(config);
  EXPECT_EQ(s.rows(), 7588);
  EXPECT_THAT(s.shape(), ElementsAre(8));
  EXPECT_FALSE(s.time.dated);
  EXPECT_EQ(value_at(s, 1), 1.611);
  EXPECT_EQ(test_windows(s, config), 1422);
}

TEST(RealData, BeijingAirIsStationsByVariables) {
  const std::string path = real_data("order3/beijing-air");
  SKIP_WITHOUT(path, "beijing-air");
  const Series s = load_series(config_of(path));
  EXPECT_THAT(s.values.sizes().vec(), ElementsAre(35064, 12, 11));
  EXPECT_EQ(s.missing_cells(), 74027 - 1822) << "74,027 cells are NA, 1,822 of them in the text column wd";
  EXPECT_EQ(s.modes[0].name, "station");
  EXPECT_THAT(s.modes[0].labels,
              ElementsAre("Aotizhongxin", "Changping", "Dingling", "Dongsi", "Guanyuan", "Gucheng", "Huairou",
                          "Nongzhanguan", "Shunyi", "Tiantan", "Wanliu", "Wanshouxigong"));
  EXPECT_THAT(s.modes[1].labels,
              ElementsAre("PM2.5", "PM10", "SO2", "NO2", "CO", "O3", "TEMP", "PRES", "DEWP", "RAIN", "WSPM"));
  EXPECT_EQ(s.time.frequency_text(), "1 h");
  EXPECT_EQ(s.time.text_at(0), "2013-03-01 00:00");
  EXPECT_EQ(s.time.text_at(35064), "2017-03-01 00:00");
  EXPECT_THAT(s.notes,
              ElementsAre("column 'No' is a row index and is dropped",
                          "column 'wd' holds text and is dropped; data.categories = wd one-hot encodes it",
                          "column 'station' names the files"));
  EXPECT_EQ(value_at(s, 5), 77) << "O3 of the first hour in Aotizhongxin";
}

TEST(RealData, Era5IsAGrid) {
  const std::string path = real_data("order3/era5_t2m_uk_2019-03.npy");
  SKIP_WITHOUT(path, "era5_t2m_uk_2019-03.npy");
  ForecastDataConfig config = config_of(path);
  config.mode_names = {"latitude", "longitude"};
  config.ordered_modes = config.mode_names;
  config.start = "2019-03-01 00:00";
  config.step = "1 h";
  const Series s = load_series(config);
  EXPECT_THAT(s.values.sizes().vec(), ElementsAre(744, 33, 49));
  EXPECT_EQ(s.time.text_at(743), "2019-03-31 23:00");
  EXPECT_GT(value_at(s, 0), 240);
  EXPECT_LT(value_at(s, 0), 310);
}

}  // namespace
}  // namespace modewise::data
