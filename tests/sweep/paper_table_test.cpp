#include "modewise/sweep/paper_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "modewise/sweep/paper_results.h"
#include "tests/error_of.h"
#include "tests/scratch_folder.h"
#include "tests/sweep/tasks.h"

namespace modewise::sweep {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kTable = R"(
title = "Errors"
printed = """
model  | A MSE | B MSE
one, x | .5 ± .1 | -
other  |       | 3
"""
task = "forecast"
seeds = [7]
[settings]
train.epochs = 2
[files]
shared = "vocabulary.txt"
[[axis]]
name = "model"
choices = [{ name = "one" }, { name = "two", set = { model.name = "two" } }]
[[axis]]
name = "data"
across = true
choices = [
  { name = "A", files = { data.path = ["first.csv", "below/second.csv"] } },
  { name = "B", files = { data.path = "absent.csv" } },
]
[[metric]]
name = "MSE"
row = "x"
path = ["/test/a", "/test/b"]
factor = 10
[[slip]]
row = "one, x"
column = ""
note = "why not"
)";

void write_data(const ScratchFolder& folder) {
  folder.write("data/deep/below/second.csv", "1");
  folder.write("data/other/second.csv", "1");
  folder.write("data/vocabulary.txt", "1");
}

TEST(PaperTable, HasPrintedCellsFilesAndSlips) {
  const ScratchFolder folder;
  const PaperTable table = read_paper_table(folder.write("paper/table1.toml", kTable));
  EXPECT_EQ(table.paper + " " + table.id, "paper table1");
  EXPECT_THAT(table.columns, ElementsAre("A MSE", "B MSE"));
  ASSERT_EQ(table.printed.size(), 2u);
  EXPECT_EQ(table.printed[0].name, "one, x");
  EXPECT_THAT(table.printed[0].cells, ElementsAre(".5 ± .1", "-"));
  EXPECT_THAT(table.printed[1].cells, ElementsAre("", "3"));
  ASSERT_EQ(table.files.size(), 3u);
  EXPECT_EQ(table.files[0].setting, "shared");
  EXPECT_EQ(table.files[1].setting, "data.path");
  EXPECT_EQ(table.files[1].choice, "A");
  EXPECT_THAT(table.files[1].names, ElementsAre("first.csv", "below/second.csv"));
  EXPECT_THAT(table.across, ElementsAre("data"));
  EXPECT_EQ(table.slips[0].note, "why not");
}

TEST(PaperTable, PlansTheRunsWhoseFilesAreThere) {
  const ScratchFolder folder;
  write_data(folder);
  const PaperTable table = read_paper_table(folder.write("paper/table1.toml", kTable));
  const TablePlan planned = plan_table(table, folder.path("data"), kTasks, {});
  ASSERT_EQ(planned.missing.size(), 1u);
  EXPECT_EQ(planned.missing[0].choice, "B");
  ASSERT_EQ(planned.plan.runs.size(), 2u);
  EXPECT_EQ(planned.plan.name, "paper-table1");
  EXPECT_EQ(planned.plan.runs[0].name, "one_A_s7");
  EXPECT_THAT(planned.plan.runs[0].settings,
              ElementsAre("shared=" + folder.path("data/vocabulary.txt"), "train.epochs=2",
                          "data.path=" + folder.path("data/deep/below/second.csv")));
  EXPECT_TRUE(planned.plan.reads_test);
  EXPECT_THAT(training_arguments(planned.plan, planned.plan.runs[0], "out", 1, false),
              testing::Not(testing::Contains("--no-test")));
  const TablePlace place = place_of(table, planned.plan, planned.plan.runs[1], table.metrics[0]);
  EXPECT_EQ(place.row + "; " + place.column, "two, x; A MSE");
}

TEST(PaperTable, AGroupMayNameAChoiceWithoutFiles) {
  const ScratchFolder folder;
  write_data(folder);
  const auto plan = [&](const std::string& group) {
    return plan_table(read_paper_table(folder.write("paper/table1.toml", kTable + group)),
                      folder.path("data"), kTasks, {})
        .plan.runs;
  };
  const auto plain = plan(""), other = plan("[[group]]\nchoices = [\"B\"]\nset = { a = 1 }\n"),
             same = plan("[[group]]\nchoices = [\"A\", \"B\"]\nset = { a = 1 }\n");
  ASSERT_EQ(other.size(), plain.size());
  EXPECT_EQ(other[0].settings, plain[0].settings);
  EXPECT_EQ(same[0].settings.back(), "a=1");
}

TEST(PaperTable, LeavesRunsOutThatAreNotPrinted) {
  const ScratchFolder folder;
  write_data(folder);
  folder.write("paper/table1.toml", kTable);
  const PaperTable table =
      read_paper_table(folder.write("paper/table2.toml",
                                    "title = \"t\"\nruns_of = \"table1\"\nonly_printed = true\n"
                                    "printed = \"\"\"\nm | A MSE\none, x | 1\n\"\"\"\n"
                                    "[[metric]]\nname = \"MSE\"\nrow = \"x\"\npath = \"/a\"\n"));
  EXPECT_EQ(runs_name(table), "paper-table1");
  const TablePlan planned = plan_table(table, folder.path("data"), kTasks, {});
  ASSERT_EQ(planned.plan.runs.size(), 1u);
  EXPECT_EQ(planned.plan.runs[0].name, "one_A_s7");
}

TEST(PaperTable, TakesTablesOfMarkdownAndAxesByKey) {
  const ScratchFolder folder;
  const PaperTable table = read_paper_table(folder.write(
      "paper/table1.toml",
      "title = \"x\"\nprinted = \"\"\"\n| model | A | B |\n|---|:-:|--:|\n| one | 1 | - |\n\"\"\"\ntask = "
      "\"forecast\"\n"
      "[[axis]]\nkey = \"model.heads\"\nvalues = [1]\nacross = true\n[[metric]]\npath = \"/a\"\n"));
  EXPECT_THAT(table.columns, testing::ElementsAre("A", "B"));
  ASSERT_EQ(table.printed.size(), 1u);
  EXPECT_EQ(table.printed[0].name, "one");
  EXPECT_THAT(table.printed[0].cells, testing::ElementsAre("1", "-"));
  EXPECT_THAT(table.across, testing::ElementsAre("model.heads"));
}

TEST(PaperTable, NamesFilesOnce) {
  EXPECT_EQ(
      texts_of(
          {{"data.path", {"a.csv", "a.txt"}, "A"}, {"data.labels", {"b"}, "B"}, {"data.path", {"b"}, "C"}}),
      (std::vector<std::string>{"a.csv or a.txt", "b"}));
}

TEST(PaperTable, RefusesWhatCannotBeRight) {
  const ScratchFolder folder;
  const auto error = [&](const std::string& text) {
    const std::string file = folder.write("paper/wrong.toml", text);
    return error_of(ErrorKind::config, [&] { read_paper_table(file); });
  };
  EXPECT_THAT(error("why = \"x\""), HasSubstr("needs a title"));
  EXPECT_THAT(error("title = \"x\""), HasSubstr("needs a task, or why"));
  EXPECT_THAT(error("title = \"x\"\ntask = \"forecast\""), HasSubstr("needs a [[metric]]"));
  EXPECT_THAT(error("title = \"x\"\nwhy = \"y\"\nprinted = \"m | a\\nrow | 1 | 2\""),
              HasSubstr("wrong.toml:3:11: the printed row 'row' has 2 cells, but there are 1 columns"));
  EXPECT_THAT(error("title = \"x\"\nwhy = \"y\"\n[[metric]]\npath = [\"/a\", 3]"),
              HasSubstr("path must be a string or a list of strings"));
  EXPECT_THAT(error("title = \"x\"\nwhy = \"y\"\n[[metric]]\npath = \"a\""), HasSubstr("JSON pointer"));
  const std::string printed = "title = \"x\"\nwhy = \"y\"\nprinted = \"m | A\\nrow | 1\"\n";
  EXPECT_THAT(error(printed + "[[slip]]\nrow = \"rows\"\nnote = \"z\"\n"),
              HasSubstr("wrong.toml: there is no printed row 'rows' (did you mean 'row'?)"));
  EXPECT_THAT(error(printed + "[[slip]]\ncolumn = \"B\"\nnote = \"z\"\n"),
              HasSubstr("there is no printed column 'B'"));
  EXPECT_THAT(error(printed + "[[absent]]\nrows = \"none\"\nwhy = \"z\"\n"),
              HasSubstr("there is no printed row 'none'"));
  EXPECT_THAT(error("title = \"x\"\nruns_of = \"table1\"\nseeds = [1]\n"),
              HasSubstr("the runs are those of table1, so seeds has no effect here"));
  const PaperTable table = read_paper_table(folder.write("paper/table1.toml", kTable));
  folder.write("data/vocabulary.txt", "1");
  EXPECT_THAT(error_of(ErrorKind::no_input, [&] { plan_table(table, folder.path("data"), kTasks, {}); }),
              HasSubstr("needs first.csv or below/second.csv, absent.csv, which are not there"));
  folder.write("data/a/absent.csv", "1");
  folder.write("data/b/absent.csv", "1");
  EXPECT_THAT(error_of(ErrorKind::usage, [&] { plan_table(table, folder.path("data"), kTasks, {}); }),
              HasSubstr("several files are named absent.csv"));
}

TEST(PaperResults, PreferRunsWithTheTablesOwnSettings) {
  const ScratchFolder folder;
  write_data(folder);
  const PaperTable table = read_paper_table(folder.write("paper/table1.toml", kTable));
  const TablePlan planned = plan_table(table, folder.path("data"), kTasks, {});
  SweepOutcome outcome;
  outcome.runs.resize(planned.plan.runs.size());
  const std::string own = description(planned.plan, planned.plan.runs[0]);
  const nlohmann::json started = {{"settings", own + "train.max_steps=3\n"}};
  folder.write("out/cut/done/one_A_s7.json", "{}");
  folder.write("out/cut/done/one_A_s7.started.json", started.dump());
  folder.write("out/cut/runs/one_A_s7/metrics.json", R"({"test": {"a": 1, "b": 4}})");
  const auto cell = [&] {
    return read_results(table, planned.plan, outcome, folder / "out").rows[0].cells[0];
  };
  EXPECT_THAT(cell().values, ElementsAre(25));  // 10 · (1 + 4) / 2
  EXPECT_THAT(cell().cut, ElementsAre("train.max_steps=3"));
  EXPECT_THAT(cell().slips, ElementsAre(0u));
  folder.write("out/runs/one_A_s7/metrics.json", R"({"test": {"a": 1, "b": 2}})");
  outcome.runs[0].state = RunState::finished;
  outcome.runs[0].folder = folder / "out" / "runs" / "one_A_s7";
  EXPECT_THAT(cell().values, ElementsAre(15));
  EXPECT_THAT(cell().cut, IsEmpty());
  folder.write("out/runs/one_A_s7/metrics.json", R"({"test": {"a": 1}})");
  EXPECT_THAT(cell().values, IsEmpty());
}

}  // namespace
}  // namespace modewise::sweep
