// Calendar features against dates computed by hand and by Python's datetime.

#include "modewise/data/forecasting/calendar.h"

#include <gmock/gmock.h>

#include <cmath>
#include <numbers>

#include "tests/data/scratch.h"

namespace modewise::data {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TimeAxis axis(io::CivilTime start, int64_t step, int64_t months = 0) {
  TimeAxis time;
  time.dated = true;
  time.start = io::to_seconds(start);
  time.step = step;
  time.months = months;
  time.length = 2;
  return time;
}

ForecastDataConfig asking(std::vector<std::string> parts, const std::string& code = "scaled") {
  ForecastDataConfig config;
  config.calendar = std::move(parts);
  config.calendar_code = code;
  return config;
}

TEST(Calendar, TheStepChoosesTheParts) {
  const io::CivilTime start{2020, 1, 1, 0, 0, 0};
  const ForecastDataConfig config = asking({"auto"});
  EXPECT_THAT(calendar_parts(config, axis(start, 900)), ElementsAre("hour", "weekday", "day", "yearday"));
  EXPECT_THAT(calendar_parts(config, axis(start, 3600)), ElementsAre("hour", "weekday", "day", "yearday"));
  EXPECT_THAT(calendar_parts(config, axis(start, 86400)), ElementsAre("weekday", "day", "yearday"));
  EXPECT_THAT(calendar_parts(config, axis(start, 7 * 86400)), ElementsAre("day", "yearday"));
  EXPECT_THAT(calendar_parts(config, axis(start, 0, 1)), ElementsAre("month"));
  EXPECT_THAT(calendar_parts(config, axis(start, 0, 12)), IsEmpty());
  EXPECT_THAT(calendar_parts(asking({"month", "auto", "day"}), axis(start, 86400)),
              ElementsAre("month", "weekday", "day", "yearday"));
  EXPECT_THAT(calendar_parts(ForecastDataConfig(), TimeAxis()), IsEmpty());
}

/// Scaled encoding of one date part.
double place(const std::string& part, io::CivilTime time) {
  return calendar_codes(asking({part}), axis(time, 3600), 1).item<double>() + 0.5;
}

TEST(Calendar, ScaledPartsLieBetweenTheirFirstAndLastPlace) {
  // datetime(2024, 12, 31, 18, 45, 36): a Tuesday, the 366th day of the year.
  const io::CivilTime late{2024, 12, 31, 18, 45, 36};
  EXPECT_NEAR(place("hour", late), 18.76 / 23, 1e-6);
  EXPECT_NEAR(place("weekday", late), 1.0 / 6, 1e-6);
  EXPECT_FLOAT_EQ(place("day", late), 1);
  EXPECT_FLOAT_EQ(place("yearday", late), 1);
  EXPECT_FLOAT_EQ(place("month", late), 1);
  // datetime(1969, 3, 2, 0): a Sunday before 1970, the 61st day.
  const io::CivilTime early{1969, 3, 2, 0, 0, 0};
  EXPECT_EQ(place("hour", early), 0);
  EXPECT_FLOAT_EQ(place("weekday", early), 1);
  EXPECT_NEAR(place("day", early), 1.0 / 30, 1e-6);
  EXPECT_NEAR(place("yearday", early), 60.0 / 365, 1e-6);
  EXPECT_NEAR(place("month", early), 2.0 / 11, 1e-6);
  // datetime(1969, 12, 31, 23): a Wednesday.
  EXPECT_NEAR(place("weekday", {1969, 12, 31, 23, 0, 0}), 2.0 / 6, 1e-6);
}

TEST(Calendar, CyclicPartsAreSineAndCosine) {
  const ForecastDataConfig config = asking({"hour", "month"}, "cyclic");
  const TimeAxis time = axis({2021, 4, 1, 6, 0, 0}, 3600);
  EXPECT_EQ(calendar_width(config, time), 4);
  const at::Tensor codes = calendar_codes(config, time, 3);  // one row after the data
  for (int64_t row = 0; row < 3; ++row) {
    const double angle = 2 * std::numbers::pi * static_cast<double>(6 + row) / 24;
    EXPECT_NEAR(codes[row][0].item<double>(), std::sin(angle), 1e-7);
    EXPECT_NEAR(codes[row][1].item<double>(), std::cos(angle), 1e-7);
    EXPECT_FLOAT_EQ(codes[row][2].item<double>(), 1);
    EXPECT_NEAR(codes[row][3].item<double>(), 0, 1e-14);
  }
}

TEST(Calendar, RowsWithoutDatesHaveNone) {
  EXPECT_EQ(error_of(ErrorKind::data, [] { calendar_parts(asking({"auto"}), TimeAxis()); }),
            "data.calendar needs dates, but the rows have none: data.start and data.step date them");
}

}  // namespace
}  // namespace modewise::data
