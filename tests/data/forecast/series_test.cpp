#include "modewise/data/forecast/series.h"

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

TEST(RequireSameModes, NamesAnotherOrderOfTheTensor) {
  const std::vector<SeriesMode> run = {{"station", {"p", "q"}, false}, {"variable", {"a", "b", "c"}, false}};
  EXPECT_EQ(error_of(ErrorKind::data,
                     [&] {
                       require_same_modes(run, with_labels({"a", "b"}));
                     }),
            "new.csv: the run was trained on 2 station × 3 variable, this is 2 variable");
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
