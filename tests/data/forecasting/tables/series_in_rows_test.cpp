// Tables with a row for each series and a column for each date.

#include <gmock/gmock.h>

#include "tests/data/forecasting/table_test.h"

namespace modewise::data {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class SeriesInRows : public TableTest {
 protected:
  /// Names of the series of two rows that begin with these cells.
  std::vector<std::string> names(const std::string& first, const std::string& second,
                                 const std::vector<std::string>& id = {}) {
    ForecastDataConfig config;
    config.id = id;
    const Series s = load(kHeader + first + ",1,2,3,4\n" + second + ",5,6,7,8\n", config);
    EXPECT_THAT(s.shape(), ElementsAre(2));
    EXPECT_EQ(s.time.text_at(0), "2019-01-01");
    EXPECT_EQ(value_at(s, 0), 1);
    EXPECT_EQ(value_at(s, 1), 5) << "[date, series]";
    return s.modes[0].labels;
  }
  const std::string kHeader = "code,name,2019-01-01,2019-02-01,2019-03-01,2019-04-01\n";
};

TEST_F(SeriesInRows, AreNamedByTheFirstCellsThatDiffer) {
  EXPECT_THAT(names("1,p", "2,q"), ElementsAre("p", "q")) << "words before numbers";
  EXPECT_THAT(names("1,p", "2,p"), ElementsAre("1", "2"));
  EXPECT_THAT(names("x,p", "y,p"), ElementsAre("x", "y"));
}

TEST_F(SeriesInRows, AreNamedByTheColumnsOfDataId) {
  EXPECT_THAT(names("1,p", "2,q", {"code"}), ElementsAre("1", "2"));
  EXPECT_THAT(names("1,p", "2,q", {"none"}), ElementsAre("p", "q"));
  ForecastDataConfig config;
  config.id = {"nome"};
  EXPECT_EQ(load_error(ErrorKind::config, kHeader + "1,p,1,2,3,4\n2,q,5,6,7,8\n", config),
            "data.id: f.csv has no column 'nome' before its values (did you mean 'name'?)");
  config.id = {"2019-01-01"};
  EXPECT_THAT(load_error(ErrorKind::config, kHeader + "1,p,1,2,3,4\n2,q,5,6,7,8\n", config),
              HasSubstr("has no column '2019-01-01' before its values"));
}

TEST_F(SeriesInRows, HaveDatesInTheHeader) {
  EXPECT_THAT(load("name,2018,2019,2020,2021\np,1,2,3,4\nq,5,6,7,8\n").modes[0].labels,
              ElementsAre("p", "q"));
  const Series gap = load("name,2018,2019,2021,2022,sum\np,1,2,3,4,10\nq,5,6,7,8,26\n");
  EXPECT_THAT(gap.modes[0].labels, ElementsAre("p", "q"));
  EXPECT_EQ(gap.rows(), 5);
  EXPECT_EQ(gap.missing_cells(), 2);
  EXPECT_EQ(load("name,2018,2018,2018,2018\np,1,2,3,4\nq,5,6,7,8\n").modes[0].labels.size(), 4);
  EXPECT_EQ(load("name,2018,2019,2021,2020\np,1,2,3,4\nq,5,6,7,8\n").modes[0].labels.size(), 4);
}

}  // namespace
}  // namespace modewise::data
