// A folder of CSV files as the first mode.

#include <gmock/gmock.h>

#include "modewise/data/forecasting/load_series.h"
#include "tests/data/scratch.h"

namespace modewise::data {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

class FolderSource : public testing::Test {
 protected:
  Series load(ForecastDataConfig config = {}) {
    config.path = folder_.path("d");
    return load_series(config);
  }
  std::string load_error(ErrorKind kind, const ForecastDataConfig& config = {}) {
    std::string message = error_of(kind, [&] { load(config); });
    const std::string path = folder_.path("d") + "/";
    for (size_t at; (at = message.find(path)) != std::string::npos;) message.replace(at, path.size(), "");
    return message;
  }
  ScratchFolder folder_;
};

TEST_F(FolderSource, FilesAreTheFirstModeLabelledByWhatTheirNamesDoNotShare) {
  folder_.write("d/PRSA_Dongsi_2013.csv", "date,a,b\n2020-01-01,1,2\n2020-01-02,3,4\n");
  folder_.write("d/PRSA_Dingling_2013.CSV", "date,a,b\n2020-01-01,5,6\n2020-01-02,7,NA\n");
  folder_.write("d/readme.md", "not data");
  const Series s = load();
  EXPECT_THAT(s.shape(), ElementsAre(2, 2));
  EXPECT_EQ(s.modes[0].name, "file");
  EXPECT_THAT(s.modes[0].labels, ElementsAre("Dingling", "Dongsi"));
  EXPECT_THAT(s.modes[1].labels, ElementsAre("a", "b"));
  EXPECT_EQ(value_at(s, 0), 5);
  EXPECT_EQ(value_at(s, 2), 1);
  EXPECT_EQ(value_at(s, 4), 7);
  EXPECT_FALSE(seen_at(s, 5));
  EXPECT_EQ(s.missing_cells(), 1);
  EXPECT_EQ(s.series_name(1), "Dingling / b");
}

TEST_F(FolderSource, ATextColumnThatNamesTheFilesGivesTheLabels) {
  folder_.write("d/x1.csv", "date,a,wd,station\n2020-01-01,1,N,East\n2020-01-02,3,W,East\n");
  folder_.write("d/x2.csv", "date,a,wd,station\n2020-01-01,5,N,West\n2020-01-02,7,W,West\n");
  const Series s = load();
  EXPECT_EQ(s.modes[0].name, "station");
  EXPECT_THAT(s.modes[0].labels, ElementsAre("East", "West"));
  EXPECT_THAT(s.notes,
              ElementsAre("column 'wd' holds text and is dropped; data.categories = wd one-hot encodes "
                          "it",
                          "column 'station' names the files"));
}

TEST_F(FolderSource, WordsOfOneFileAreCategoriesOfAll) {
  folder_.write("d/x1.csv", "date,a,wd\n2020-01-01,1,N\n2020-01-02,3,W\n");
  folder_.write("d/x2.csv", "date,a,wd\n2020-01-01,5,S\n2020-01-02,7,S\n");
  ForecastDataConfig config;
  config.categories = {"wd"};
  const Series s = load(config);
  EXPECT_THAT(s.modes[1].labels, ElementsAre("a", "wd=N", "wd=S", "wd=W"));
  EXPECT_THAT(s.categories.at("wd"), ElementsAre("N", "S", "W"));
  EXPECT_EQ(value_at(s, 6), 1);  // first row, S of the second file
  EXPECT_EQ(value_at(s, 5), 0);
}

TEST_F(FolderSource, RowsOfEachFileArePooled) {
  folder_.write("d/x1.csv", "date,a\n2020-01-01 01:00,1\n2020-01-01 01:30,3\n2020-01-01 02:00,4\n");
  folder_.write("d/x2.csv", "date,a\n2020-01-01 01:20,5\n2020-01-01 02:10,7\n2020-01-01 02:20,9\n");
  ForecastDataConfig config;
  config.resample = "1 h";
  const Series s = load(config);
  EXPECT_EQ(s.time.text_at(0), "2020-01-01 01:00");
  EXPECT_EQ(value_at(s, 0), 2);
  EXPECT_EQ(value_at(s, 3), 8);
}

TEST_F(FolderSource, ModesMayBeNamed) {
  folder_.write("d/a.csv", "x\n1\n2\n");
  ForecastDataConfig config;
  config.mode_names = {"river", "quantity"};
  config.ordered_modes = {"river"};
  const Series s = load(config);
  EXPECT_EQ(s.modes[0].name, "river");
  EXPECT_TRUE(s.modes[0].ordered);
  EXPECT_FALSE(s.modes[1].ordered);
  EXPECT_THAT(s.modes[0].labels, ElementsAre("a"));
  config.mode_names = {"river"};
  EXPECT_THAT(load_error(ErrorKind::config, config), HasSubstr("has 2 modes besides time, got 1 names"));
  config.mode_names = {};
  config.ordered_modes = {"files"};
  EXPECT_THAT(load_error(ErrorKind::config, config), HasSubstr("has no mode 'files' (did you mean 'file'?)"));
}

TEST_F(FolderSource, DifferentColumnsAreAnErrorThatNamesBothFilesAndTheFirstDifference) {
  folder_.write("d/p.csv", "date,a,b\n2020-01-01,1,2\n2020-01-02,3,4\n");
  folder_.write("d/q.csv", "date,a,c\n2020-01-01,1,2\n2020-01-02,3,4\n");
  EXPECT_EQ(
      load_error(ErrorKind::data),
      "p.csv and q.csv must have the same columns, but column 3 is 'b' in the first and 'c' in the second");
  folder_.write("d/q.csv", "date,a\n2020-01-01,1\n2020-01-02,3\n");
  EXPECT_EQ(load_error(ErrorKind::data),
            "p.csv and q.csv must have the same columns, but column 3 is 'b' in the first and nothing in the "
            "second");
  ForecastDataConfig config;
  config.columns = {"a"};
  EXPECT_THAT(load(config).shape(), ElementsAre(2, 1)) << "columns that nobody asked for may differ";
}

TEST_F(FolderSource, AColumnOfTextInOneFileIsAnError) {
  folder_.write("d/p.csv", "a,b\n1,2\n3,4\n");
  folder_.write("d/q.csv", "a,b\n1,x\n3,y\n");
  EXPECT_EQ(load_error(ErrorKind::data),
            "column 'b' holds numbers in p.csv, but text ('x' in line 2) in q.csv");
}

TEST_F(FolderSource, UnitsOfTheFilesAreCompared) {
  folder_.write("d/p.csv", "a,b\n1.5 kWh,2\n3.5 kWh,4\n");
  folder_.write("d/q.csv", "a,b\n1.5 kWh,2\n3.5 kWh,4\n");
  EXPECT_EQ(load().units, (std::map<std::string, std::string>{{"a", "kWh"}}));
  folder_.write("d/q.csv", "a,b\n1.5,2\n3.5,4\n");
  EXPECT_THAT(load().warnings,
              ElementsAre("column 'a' has no unit, but the unit kWh in the first file: the numbers "
                          "are taken as they are (1 of 2 files)"));
  folder_.write("d/q.csv", "a,b\n,2\n,4\n");
  EXPECT_THAT(load().warnings, testing::IsEmpty());
  folder_.write("d/q.csv", "a,b\n1.5 MWh,2\n3.5 MWh,4\n");
  EXPECT_EQ(load_error(ErrorKind::data),
            "p.csv and q.csv: the unit of column 'a' is kWh in the first and MWh in the second; convert the "
            "column");
}

TEST_F(FolderSource, AColumnThatIsEmptyInOneFileIsMissingThere) {
  folder_.write("d/p.csv", "a,b\n1,2\n3,4\n");
  folder_.write("d/q.csv", "a,b\n1,\n3,NA\n");
  const Series s = load();
  EXPECT_EQ(s.missing_cells(), 2);
  EXPECT_THAT(s.notes, Contains("column 'b' has no value in any row (1 of 2 files)"));
}

TEST_F(FolderSource, DifferentDatesAreAnErrorThatNamesBothFilesAndTheFirstDifference) {
  folder_.write("d/p.csv", "date,a\n2020-01-01,1\n2020-01-02,2\n2020-01-03,2\n");
  folder_.write("d/q.csv", "date,a\n2020-01-02,1\n2020-01-03,2\n2020-01-04,2\n");
  EXPECT_EQ(
      load_error(ErrorKind::data),
      "p.csv and q.csv must have the same dates, but the first begins with 2020-01-01 and the second with "
      "2020-01-02");
  folder_.write("d/q.csv", "date,a\n2020-01-01,1\n2020-01-02,2\n");
  EXPECT_EQ(
      load_error(ErrorKind::data),
      "p.csv and q.csv must have the same dates, but the first ends with 2020-01-03 and the second with "
      "2020-01-02");
  folder_.write("d/q.csv", "date,a\n2020-01-01,1\n2020-01-03,2\n2020-01-05,2\n");
  EXPECT_EQ(load_error(ErrorKind::data),
            "p.csv and q.csv must have the same dates, but the first has steps of 1 d and the second of 2 d");
  folder_.write("d/q.csv", "a,b\n1,2\n");
  folder_.write("d/p.csv", "a,b\n1,2\n3,4\n");
  EXPECT_EQ(load_error(ErrorKind::data),
            "p.csv and q.csv must have the same number of rows, but have 2 and 1");
}

TEST_F(FolderSource, AGapWithinOneFileIsMissingThereOnly) {
  folder_.write("d/p.csv", "date,a\n2020-01-01,1\n2020-01-02,2\n2020-01-03,3\n2020-01-04,4\n");
  folder_.write("d/q.csv", "date,a\n2020-01-01,1\n2020-01-02,2\n2020-01-04,4\n");
  const Series s = load();
  EXPECT_EQ(s.missing_cells(), 1);
  EXPECT_FALSE(seen_at(s, 5));
  EXPECT_THAT(s.notes, ElementsAre("a gap of 1 row after 2020-01-02 is filled as missing (1 of 2 files)"));
}

TEST_F(FolderSource, AFolderWithoutCsvFilesIsAnError) {
  folder_.write("d/readme.md", "nothing");
  EXPECT_THAT(load_error(ErrorKind::no_input),
              HasSubstr("expected a folder with files named *.csv, found none"));
  ForecastDataConfig config;
  config.path = folder_.path("absent");
  config.format = "folder";
  EXPECT_THAT(error_of(ErrorKind::no_input, [&] { load_series(config); }),
              HasSubstr("cannot list the folder"));
}

}  // namespace
}  // namespace modewise::data
