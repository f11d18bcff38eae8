#include "modewise/data/forecasting/scaler.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <gmock/gmock.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "modewise/core/file.h"
#include "tests/data/scratch.h"

namespace modewise::data {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

nlohmann::json vectors() {
  return nlohmann::json::parse(read_file(MODEWISE_SOURCE_DIR "/tests/data/vectors/scaler.json"));
}

Series series_of(const nlohmann::json& table) {
  const auto width = static_cast<int64_t>(table[0].size());
  Series series = make_series({static_cast<int64_t>(table.size()), width}, [](int64_t) { return 0.0; });
  series.observed = at::full(series.values.sizes(), true, at::kBool);
  for (int64_t i = 0; i < series.values.numel(); ++i) {
    const nlohmann::json& cell = table[static_cast<size_t>(i / width)][static_cast<size_t>(i % width)];
    if (cell.is_null())
      series.observed.mutable_data_ptr<bool>()[i] = false;
    else
      series.values.mutable_data_ptr<double>()[i] = cell.get<double>();
  }
  if (series.missing_cells() == 0) series.observed.reset();
  return series;
}

void expect_as_sklearn(const Series& series, int64_t train, const nlohmann::json& expected) {
  const Scaler scaler = Scaler::fit(series, {0, train});
  const at::Tensor scaled = scaler.transform(series);
  EXPECT_EQ(scaled.scalar_type(), at::kFloat);
  EXPECT_TRUE(scaled.is_contiguous());
  const int64_t width = series.series_count();
  for (int64_t i = 0; i < width; ++i) {
    const auto s = static_cast<size_t>(i);
    const double mean = expected["mean"][s], stddev = expected["scale"][s];
    EXPECT_NEAR(scaler.mean.const_data_ptr<double>()[i], mean, 1e-14 * std::abs(mean) + 1e-15) << i;
    EXPECT_NEAR(scaler.stddev.const_data_ptr<double>()[i], stddev, 1e-14 * stddev) << i;
    const float last = scaled.const_data_ptr<float>()[(series.rows() - 1) * width + i];
    const nlohmann::json& wanted = expected["transformed_last"][s];
    if (wanted.is_null())
      EXPECT_EQ(last, 0.0f) << "missing cells hold 0";
    else
      EXPECT_NEAR(last, wanted.get<double>(), 1e-6 * (1 + std::abs(wanted.get<double>()))) << i;
  }
}

TEST(Scaler, IsTheSameForAFloat32Series) {
  const Series doubles =
      make_series({7, 3}, [](int64_t i) { return static_cast<double>(i * i % 17) - 0.75; });
  Series floats = doubles;
  floats.values = doubles.values.to(at::kFloat);
  const Scaler a = Scaler::fit(doubles, {0, 5}), b = Scaler::fit(floats, {0, 5});
  EXPECT_TRUE(a.mean.equal(b.mean) && a.stddev.equal(b.stddev));
  EXPECT_TRUE(a.transform(doubles).equal(b.transform(floats)));
}

TEST(Scaler, EqualsSklearnOnTrainingRows) {
  const nlohmann::json v = vectors();
  expect_as_sklearn(series_of(v["complete"]), v["train"], v["expected"]);
}

TEST(Scaler, EqualsSklearnOnObservedCells) {
  const nlohmann::json v = vectors();
  expect_as_sklearn(series_of(v["with_missing"]), v["train"], v["expected_with_missing"]);
}

TEST(Scaler, AConstantSeriesHasScaleOneAndANote) {
  const Series s = make_series({5, 2}, [](int64_t i) { return i % 2 == 0 ? 3.5 : static_cast<double>(i); });
  const Scaler scaler = Scaler::fit(s, {0, 4});
  EXPECT_EQ(scaler.stddev.const_data_ptr<double>()[0], 1.0);
  EXPECT_THAT(scaler.notes, ElementsAre("'v0' is 3.5 in all training rows: scale 1 is used"));
  EXPECT_EQ(scaler.transform(s).const_data_ptr<float>()[0], 0.0f);
}

TEST(Scaler, ANeverObservedSeriesHasANote) {
  Series s = make_series({4, 2}, [](int64_t i) { return static_cast<double>(i); });
  s.observed = at::full({4, 2}, true, at::kBool);
  for (int64_t row = 0; row < 3; ++row) s.observed.mutable_data_ptr<bool>()[row * 2] = false;
  const Scaler scaler = Scaler::fit(s, {0, 3});
  EXPECT_THAT(scaler.notes,
              ElementsAre("'v0' is never observed in the training rows: mean 0 and scale 1 are used"));
}

TEST(Scaler, ValuesUnderMissingCellsDoNotMatter) {
  Series s = make_series({6, 1}, [](int64_t i) { return static_cast<double>(i); });
  s.observed = at::full({6, 1}, true, at::kBool);
  s.observed.mutable_data_ptr<bool>()[2] = false;
  const Scaler before = Scaler::fit(s, {0, 6});
  s.values.mutable_data_ptr<double>()[2] = 1e9;
  const Scaler after = Scaler::fit(s, {0, 6});
  EXPECT_EQ(before.mean.const_data_ptr<double>()[0], after.mean.const_data_ptr<double>()[0]);
  EXPECT_EQ(before.stddev.const_data_ptr<double>()[0], after.stddev.const_data_ptr<double>()[0]);
  EXPECT_EQ(after.transform(s).const_data_ptr<float>()[2], 0.0f);
}

TEST(Scaler, InverseUndoesTransformAtAnyAxis) {
  const Series s =
      make_series({7, 3, 2}, [](int64_t i) { return std::sin(static_cast<double>(i)) * 50 + 7; });
  const Scaler scaler = Scaler::fit(s, {0, 5});
  const at::Tensor scaled = scaler.transform(s);
  const at::Tensor back = scaler.inverse(scaled, 1);
  for (int64_t i = 0; i < back.numel(); ++i)
    EXPECT_NEAR(back.const_data_ptr<double>()[i], value_at(s, i), 1e-4);
  const at::Tensor forecast = scaled.movedim(0, -1).unsqueeze(0);  // [B, N_1, N_2, H]
  const at::Tensor units = scaler.inverse(forecast, 1);
  EXPECT_THAT(units.sizes().vec(), ElementsAre(1, 3, 2, 7));
  const at::Tensor again = units.squeeze(0).movedim(-1, 0).contiguous();
  for (int64_t i = 0; i < again.numel(); ++i)
    EXPECT_EQ(again.const_data_ptr<double>()[i], back.const_data_ptr<double>()[i]);
  EXPECT_THAT(error_of(ErrorKind::internal, [&] { scaler.inverse(forecast, 0); }),
              HasSubstr("3 positions of mode 0"));
}

TEST(Scaler, JsonKeepsEveryBit) {
  const Series s = make_series({9, 2, 3}, [](int64_t i) { return std::cos(static_cast<double>(i * i)) / 3; });
  const Scaler scaler = Scaler::fit(s, {0, 9});
  const Scaler read = Scaler::from_json(nlohmann::json::parse(scaler.to_json().dump()), "run/scaler.json");
  EXPECT_TRUE(read.mean.sizes() == scaler.mean.sizes());
  for (int64_t i = 0; i < 6; ++i) {
    EXPECT_EQ(read.mean.const_data_ptr<double>()[i], scaler.mean.const_data_ptr<double>()[i]);
    EXPECT_EQ(read.stddev.const_data_ptr<double>()[i], scaler.stddev.const_data_ptr<double>()[i]);
  }
}

TEST(Scaler, DamagedJsonIsADataError) {
  const auto message = [](const char* text) {
    return error_of(ErrorKind::data,
                    [&] { Scaler::from_json(nlohmann::json::parse(text), "run/scaler.json"); });
  };
  EXPECT_THAT(message("{}"), HasSubstr("run/scaler.json: expected a scaler with shape, mean and std"));
  EXPECT_THAT(message(R"({"shape": [2], "mean": [1], "deviation": [1]})"),
              HasSubstr("as many means and standard deviations"));
  EXPECT_THAT(message(R"({"shape": [1], "mean": [1], "deviation": [0]})"),
              HasSubstr("a standard deviation above 0 for series 0, got 1 and 0"));
  EXPECT_THAT(message(R"({"shape": [-1], "mean": [], "deviation": []})"), HasSubstr("as many means"));
}

TEST(Scaler, AnOverflowingVarianceIsADataError) {
  const Series s = make_series({4, 1}, [](int64_t i) { return i == 2 ? -1e200 : 1.0; });
  EXPECT_THAT(error_of(ErrorKind::data,
                       [&] {
                         Scaler::fit(s, {0, 4});
                       }),
              HasSubstr("test: row 3, 'v0': -1e+200 is so large that the variance of 'v0' overflows"));
}

TEST(Scaler, ACellThatFloat32CannotHoldIsADataErrorWithItsPlace) {
  // Mean 2 and standard deviation 1, so that values keep their magnitude.
  Series s = make_series({6, 2}, [](int64_t i) { return i % 4 < 2 ? 1.0 : 3.0; });
  const Scaler scaler = Scaler::fit(s, {0, 4});
  s.values.mutable_data_ptr<double>()[9] = std::numeric_limits<float>::max();
  EXPECT_EQ(scaler.transform(s).const_data_ptr<float>()[9], std::numeric_limits<float>::max());
  s.values.mutable_data_ptr<double>()[9] = -3.5e38;
  EXPECT_THAT(
      error_of(ErrorKind::data, [&] { scaler.transform(s); }),
      HasSubstr(
          "test: row 5, 'v1': -3.5e+38 is -3.5e+38 standard deviations from the mean of its training rows, "
          "more than 32-bit floats can hold"));
  s.place = [](int64_t row, int64_t index) {
    return "cell " + std::to_string(row) + " " + std::to_string(index);
  };
  EXPECT_THAT(error_of(ErrorKind::data, [&] { scaler.transform(s); }),
              testing::StartsWith("cell 4 1: -3.5e+38"));
}

TEST(Scaler, CallsConstantWhatRoundingExplains) {
  const double epsilon = std::numeric_limits<double>::epsilon();
  const auto stddev = [&](double apart) {
    const Series s = make_series({2, 1}, [&](int64_t i) { return i == 0 ? 1 : 1 + apart; });
    return Scaler::fit(s, {0, 2}).stddev.item<double>();
  };
  // Variance (apart / 2)² against (2 rows × mean × ε)².
  EXPECT_EQ(stddev(4 * epsilon), 1);
  EXPECT_EQ(stddev(6 * epsilon), 3 * epsilon);
}

TEST(Scaler, FitsTheRowsOfItsRangeAlone) {
  Series s = make_series({5, 2}, [](int64_t i) { return i < 2 || i > 7 ? 1e200 : static_cast<double>(i); });
  const Scaler scaler = Scaler::fit(s, {1, 4});  // 2, 4, 6 and 3, 5, 7
  EXPECT_EQ(scaler.mean[0].item<double>(), 4);
  EXPECT_EQ(scaler.mean[1].item<double>(), 5);
  EXPECT_DOUBLE_EQ(scaler.stddev[1].item<double>(), std::sqrt(8.0 / 3));
  const SplitRange wrong[] = {{-1, 2}, {2, 2}, {3, 6}};
  for (const SplitRange range : wrong)
    EXPECT_EQ(
        error_of(ErrorKind::internal, [&] { Scaler::fit(s, range); }),
        fmt::format("Scaler::fit: rows [{}, {}) are not within the 5 rows of test", range.begin, range.end));
  EXPECT_NO_THROW(Scaler::fit(s, {3, 4}));
  double* values = s.values.mutable_data_ptr<double>();
  values[5] = 1e200, values[7] = -2e200;
  EXPECT_EQ(error_of(ErrorKind::data,
                     [&] {
                       Scaler::fit(s, {1, 4});
                     }),
            "test: row 4, 'v1': -2e+200 is so large that the variance of 'v1' overflows; if it stands for a "
            "missing value, name it in data.missing_values");
  values[7] = 2e199;
  EXPECT_THAT(error_of(ErrorKind::data,
                       [&] {
                         Scaler::fit(s, {1, 4});
                       }),
              HasSubstr("test: row 3, 'v1': 1e+200"));
}

TEST(Scaler, FitsOtherSeriesAndAxesNot) {
  const Series s = make_series({3, 2}, [](int64_t i) { return static_cast<double>(i); });
  const Scaler scaler = Scaler::fit(s, {0, 3});
  EXPECT_EQ(error_of(ErrorKind::internal,
                     [&] {
                       scaler.transform(make_series({3, 3}, [](int64_t) { return 0.0; }));
                     }),
            "Scaler::transform: test has 3 series, the scaler 2");
  EXPECT_EQ(error_of(ErrorKind::internal,
                     [&] {
                       scaler.inverse(at::empty({3, 2}), 2);
                     }),
            "Scaler::inverse: axis 2 of 2 axes must have the 2 positions of mode 0");
  Scaler noted = scaler;
  noted.notes = {"x"};
  EXPECT_THAT(Scaler::from_json(noted.to_json(), "s").notes, ElementsAre("x"));
  const auto refused = [](const char* text) {
    return error_of(ErrorKind::data, [&] { Scaler::from_json(nlohmann::json::parse(text), "s"); });
  };
  for (const char* text : {R"({"shape": [], "mean": [1], "deviation": [1]})",
                           R"({"shape": [1], "mean": [1], "deviation": [1, 2]})",
                           R"({"shape": [-1, -1], "mean": [1], "deviation": [1]})",
                           R"({"shape": [0], "mean": [], "deviation": []})"})
    EXPECT_THAT(refused(text), HasSubstr("as many means and standard deviations as in the scaler's shape"))
        << text;
  EXPECT_THAT(refused(R"({"shape": [2], "mean": [1, 2], "deviation": [1, -1]})"),
              HasSubstr("for series 1, got 2 and -1"));
  EXPECT_EQ(Scaler::from_json(
                nlohmann::json::parse(R"({"shape": [1, 2], "mean": [1, 2], "deviation": [1, 2]})"), "s")
                .stddev.sizes(),
            (at::IntArrayRef{1, 2}));
}

TEST(Scaler, IdentityLeavesValues) {
  const Series s = make_series({3, 2}, [](int64_t i) { return static_cast<double>(i); });
  EXPECT_EQ(Scaler::identity(s).transform(s).const_data_ptr<float>()[5], 5.0f);
}

}  // namespace
}  // namespace modewise::data
