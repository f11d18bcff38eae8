// Series from numeric text, NPY and NPZ.

#include <gmock/gmock.h>

#include <cmath>
#include <numeric>

#include "modewise/data/forecasting/load_series.h"
#include "modewise/io/arrays/npy.h"
#include "modewise/io/arrays/npz.h"
#include "tests/data/scratch.h"

namespace modewise::data {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class ArraySource : public testing::Test {
 protected:
  std::string write_npy(const std::vector<int64_t>& shape) {
    std::vector<float> values(static_cast<size_t>(
        std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<int64_t>())));
    std::iota(values.begin(), values.end(), 0.0f);
    const std::string path = folder_.path("f.npy");
    io::write_npy(path, io::make_array(shape, std::span<const float>(values)));
    return path;
  }
  ScratchFolder folder_;
};

TEST_F(ArraySource, NumericTextHasNumberedVariablesAndNoDates) {
  ForecastDataConfig config;
  config.path = folder_.write("exchange.txt", "0.5,1\n0.25,2\n0.125,nan\n");
  const Series s = load_series(config);
  EXPECT_THAT(s.modes[0].labels, ElementsAre("1", "2"));
  EXPECT_EQ(s.rows(), 3);
  EXPECT_FALSE(s.time.dated);
  EXPECT_EQ(s.missing_cells(), 1);
  config.columns = {"2"};
  EXPECT_EQ(value_at(load_series(config), 1), 2);
  config.columns = {"3"};
  EXPECT_THAT(error_of(ErrorKind::config, [&] { load_series(config); }), HasSubstr("has no column '3'"));
}

TEST_F(ArraySource, NpyOfAnyOrderTimeFirst) {
  ForecastDataConfig config;
  config.path = write_npy({4, 2, 3});
  config.mode_names = {"latitude", "longitude"};
  config.ordered_modes = {"latitude", "longitude"};
  const Series s = load_series(config);
  EXPECT_EQ(s.rows(), 4);
  EXPECT_THAT(s.shape(), ElementsAre(2, 3));
  EXPECT_TRUE(s.modes[0].ordered && s.modes[1].ordered);
  EXPECT_THAT(s.modes[1].labels, ElementsAre("0", "1", "2"));
  EXPECT_EQ(value_at(s, 7), 7);
}

TEST_F(ArraySource, TheTimeAxisMayBeAny) {
  ForecastDataConfig config;
  config.path = write_npy({2, 3, 4});
  config.time_axis = -1;
  const Series s = load_series(config);
  EXPECT_THAT(s.values.sizes().vec(), ElementsAre(4, 2, 3));
  EXPECT_TRUE(s.values.is_contiguous());
  EXPECT_EQ(value_at(s, 0), 0);
  EXPECT_EQ(value_at(s, 1), 4);  // [0, 0, 1] ← [0, 1, 0]
  EXPECT_EQ(value_at(s, 6), 1);  // [1, 0, 0] ← [0, 0, 1]
  EXPECT_EQ(s.modes[0].name, "mode1");
  config.time_axis = 3;
  EXPECT_THAT(error_of(ErrorKind::config, [&] { load_series(config); }), HasSubstr("has 3 axes, got 3"));
}

TEST_F(ArraySource, OneAxisIsOneVariable) {
  ForecastDataConfig config;
  config.path = write_npy({5});
  EXPECT_THAT(load_series(config).values.sizes().vec(), ElementsAre(5, 1));
}

TEST_F(ArraySource, EveryElementTypeIsRead) {
  for (const auto dtype : {io::Array::u8, io::Array::i8, io::Array::u16, io::Array::i16, io::Array::u32,
                           io::Array::i32, io::Array::u64, io::Array::i64}) {
    io::Array array;
    array.dtype = dtype;
    array.shape = {2, 1};
    array.bytes.assign(2 * io::item_size(dtype), std::byte{0});
    array.bytes[0] = std::byte{7};
    io::write_npy(folder_.path("t.npy"), array);
    ForecastDataConfig config;
    config.path = folder_.path("t.npy");
    EXPECT_EQ(value_at(load_series(config), 0), 7) << io::dtype_name(dtype);
  }
}

TEST_F(ArraySource, NumbersOfOneOrTwoBytesTakeFour) {
  const auto series_of = [&](io::Array::DType dtype, std::vector<std::byte> bytes) {
    const auto count = static_cast<int64_t>(bytes.size() / io::item_size(dtype));
    io::write_npy(folder_.path("t.npy"), {dtype, {count, 1}, std::move(bytes)});
    ForecastDataConfig config;
    config.path = folder_.path("t.npy");
    return load_series(config).values;
  };
  const std::byte ones{0xff}, top{0x7f}, sign{0x80}, zero{0};
  const at::Tensor wide = series_of(io::Array::u16, {ones, ones, zero, zero});
  EXPECT_EQ(wide.scalar_type(), at::kFloat);
  EXPECT_EQ(wide[0].item<double>(), 65535);
  EXPECT_EQ(series_of(io::Array::i16, {zero, sign, ones, top})[0].item<double>(), -32768);
  EXPECT_EQ(series_of(io::Array::f16, {std::byte{1}, zero, zero, zero})[0].item<double>(), 0x1p-24);
  const at::Tensor long_numbers = series_of(io::Array::i32, {ones, ones, ones, top, zero, zero, zero, zero});
  EXPECT_EQ(long_numbers.scalar_type(), at::kDouble);
  EXPECT_EQ(long_numbers[0].item<double>(), 2147483647);
}

TEST_F(ArraySource, NanIsMissing) {
  const std::vector<double> values = {1, std::nan(""), 3, 4};
  io::write_npy(folder_.path("f.npy"), io::make_array({2, 2}, std::span<const double>(values)));
  ForecastDataConfig config;
  config.path = folder_.path("f.npy");
  const Series s = load_series(config);
  EXPECT_EQ(s.missing_cells(), 1);
  EXPECT_FALSE(seen_at(s, 1));
}

TEST_F(ArraySource, InfiniteCellsAreMissing) {
  const std::vector<double> values = {1, HUGE_VAL, -HUGE_VAL, 4};
  io::write_npy(folder_.path("f.npy"), io::make_array({2, 2}, std::span<const double>(values)));
  ForecastDataConfig config;
  config.path = folder_.path("f.npy");
  const Series s = load_series(config);
  EXPECT_EQ(s.missing_cells(), 2);
  EXPECT_THAT(s.notes, ElementsAre("2 infinite cells treated as missing"));
}

TEST_F(ArraySource, UsualFillValuesOfFloat32AreAWarningUntilTheyAreNamed) {
  std::vector<float> values(2 * 3 * 4, 1.5F);
  values[17] = 1e20F;  // [1, 1, 1]
  values[20] = 1e20F;
  values[23] = 9.96921e36F;
  io::write_npy(folder_.path("f.npy"), io::make_array({2, 3, 4}, std::span<const float>(values)));
  ForecastDataConfig config;
  config.path = folder_.path("f.npy");
  config.time_axis = 1;
  const Series s = load_series(config);
  ASSERT_EQ(s.warnings.size(), 2u);
  EXPECT_THAT(s.warnings[0], HasSubstr("2 cells hold 1e+20, "));
  EXPECT_THAT(s.warnings[0], HasSubstr("the first at " + config.path + ": element [1, 1, 1]: "));
  EXPECT_THAT(s.warnings[1], HasSubstr("the first at " + config.path + ": element [1, 2, 3]: "));
  config.missing_values = {1e20, 9.96921e36};  // as users write them
  const Series named = load_series(config);
  EXPECT_THAT(named.warnings, testing::IsEmpty());
  EXPECT_EQ(named.missing_cells(), 3);
}

TEST_F(ArraySource, PlacesOfTextAreLinesAndCells) {
  ForecastDataConfig config;
  config.path = folder_.write("f.txt", "\n1.5,2\n\n3,1e20\n5,6\n");
  config.columns = {"2"};
  const Series s = load_series(config);
  EXPECT_EQ(s.where(1, 0), config.path + ":4: cell 2");
  ASSERT_EQ(s.warnings.size(), 1u);
  EXPECT_THAT(s.warnings[0], HasSubstr(config.path + ":4: cell 2"));
}

TEST_F(ArraySource, NpzTakesTheOnlyArrayOrTheNamedOne) {
  const std::vector<double> values = {1, 2, 3, 4};
  const io::Array array = io::make_array({4, 1}, std::span<const double>(values));
  ForecastDataConfig config;
  config.path = folder_.path("f.npz");
  io::write_npz(config.path, {{"x", array}});
  EXPECT_EQ(load_series(config).rows(), 4);
  io::write_npz(config.path, {{"flow", array}, {"level", array}});
  EXPECT_THAT(error_of(ErrorKind::config, [&] { load_series(config); }),
              HasSubstr("contains 2 arrays (flow, level), name one of them"));
  config.array = "levl";
  EXPECT_THAT(error_of(ErrorKind::config, [&] { load_series(config); }),
              HasSubstr("has no array 'levl' (did you mean 'level'?)"));
  config.array = "flow";
  EXPECT_EQ(load_series(config).rows(), 4);
}

}  // namespace
}  // namespace modewise::data
