#include "modewise/data/forecasting/series.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "tests/data/scratch.h"

namespace modewise::data {
namespace {

using testing::HasSubstr;

Series with_labels(std::vector<std::string> labels) {
  Series s = make_series({2, static_cast<int64_t>(labels.size())}, [](int64_t) { return 0.0; });
  s.modes[0].labels = std::move(labels);
  s.source = "new.csv";
  return s;
}

std::string difference(std::vector<std::string> run, std::vector<std::string> data) {
  const std::vector<SeriesMode> modes = {{"variable", std::move(run), false}};
  const Series series = with_labels(std::move(data));
  return error_of(ErrorKind::data, [&] { require_same_modes(modes, series); });
}

TEST(RequireSameModes, EqualModesPass) {
  require_same_modes({{"variable", {"a", "b"}, false}}, with_labels({"a", "b"}));
}

TEST(RequireSameModes, NamesTheColumnsThatDiffer) {
  EXPECT_EQ(difference({"a", "b", "c"}, {"a", "c"}),
            "new.csv: the variables differ from the run's (3 there, 2 here): 'b' missing");
  EXPECT_EQ(difference({"a", "b"}, {"a", "x", "y"}),
            "new.csv: the variables differ from the run's (2 there, 3 here): 'b' missing; 'x', 'y' unknown "
            "to the run");
  EXPECT_EQ(difference({"a", "b", "c"}, {"a", "c", "b"}),
            "new.csv: the variables differ from the run's (3 there, 3 here): another order, first at "
            "position 2 ('b' in "
            "the run, 'c' here)");
  EXPECT_EQ(difference({"a", "b", "c", "d", "e", "f", "g"}, {"z"}),
            "new.csv: the variables differ from the run's (7 there, 1 here): 'a', 'b', 'c', 'd', 'e' and 2 "
            "more missing; "
            "'z' unknown to the run");
}

TEST(RequireSameModes, CountsEqualNamesAndLaterModes) {
  EXPECT_EQ(
      difference({"a", "a", "b"}, {"a", "b", "c"}),
      "new.csv: the variables differ from the run's (3 there, 3 here): 'a' missing; 'c' unknown to the run");
  EXPECT_EQ(
      difference({"a", "b", "c", "d", "e"}, {"z"}),
      "new.csv: the variables differ from the run's (5 there, 1 here): 'a', 'b', 'c', 'd', 'e' missing; "
      "'z' unknown to the run");
  Series series = make_series({2, 2, 2}, [](int64_t) { return 0.0; });
  std::vector<SeriesMode> run = series.modes;
  EXPECT_NO_THROW(require_same_modes(run, series));
  run[1].labels = {"v1", "v0"};
  EXPECT_EQ(error_of(ErrorKind::data, [&] { require_same_modes(run, series); }),
            "test: the variables differ from the run's (2 there, 2 here): another order, first at position 1 "
            "('v1' in the run, 'v0' here)");
}

TEST(Series, NamesItsSeriesAndPlaces) {
  Series series = make_series({4, 2, 3}, [](int64_t) { return 0.0; });
  EXPECT_EQ(series.series_count(), 6);
  EXPECT_EQ(series.shape(), (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(series.series_name(0), "s0 / v0");
  EXPECT_EQ(series.series_name(5), "s1 / v2");
  EXPECT_EQ(series.where(3, 4), "test: row 4, 's1 / v1'");
  EXPECT_EQ(series.missing_cells(), 0);
  series.place = [](int64_t row, int64_t index) { return std::to_string(10 * row + index); };
  EXPECT_EQ(series.where(3, 4), "34");
}

TEST(RequireSameModes, NamesAnotherOrderOfTheTensor) {
  const std::vector<SeriesMode> run = {{"station", {"p", "q"}, false}, {"variable", {"a", "b", "c"}, false}};
  EXPECT_EQ(error_of(ErrorKind::data,
                     [&] {
                       require_same_modes(run, with_labels({"a", "b"}));
                     }),
            "new.csv: the run was trained on 2 stations × 3 variables, this is 2 variables");
}

TEST(SeriesModes, AreCountedByTheirNames) {
  EXPECT_EQ(modes_text({{"station", {"a"}, false}, {"variable", {"x", "y"}, false}}),
            "1 station × 2 variables");
  EXPECT_EQ(modes_text({{"city", {"a", "b"}, false}, {"day", {"x", "y"}, false}}), "2 cities × 2 days");
  EXPECT_EQ(modes_text({{"series", {"a", "b"}, false}, {"mode1", {"x", "y"}, true}}), "2 series × 2 mode1");
}

TEST(SeriesModes, JsonKeepsThem) {
  const std::vector<SeriesMode> modes = {{"site", {"x", "y"}, true}, {"variable", {"ä \"b\""}, false}};
  const auto read = modes_from_json(nlohmann::json::parse(to_json(modes).dump()), "m.json");
  ASSERT_EQ(read.size(), 2u);
  EXPECT_EQ(read[0].labels, modes[0].labels);
  EXPECT_EQ(read[1].labels, modes[1].labels);
  EXPECT_TRUE(read[0].ordered);
  EXPECT_THAT(error_of(ErrorKind::data, [] { modes_from_json(nlohmann::json::parse("[1]"), "m.json"); }),
              HasSubstr("m.json: expected a list of modes"));
  EXPECT_THAT(error_of(ErrorKind::data, [] { modes_from_json(nlohmann::json::array(), "m.json"); }),
              HasSubstr("at least one mode"));
}

}  // namespace
}  // namespace modewise::data
