// Future covariates: columns moved out of the forecast variables, with rows after the last observed one.

#include "modewise/data/forecasting/future_covariates.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/equal.h>
#include <gmock/gmock.h>

#include "modewise/data/forecasting/load_series.h"
#include "modewise/data/forecasting/windows.h"
#include "tests/data/scratch.h"

namespace modewise::data {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

class Known : public testing::Test {
 protected:
  Series load(const std::string& text, ForecastDataConfig config) {
    config.path = folder_.write("f.csv", text);
    return load_series(config);
  }
  std::string load_error(ErrorKind kind, const std::string& text, const ForecastDataConfig& config) {
    return error_of(kind, [&] { load(text, config); });
  }
  static ForecastDataConfig knowing(std::vector<std::string> names) {
    ForecastDataConfig config;
    config.known = std::move(names);
    return config;
  }
  ScratchFolder folder_;
};

const char* const kPlan =
    "date,a,promo,b,price\n2020-01-01,1,0,10,3.5\n2020-01-02,2,1,20,3.5\n2020-01-03,3,0,,4\n2020-01-04,,1,,4."
    "5\n2020-01-05,,0,,\n";

std::vector<double> doubles(const at::Tensor& tensor) {
  const at::Tensor flat = tensor.to(at::kDouble).contiguous();
  return {flat.const_data_ptr<double>(), flat.const_data_ptr<double>() + flat.numel()};
}

TEST_F(Known, ColumnsAreTakenOutOfTheSeriesAndKeepTheRowsToCome) {
  const Series s = load(kPlan, knowing({"price", "promo"}));
  EXPECT_THAT(s.modes[0].labels, ElementsAre("a", "b"));
  EXPECT_EQ(s.rows(), 3);
  EXPECT_EQ(s.time.length, 3);
  EXPECT_THAT(doubles(s.values), ElementsAre(1, 10, 2, 20, 3, 0));
  EXPECT_EQ(s.missing_cells(), 1);
  ASSERT_TRUE(s.known);
  EXPECT_THAT(s.known->modes[0].labels, ElementsAre("price", "promo"));
  EXPECT_EQ(s.known->rows(), 5);
  EXPECT_THAT(doubles(s.known->values), ElementsAre(3.5, 0, 3.5, 1, 4, 0, 4.5, 1, 0, 0));
  EXPECT_FALSE(seen_at(*s.known, 8));
  EXPECT_TRUE(seen_at(*s.known, 9));
  EXPECT_FALSE(known_has_gaps(s)) << "the missing price is of a row to come";
  EXPECT_EQ(s.known->where(3, 0), folder_.path("f.csv") + ":5: column 'price'");
  EXPECT_EQ(s.where(2, 1), folder_.path("f.csv") + ":4: column 'b'");
  EXPECT_THAT(s.notes,
              Contains("future covariates, not forecast: price, promo; 2 rows after the last row with a "
                       "value to forecast"));
}

TEST_F(Known, ATargetWithoutMissingCellsNeedsNoMask) {
  const Series s = load("date,a,k\n2020-01-01,1,5\n2020-01-02,2,6\n2020-01-03,,7\n", knowing({"k"}));
  EXPECT_FALSE(s.observed.defined());
  EXPECT_FALSE(s.known->observed.defined());
}

TEST_F(Known, OtherFilesReadAsBefore) {
  ForecastDataConfig config;
  const Series s = load(kPlan, config);
  EXPECT_EQ(s.rows(), 5);
  EXPECT_FALSE(s.known);
  EXPECT_EQ(known_shape(config, s).features, 0);
  EXPECT_FALSE(future_covariate_features(config, s, {}, false, 5).defined());
}

TEST_F(Known, ChosenColumnsAndWordsGoWithThem) {
  ForecastDataConfig config = knowing({"day"});
  config.columns = {"a"};
  config.categories = {"day"};
  const Series s =
      load("date,a,day,b\n2020-01-01,1,sun,5\n2020-01-02,2,moon,6\n2020-01-03,3,mars,7\n", config);
  EXPECT_THAT(s.modes[0].labels, ElementsAre("a"));
  EXPECT_THAT(s.known->modes[0].labels, ElementsAre("day=mars", "day=moon", "day=sun"));
  EXPECT_THAT(doubles(s.known->values), ElementsAre(0, 0, 1, 0, 1, 0, 1, 0, 0));
}

TEST_F(Known, ALongTableHasThemForEachSeries) {
  const Series s = load(
      "id,date,y,promo\nx,2020-01-01,1,0\nx,2020-01-02,2,1\nx,2020-01-03,,1\n"
      "z,2020-01-01,5,1\nz,2020-01-02,6,0\nz,2020-01-03,,0\n",
      knowing({"promo"}));
  ASSERT_EQ(s.modes.size(), 1U) << "one variable is left, so no mode of variables";
  EXPECT_THAT(s.modes[0].labels, ElementsAre("x", "z"));
  EXPECT_THAT(s.long_layout->values, ElementsAre("y"));
  EXPECT_THAT(doubles(s.values), ElementsAre(1, 5, 2, 6));
  EXPECT_THAT(s.known->shape(), ElementsAre(2, 1));
  EXPECT_THAT(doubles(s.known->values), ElementsAre(0, 1, 1, 0, 1, 0));
  const FutureCovariateShape shape = known_shape(knowing({"promo"}), s);
  EXPECT_EQ(shape.features, 1);
  EXPECT_EQ(shape.modes, 1);
  EXPECT_EQ(s.where(1, 1), folder_.path("f.csv") + ":6: column 'y'");
}

TEST_F(Known, NamesThatDoNotFitAreSentences) {
  EXPECT_THAT(load_error(ErrorKind::config, kPlan, knowing({"promos"})),
              HasSubstr("f.csv has no column of numbers 'promos' (did you mean 'promo'?)"));
  EXPECT_THAT(load_error(ErrorKind::config, kPlan, knowing({"promo", "promo"})),
              HasSubstr("data.future_covariates: duplicate column 'promo'"));
  EXPECT_THAT(load_error(ErrorKind::config, kPlan, knowing({"promo", "a", "b", "price"})),
              HasSubstr("data.future_covariates lists all columns of"));
  EXPECT_THAT(load_error(ErrorKind::config, "date,a,k\n2020-01-01,,5\n2020-01-02,,6\n", knowing({"k"})),
              HasSubstr("none is left to forecast"));
}

TEST_F(Known, FeaturesAreScaledFlaggedAndFollowedByTheCalendar) {
  ForecastDataConfig config = knowing({"price"});
  config.calendar = {"weekday"};
  config.calendar_code = "scaled";
  const Series s =
      load("date,a,price\n2020-01-06,1,1\n2020-01-07,2,\n2020-01-08,3,3\n2020-01-09,,5\n", config);
  EXPECT_TRUE(known_has_gaps(s));
  EXPECT_EQ(known_shape(config, s).features, 3);
  const Scaler scaler = Scaler::fit(*s.known, {0, 3});  // 1 and 3: mean 2, std 1
  const at::Tensor features = future_covariate_features(config, s, scaler, true, 4);
  EXPECT_EQ(features.scalar_type(), at::kFloat);
  // The 6th of January 2020 was a Monday.
  const std::vector<double> wanted = {-1, 1, -0.5,            //
                                      0,  0, -0.5 + 1.0 / 6,  //
                                      1,  1, -0.5 + 2.0 / 6,  //
                                      3,  1, 0.0};
  EXPECT_THAT(doubles(features), testing::Pointwise(testing::DoubleNear(1e-7), wanted));
}

TEST_F(Known, TheCalendarIsSharedByAllPlacesAndGoesOnBehindTheData) {
  ForecastDataConfig config = knowing({"promo"});
  config.calendar = {"day"};
  const Series s = load(
      "id,date,y,promo\nx,2020-01-31,1,0\nx,2020-02-01,2,1\nz,2020-01-31,5,1\nz,2020-02-01,6,0\n", config);
  const at::Tensor features = future_covariate_features(config, s, Scaler::identity(*s.known), false, 2);
  EXPECT_THAT(features.sizes(), ElementsAre(2, 2, 3));
  EXPECT_TRUE(at::equal(features.select(1, 0).narrow(-1, 1, 2), features.select(1, 1).narrow(-1, 1, 2)));
  ForecastDataConfig dates;
  dates.calendar = {"day"};
  const Series plain = load("date,a\n2020-01-30,1\n2020-01-31,2\n", dates);
  const at::Tensor ahead = future_covariate_features(dates, plain, {}, false, 4);
  EXPECT_THAT(ahead.sizes(), ElementsAre(4, 2));
  EXPECT_EQ(ahead[2][0].item<float>(), 0.0F) << "the first of February";
  EXPECT_EQ(ahead[2][1].item<float>(), 1.0F);
}

TEST_F(Known, WindowsBringLookbackAndHorizon) {
  const at::Tensor values = at::arange(10, at::kFloat).view({5, 2});
  WindowSource source(values, {});
  source.set_known(at::arange(21, at::kFloat).view({7, 3}));  // two rows after the data
  const std::vector<int64_t> first = {0, 2};
  const WindowBatch batch = source.gather_rows({3, 2}, first);
  EXPECT_THAT(batch.known.sizes(), ElementsAre(2, 3, 5));
  for (int64_t b = 0; b < 2; ++b)
    for (int64_t k = 0; k < 3; ++k)
      for (int64_t t = 0; t < 5; ++t)
        EXPECT_EQ(batch.known[b][k][t].item<float>(),
                  static_cast<float>((first[static_cast<size_t>(b)] + t) * 3 + k));
}

TEST_F(Known, AMissingCellOfTheHorizonIsNamedWithStepAndDate) {
  const Series s = load(kPlan, knowing({"price", "promo"}));
  require_future_covariates(s, 0, 4, "fill it");
  EXPECT_EQ(error_of(ErrorKind::data, [&] { require_future_covariates(s, 3, 5, "fill it"); }),
            folder_.path("f.csv") +
                ": the future covariate 'price' is missing on 2020-01-05, step 2 of the forecast; fill it");
  EXPECT_THAT(error_of(ErrorKind::data, [&] { require_future_covariates(s, 3, 6, "fill it"); }),
              HasSubstr("step 2"));
}

class Future : public Known {
 protected:
  Series taken(const std::string& text, int64_t horizon = 2) {
    const ForecastDataConfig config = knowing({"price", "promo"});
    Series s = load(kPlan, config);
    take_future(s, config, folder_.write("future.csv", text), horizon);
    return s;
  }
};

TEST_F(Future, RowsAreTakenByTheirDates) {
  const Series s =
      taken("date,promo,price,a\n2020-01-03,9,9,\n2020-01-04,0,6,\n2020-01-05,1,7,\n2020-01-06,9,9,\n");
  EXPECT_EQ(s.known->rows(), 5);
  EXPECT_THAT(doubles(s.known->values.narrow(0, 2, 3)), ElementsAre(4, 0, 6, 0, 7, 1));
  EXPECT_EQ(s.known->where(4, 1), folder_.path("future.csv") + ":4: column 'promo'");
  EXPECT_EQ(s.known->where(1, 0), folder_.path("f.csv") + ":3: column 'price'");
  EXPECT_EQ(s.rows(), 3);
}

TEST_F(Future, OneRowIsEnoughForOneStep) {
  const Series s = taken("date,promo,price\n2020-01-04,1,8\n", 1);
  EXPECT_THAT(doubles(s.known->values.narrow(0, 3, 1)), ElementsAre(8, 1));
}

TEST_F(Future, DatesThatAreNotThereAreNamedWithWhatTheFileCovers) {
  EXPECT_EQ(
      error_of(ErrorKind::data, [&] { taken("date,promo,price\n2020-01-04,1,8\n2020-01-06,1,8\n"); }),
      folder_.path("future.csv") +
          ": the future covariate 'price' is missing on 2020-01-05, step 2 of the forecast; the file "
          "covers 2020-01-04 to 2020-01-06, and the model needs all 2 rows of its horizon after the last "
          "one of " +
          folder_.path("f.csv") + ", 2020-01-04 to 2020-01-05");
}

TEST_F(Future, FilesThatDoNotFitAreSentences) {
  EXPECT_THAT(error_of(ErrorKind::data, [&] { taken("date,promo\n2020-01-04,1\n2020-01-05,1\n"); }),
              HasSubstr("no column 'price', a future covariate of the run"));
  EXPECT_THAT(error_of(ErrorKind::data, [&] { taken("promo,price\n1,2\n3,4\n"); }),
              HasSubstr("its rows must have dates, as those of"));
  ForecastDataConfig config;
  Series plain = load("date,a,b\n2020-01-01,1,2\n2020-01-02,1,2\n", config);
  EXPECT_THAT(error_of(ErrorKind::data, [&] { take_future(plain, config, "future.csv", 2); }),
              HasSubstr("trained without future covariates"));
}

TEST_F(Future, ALongTableOfOneStepAndOneColumn) {
  const ForecastDataConfig config = knowing({"promo"});
  Series s = load("id,date,y,promo\nx,2020-01-01,1,0\nx,2020-01-02,2,1\nz,2020-01-01,5,1\nz,2020-01-02,6,0\n",
                  config);
  take_future(s, config, folder_.write("future.csv", "id,date,promo\nx,2020-01-03,7\nz,2020-01-03,8\n"), 1);
  EXPECT_THAT(doubles(s.known->values.narrow(0, 2, 1)), ElementsAre(7, 8));
}

TEST_F(Future, WithoutDatesTheRowsFollow) {
  const ForecastDataConfig config = knowing({"promo"});
  Series s = load("y,promo\n1,0\n2,1\n3,1\n", config);
  take_future(s, config, folder_.write("future.csv", "promo\n4\n5\n6\n"), 2);
  EXPECT_THAT(doubles(s.known->values), ElementsAre(0, 1, 1, 4, 5));
}

}  // namespace
}  // namespace modewise::data
