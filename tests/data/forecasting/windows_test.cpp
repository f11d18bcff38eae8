#include "modewise/data/forecasting/windows.h"

#include <ATen/Parallel.h>
#include <ATen/ops/empty.h>
#include <gmock/gmock.h>

#include <cstring>

#include "tests/data/scratch.h"

namespace modewise::data {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// [T, N…] float32 with a mask: every seventh cell is missing.
struct Scaled {
  at::Tensor values, observed;
};
Scaled scaled_series(const std::vector<int64_t>& shape) {
  Scaled scaled{at::empty(shape, at::kFloat), at::empty(shape, at::kBool)};
  for (int64_t i = 0; i < scaled.values.numel(); ++i) {
    const bool seen = i % 7 != 3;
    scaled.values.mutable_data_ptr<float>()[i] = seen ? static_cast<float>(i) : 0.0f;
    scaled.observed.mutable_data_ptr<bool>()[i] = seen;
  }
  return scaled;
}

TEST(Windows, CountsAndFirstRowsAreTslibs) {
  const SplitRange train{0, 70}, validation{70, 80}, test{80, 100};
  const SplitWindows w = cut_windows({train, validation, test, ""}, {8, 4});
  EXPECT_EQ(w.train.size(), 70 - 8 - 4 + 1);
  EXPECT_EQ(w.validation.size(), 10 + 8 - 8 - 4 + 1);
  EXPECT_EQ(w.test.size(), 20 - 4 + 1);
  EXPECT_EQ(w.train.first_row(0), 0);
  EXPECT_EQ(w.validation.first_row(0), 62);
  EXPECT_EQ(w.validation.first_row(1), 63);
  EXPECT_EQ(w.test.first_row(w.test.size() - 1) + 8 + 4, 100) << "the last window ends with the data";
}

TEST(Windows, StrideAndFractionThinTraining) {
  EXPECT_EQ(WindowSet("t", {0, 20}, {3, 2}, false, 5).size(), 4);  // 16 windows: 0, 5, 10, 15
  EXPECT_EQ(WindowSet("t", {0, 20}, {3, 2}, false, 5).first_row(3), 15);
  EXPECT_EQ(WindowSet("t", {0, 20}, {3, 2}, false, 1, 0.5).size(), 8);
  EXPECT_EQ(WindowSet("t", {0, 20}, {3, 2}, false, 1, 0.001).size(), 1);
  EXPECT_EQ(WindowSet("t", {0, 20}, {3, 2}, false, 100).size(), 1);
}

TEST(Windows, ASplitShorterThanAWindowSaysRowsNeededAndHad) {
  EXPECT_EQ(error_of(ErrorKind::data,
                     [] {
                       WindowSet("training", {0, 20}, {15, 6}, false);
                     }),
            "the training split has 20 rows, 20 in all; one window of lookback 15 and horizon 6 needs 21");
  EXPECT_EQ(error_of(ErrorKind::data,
                     [] {
                       WindowSet("validation", {50, 55}, {15, 6}, true);
                     }),
            "the validation split has 5 rows and the 15 before it, 20 in all; one window of lookback 15 and "
            "horizon 6 needs 21");
  EXPECT_EQ(error_of(ErrorKind::data,
                     [] {
                       WindowSet("test", {4, 10}, {15, 6}, true);
                     }),
            "the test split has 6 rows and the 4 before it, 10 in all; one window of lookback 15 and horizon "
            "6 needs 21");
  EXPECT_EQ(WindowSet("training", {0, 21}, {15, 6}, false).size(), 1);
}

TEST(Windows, StridesFractionsAndNumbersAreChecked) {
  const auto refused = [](int64_t stride, double fraction) {
    return error_of(ErrorKind::config, [&] { WindowSet("t", {0, 20}, {3, 2}, false, stride, fraction); });
  };
  EXPECT_EQ(refused(0, 1), "window stride must be at least 1, got 0");
  for (const double fraction : {0.0, -0.5, 1.5})
    EXPECT_EQ(refused(1, fraction),
              fmt::format("fraction of windows must be above 0 and at most 1, got {}", fraction));
  for (const WindowShape shape : {WindowShape{0, 2}, {3, 0}})
    EXPECT_THAT(error_of(ErrorKind::config,
                         [&] {
                           WindowSet("t", {0, 20}, shape, false);
                         }),
                HasSubstr("lookback and horizon must be at least 1 row"));
  const WindowSource source(scaled_series({20, 3}).values, {});
  for (const int64_t window : {-1, 16}) {
    const std::vector<int64_t> windows = {window};
    EXPECT_EQ(error_of(ErrorKind::internal,
                       [&] {
                         source.gather(WindowSet("t", {0, 20}, {3, 2}, false), windows);
                       }),
              fmt::format("window {} of 16 requested", window));
  }
  const SplitRange train{0, 70}, validation{70, 100}, none{100, 100};
  EXPECT_EQ(cut_windows({train, validation, none, ""}, {8, 4}, 2, 0.5).test.size(), 0);
  EXPECT_EQ(cut_windows({train, validation, none, ""}, {8, 4}, 2, 0.5).train.size(),
            15);  // of 59: 29, every second one
  const WindowSet every = cut_windows({train, validation, none, ""}, {8, 4}, 1, 1, 5).validation;
  EXPECT_EQ(every.size(), 6);  // of 27, every fifth one
  EXPECT_EQ(every.first_row(0), 62);
  EXPECT_EQ(every.first_row(5), 87);
}

TEST(Windows, LookbackAndHorizonAreChecked) {
  const Series s = make_series({50, 1}, [](int64_t) { return 0.0; });
  const auto message = [&](ErrorKind kind, int64_t lookback, int64_t horizon) {
    return error_of(kind, [&] { check_window({lookback, horizon}, s); });
  };
  EXPECT_EQ(message(ErrorKind::config, 10, 0), "horizon must be at least 1 row, got 0");
  EXPECT_EQ(message(ErrorKind::config, 10, -3), "horizon must be at least 1 row, got -3");
  EXPECT_EQ(message(ErrorKind::config, 0, 5), "lookback must be at least 1 row, got 0");
  EXPECT_EQ(message(ErrorKind::data, 10, 41),
            "test: a window of lookback 10 and horizon 41 is longer than the data, 50 rows");
  EXPECT_THAT(message(ErrorKind::data, 10, INT64_MAX), HasSubstr("is longer than the data, 50 rows"));
  EXPECT_THAT(message(ErrorKind::data, INT64_MAX, 1), HasSubstr("is longer than the data, 50 rows"));
  check_window({10, 40}, s);
}

TEST(Windows, HugeHorizonsDoNotOverflow) {
  EXPECT_THAT(error_of(ErrorKind::data,
                       [] {
                         WindowSet("t", {10, 20}, {INT64_MAX, INT64_MAX}, true);
                       }),
              HasSubstr("the t split has 10 rows and the 10 before it, 20 in all"));
}

TEST(Windows, ABatchIsTheRowsOfEachWindowTimeLast) {
  for (const auto& shape : std::vector<std::vector<int64_t>>{{31, 1}, {31, 5}, {33, 3, 2}, {40, 2, 3, 2}}) {
    const Scaled scaled = scaled_series(shape);
    const WindowSource source(scaled.values, scaled.observed);
    const WindowSet set("t", {9, shape[0]}, {7, 5}, true);
    const std::vector<int64_t> windows = {set.size() - 1, 0, 3, 3};
    const WindowBatch batch = source.gather(set, windows);
    const int64_t count = scaled.values.numel() / shape[0];
    std::vector<int64_t> past_shape = {4};
    past_shape.insert(past_shape.end(), shape.begin() + 1, shape.end());
    past_shape.push_back(7);
    EXPECT_EQ(batch.past.sizes().vec(), past_shape);
    EXPECT_TRUE(batch.past.is_contiguous() && batch.future_observed.is_contiguous());
    for (int64_t b = 0; b < 4; ++b) {
      const int64_t first = set.first_row(windows[static_cast<size_t>(b)]);
      EXPECT_EQ(batch.first_step.const_data_ptr<int64_t>()[b], first);
      for (int64_t n = 0; n < count; ++n)
        for (int64_t t = 0; t < 12; ++t) {
          const int64_t cell = (first + t) * count + n;
          const bool past = t < 7;
          const int64_t at = past ? (b * count + n) * 7 + t : (b * count + n) * 5 + t - 7;
          const at::Tensor& values = past ? batch.past : batch.future;
          const at::Tensor& observed = past ? batch.past_observed : batch.future_observed;
          ASSERT_EQ(values.const_data_ptr<float>()[at], scaled.values.const_data_ptr<float>()[cell]);
          ASSERT_EQ(observed.const_data_ptr<bool>()[at], scaled.observed.const_data_ptr<bool>()[cell]);
        }
    }
  }
}

TEST(Windows, ACompleteSeriesHasNoMasks) {
  const Scaled scaled = scaled_series({20, 3});
  const WindowSource source(scaled.values, {});
  const std::vector<int64_t> windows = {0, 1};
  const WindowBatch batch = source.gather(WindowSet("t", {0, 20}, {4, 2}, false), windows);
  EXPECT_FALSE(batch.past_observed.defined());
  EXPECT_FALSE(batch.future_observed.defined());
  EXPECT_FALSE(source.has_missing());
}

TEST(Windows, FuturesBeyondTheEndAreMissing) {
  const Scaled scaled = scaled_series({20, 2});
  const std::vector<int64_t> rows = {16, 14};
  for (const bool complete : {true, false}) {
    const WindowSource source(scaled.values, complete ? at::Tensor() : scaled.observed);
    const WindowBatch batch = source.gather_rows({4, 3}, rows);
    EXPECT_EQ(batch.past_observed.defined(), !complete);
    const bool* seen = batch.future_observed.const_data_ptr<bool>();
    const float* future = batch.future.const_data_ptr<float>();
    for (int i = 0; i < 6; ++i) {
      EXPECT_FALSE(seen[i]);
      EXPECT_EQ(future[i], 0.0f);
    }
    EXPECT_EQ(future[6], 36.0f);  // row 18, series 0
    EXPECT_TRUE(seen[6]);
    EXPECT_FALSE(seen[8]);
  }
  const WindowSource source(scaled.values, {});
  const std::vector<int64_t> too_late = {17};
  EXPECT_THAT(error_of(ErrorKind::internal,
                       [&] {
                         source.gather_rows({4, 3}, too_late);
                       }),
              HasSubstr("a lookback of 4 rows from row 17 requested, the series has 20"));
}

TEST(Windows, GatheringIsTheSameForAnyNumberOfThreads) {
  const Scaled scaled = scaled_series({700, 65});
  const WindowSource source(scaled.values, scaled.observed);
  const WindowSet set("t", {0, 700}, {96, 96}, false);
  std::vector<int64_t> windows;
  for (int64_t w = 0; w < 257; ++w) windows.push_back(w * 2 % set.size());
  at::set_num_threads(1);
  const WindowBatch one = source.gather(set, windows);
  at::set_num_threads(4);
  const WindowBatch four = source.gather(set, windows);
  EXPECT_EQ(
      std::memcmp(one.past.const_data_ptr<float>(), four.past.const_data_ptr<float>(), one.past.nbytes()), 0);
  EXPECT_EQ(std::memcmp(one.future_observed.const_data_ptr<bool>(),
                        four.future_observed.const_data_ptr<bool>(), one.future_observed.nbytes()),
            0);
}

}  // namespace
}  // namespace modewise::data
