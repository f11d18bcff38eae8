#include "modewise/sweep/sweep_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "modewise/core/error.h"
#include "tests/error_of.h"
#include "tests/scratch_folder.h"
#include "tests/sweep/tasks.h"

namespace modewise::sweep {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* kGrid = R"(
task = "classify-volumes"
config = "base.toml"
seeds = [3, 4]
[settings]
train.epochs = 2
model.position.encoding = "none"
[[axis]]
name = "heads"
key = "model.heads"
values = [1, 32]
[[axis]]
name = "attention"
choices = [
  { name = "both modes", set = { model.attention.attend_modes = [0, 1] } },
  { name = "none", set = { "model.attention.kernel" = "none", model.dropout = 0.25 } },
  { name = "as it is" },
]
[[metric]]
path = "/validation/auc"
name = "AUC"
best = "highest"
factor = 100
)";

TEST(SweepPlan, IsTheGridInOrder) {
  const ScratchFolder folder;
  const SweepPlan plan = read_sweep_plan(folder.write("my sweep.toml", kGrid), kTasks);
  EXPECT_EQ(plan.name, "my-sweep");
  EXPECT_EQ(plan.task, "classify-volumes");
  EXPECT_EQ(plan.config, (folder / "base.toml").string());
  EXPECT_THAT(plan.axes, ElementsAre("heads", "attention"));
  ASSERT_EQ(plan.runs.size(), 2u * 3 * 2);
  EXPECT_EQ(plan.runs[0].name, "1_both-modes_s3");
  EXPECT_EQ(plan.runs[1].name, "1_both-modes_s4");
  EXPECT_THAT(plan.runs[1].labels, ElementsAre("1", "both modes"));
  EXPECT_THAT(plan.runs[0].settings, ElementsAre("model.position.encoding=none", "train.epochs=2",
                                                 "model.heads=1", "model.attention.attend_modes=[ 0, 1 ]"));
  EXPECT_THAT(plan.runs[11].settings,
              ElementsAre("model.position.encoding=none", "train.epochs=2", "model.heads=32"));
  EXPECT_THAT(plan.runs[8].settings,
              ElementsAre("model.position.encoding=none", "train.epochs=2", "model.heads=32",
                          "model.dropout=0.25", "model.attention.kernel=none"));
  EXPECT_EQ(plan.metrics.front().factor, 100);
}

TEST(SweepPlan, TakesWhatTheCommandLineSays) {
  const ScratchFolder folder;
  const SweepPlan plan = read_sweep_plan(folder.write("a.toml", kGrid), kTasks,
                                         {.data = "/data/x.npz",
                                          .seeds = {7},
                                          .settings = {"train.epochs=9"},
                                          .metrics = {"validation.auc", "best.val_loss"}});
  ASSERT_EQ(plan.runs.size(), 6u);
  EXPECT_EQ(plan.runs[0].seed, 7);
  EXPECT_EQ(plan.runs[0].settings.back(), "train.epochs=9");
  EXPECT_EQ(plan.data, "/data/x.npz");
  ASSERT_EQ(plan.metrics.size(), 2u);
  EXPECT_EQ(plan.metrics[0].name, "AUC");
  EXPECT_EQ(plan.metrics[1].path, "/best/val_loss");
  EXPECT_THAT(training_arguments(plan, plan.runs[0], "/runs/x", 2, false),
              ElementsAre("train", "classify-volumes", "--threads", "2", "--color", "never", "--config",
                          (folder / "base.toml").string(), "--data", "/data/x.npz", "--seed", "7", "--out",
                          "/runs/x", "--overwrite", "--no-test", "--set", "model.position.encoding=none",
                          "--set", "train.epochs=2", "--set", "model.heads=1", "--set",
                          "model.attention.attend_modes=[ 0, 1 ]", "--set", "train.epochs=9"));
  EXPECT_THAT(
      training_arguments(plan, plan.runs[0], "/runs/x", 2, true),
      ElementsAre("train", "classify-volumes", "--threads", "2", "--color", "never", "--resume", "/runs/x"));
}

TEST(SweepPlan, WithoutAxesIsItsSeeds) {
  const ScratchFolder folder;
  const SweepPlan plan = read_sweep_plan(folder.write("a.toml", "seeds = [1, 2, 3]\n"), kTasks);
  ASSERT_EQ(plan.runs.size(), 3u);
  EXPECT_EQ(plan.runs[2].name, "run_s3");
  EXPECT_EQ(plan.task, "forecast");
  EXPECT_EQ(plan.metrics.size(), 2u);
}

TEST(SweepPlan, ValidatesAndNeverTests) {
  const ScratchFolder folder;
  for (const SweepTask& task : kTasks) {
    for (const std::string& name : {task.name, task.command}) {
      const SweepPlan plan = read_sweep_plan(folder.write("a.toml", "task = \"" + name + "\"\n"), kTasks);
      EXPECT_EQ(plan.metrics, task.metrics);
      EXPECT_THAT(training_arguments(plan, plan.runs.front(), "/runs/x", 1, false),
                  testing::Contains("--no-test"));
    }
  }
  SweepOverrides of_test;
  of_test.metrics = {"test.auc"};
  EXPECT_EQ(
      error_of(ErrorKind::config, [&] { read_sweep_plan(folder.write("b.toml", ""), kTasks, of_test); }),
      folder.path("b.toml") +
          ": a sweep does not evaluate the test split, so there is no /test/auc: name a validation metric "
          "(/validation/… or /best/val_…), select by it, and evaluate the test split with modewise evaluate "
          "RUN");
}

/// A file with `axes` axes of `values` values each.
std::string grid_of(int64_t axes, int64_t values) {
  std::string text;
  for (int64_t axis = 0; axis < axes; ++axis) {
    text += fmt::format("[[axis]]\nkey = \"k{}\"\nvalues = [", axis);
    for (int64_t i = 0; i < values; ++i) text += fmt::format("{}, ", i);
    text += "]\n";
  }
  return text;
}

std::string sweep_refusal(const std::string& text, const SweepOverrides& overrides = {}) {
  const ScratchFolder folder;
  try {
    read_sweep_plan(folder.write("a.toml", text), kTasks, overrides);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(SweepPlan, IsRefusedBeforeAGridIsTooLarge) {
  EXPECT_THAT(
      sweep_refusal(grid_of(10, 10)),
      HasSubstr("a.toml: a sweep has at most 100000 runs, this grid (axes × seeds) has 10 × 10 × 10 × "
                "10 × 10 × 10 × 10 × 10 × 10 × 10 × 1"));
  EXPECT_THAT(sweep_refusal(grid_of(70, 2)), HasSubstr("at most 100000 runs"));  // 2⁷⁰ is beyond 64 bits
  SweepOverrides two_seeds;
  two_seeds.seeds = {1, 2};
  EXPECT_THAT(sweep_refusal(grid_of(5, 10), two_seeds), HasSubstr("10 × 10 × 10 × 10 × 10 × 2"));
  EXPECT_EQ(sweep_refusal(grid_of(4, 10)), "");
}

TEST(SweepPlan, AGroupHasSettingsForTheRunsWithOneOfItsChoicesOfEachAxis) {
  const ScratchFolder folder;
  const std::string group =
      "[[group]]\nchoices = [\"1\", \"none\", \"as it is\"]\nset = { model.width = 8 }\n";
  SweepOverrides overrides;
  overrides.settings = {"train.epochs=9"};
  const SweepPlan plan =
      read_sweep_plan(folder.write("a.toml", std::string(kGrid) + group), kTasks, overrides);
  for (const SweepRun& run : plan.runs) {
    SCOPED_TRACE(run.name);
    if (run.labels[0] == "1" && run.labels[1] != "both modes")
      EXPECT_EQ(run.settings.end()[-2], "model.width=8");  // between the axes and --set
    else
      EXPECT_THAT(run.settings, testing::Not(testing::Contains("model.width=8")));
  }
  const auto refusal = [&](const std::string& text) { return sweep_refusal(std::string(kGrid) + text); };
  EXPECT_THAT(refusal("[[group]]\nchoices = \"nine\"\nset = { a = 1 }\n"),
              HasSubstr("no axis has a choice named 'nine' (did you mean 'none'?)"));
  for (const std::string text : {"choices = [\"none\"]\n", "set = { a = 1 }\n"})
    EXPECT_THAT(refusal("[[group]]\n" + text), HasSubstr("a group needs choices and a table `set`"));
  EXPECT_THAT(refusal("[[group]]\nchoices = 3\nset = { a = 1 }\n"),
              HasSubstr("choices must be a string or a list of strings"));
}

TEST(SweepPlan, WritesNumbersInTheirShortestForm) {
  const ScratchFolder folder;
  const SweepPlan plan = read_sweep_plan(
      folder.write("a.toml",
                   "[settings]\nx = [0.7, 0.1, 0.2]\ny = [1, 2]\nz = [\"a\", \"b\"]\nempty = []\n"
                   "[[axis]]\nkey = \"a\"\nvalues = [0.1, 1.0, 1e-5]\n"),
      kTasks);
  EXPECT_THAT(plan.runs[0].settings,
              ElementsAre("empty=[]", "x=[ 0.7, 0.1, 0.2 ]", "y=[ 1, 2 ]", "z=[ 'a', 'b' ]", "a=0.1"));
  EXPECT_EQ(plan.runs[0].name, "0.1_s0");
  EXPECT_THAT(plan.runs[1].labels, ElementsAre("1.0"));
  EXPECT_THAT(plan.runs[2].settings, testing::Contains("a=1e-05"));
}

TEST(SweepPlan, RefusesSettingsThatMakeLabelsFalse) {
  const std::string heads = "[[axis]]\nname = \"heads\"\nkey = \"model.heads\"\nvalues = [1, 2]\n";
  const std::string sizes =
      "[[axis]]\nname = \"size\"\nchoices = [{ name = \"small\", set = { model.heads = 4 } }]\n";
  EXPECT_THAT(
      sweep_refusal(heads + sizes),
      HasSubstr("a.toml: the axes 'heads' and 'size' both set model.heads: the later one would win, and "
                "the labels of the other would be false"));
  EXPECT_THAT(sweep_refusal(heads + heads), HasSubstr("the axes 'heads' and 'heads' both set model.heads"));
  SweepOverrides overrides;
  overrides.settings = {"model.heads=8"};
  EXPECT_THAT(sweep_refusal(heads, overrides),
              HasSubstr("a.toml: --set model.heads=8 would override the axis 'heads', whose labels would be "
                        "false: edit the axis"));
  EXPECT_EQ(sweep_refusal("[settings]\nmodel.heads = 8\n" + heads), "");  // a default of the axis
  EXPECT_THAT(
      sweep_refusal(heads + "[[group]]\nchoices = \"1\"\nset = { model.heads = 4 }\n"),
      HasSubstr("a group with model.heads=4 would override the axis 'heads', whose labels would be false"));
  const std::string other = "[[axis]]\nname = \"heads\"\nkey = \"model.width\"\nvalues = [1]\n";
  EXPECT_THAT(sweep_refusal(heads + other), HasSubstr("a.toml: two axes are named 'heads'"));
}

TEST(SweepPlan, TakesOneSourceOfData) {
  SweepOverrides overrides;
  overrides.data = "/w.csv";
  const std::string settings = "[settings]\ndata.path = \"t.csv\"\n";
  EXPECT_THAT(sweep_refusal(settings, overrides),
              HasSubstr("a.toml: data.path=t.csv would replace the data /w.csv: give one of them"));
  EXPECT_EQ(sweep_refusal(settings), "");
}

TEST(SweepPlan, MarksTheBestOfTheTasksOwnMetricsAlone) {
  const ScratchFolder folder;
  const auto best = [&](const std::string& path, const std::string& more = "") {
    const std::string text = "[[metric]]\npath = \"" + path + "\"\n" + more;
    return read_sweep_plan(folder.write("a.toml", text), kTasks).metrics.front().best;
  };
  EXPECT_EQ(best("/best/val_mse"), "lowest");
  EXPECT_EQ(best("/validation/accuracy"), "none");
  EXPECT_EQ(best("/validation/accuracy", "best = \"highest\"\n"), "highest");
}

TEST(SweepPlan, GroupsNameChoicesOfOneAxis) {
  const ScratchFolder folder;
  const std::string axes =
      "[[axis]]\nkey = \"model.heads\"\nvalues = [1, 2]\n[[axis]]\nkey = \"model.layers\"\nvalues = [2, 3]\n";
  const auto group = [](const std::string& choice) {
    return "[[group]]\nchoices = \"" + choice + "\"\nset = { model.dropout = 0.5 }\n";
  };
  EXPECT_THAT(sweep_refusal(axes + group("2")),
              HasSubstr("several axes have a choice named '2': write model.heads=2 or model.layers=2"));
  const SweepPlan plan = read_sweep_plan(folder.write("a.toml", axes + group("model.heads=2")), kTasks);
  for (const SweepRun& run : plan.runs)
    EXPECT_EQ(run.settings.back() == "model.dropout=0.5", run.labels.front() == "2") << run.name;
}

TEST(SweepPlan, NamesRunsByLettersOfAnyLanguage) {
  const ScratchFolder folder;
  const std::string text = "[[axis]]\nname = \"a\"\nchoices = [{ name = \"α\" }, { name = \"β γ\" }]\n";
  const SweepPlan plan = read_sweep_plan(folder.write("a.toml", text), kTasks);
  EXPECT_EQ(plan.runs.front().name, "α_s0");
  EXPECT_EQ(plan.runs.back().name, "β-γ_s0");
}

TEST(SweepPlan, DescriptionsHavePathsOfDataInLinesOfTheirOwn) {
  EXPECT_THAT(lines_without_paths("task\n\n/w/t.csv\nseed 1\ndata.path=/w/t.csv\ndata.split=ratio\na=/x\n"),
              ElementsAre("task", "", "seed 1", "data.split=ratio", "a=/x"));
}

TEST(SweepPlan, RefusesAnotherSeedThanItsOwn) {
  SweepOverrides overrides;
  overrides.settings = {"train.seed=3"};
  const std::string end =
      " would replace the seeds of the sweep, of which its table shows mean ± standard deviation: write "
      "seeds = "
      "[1, 2, 3], or --seeds 1,2,3";
  EXPECT_THAT(sweep_refusal("", overrides), HasSubstr("a.toml: train.seed=3" + end));
  EXPECT_THAT(sweep_refusal("[[axis]]\nkey = \"train.seed\"\nvalues = [1, 2]\n"),
              HasSubstr("a.toml: train.seed=1" + end));
}

TEST(SweepPlan, RefusesMetricsThatAreNoJsonPointer) {
  SweepOverrides overrides;
  overrides.metrics = {"a~b"};
  EXPECT_THAT(sweep_refusal("", overrides), HasSubstr("--metric a~b: expected a path into metrics.json"));
  overrides.metrics = {"a~0b", "/a~1b"};
  EXPECT_EQ(sweep_refusal("", overrides), "");
}

struct Bad {
  const char *text, *words;
};
// For test names, which would otherwise contain addresses.
void PrintTo(const Bad& bad, std::ostream* out) {
  *out << bad.words;
}

class BadPlan : public testing::TestWithParam<Bad> {};

TEST_P(BadPlan, IsASentenceWithThePlace) {
  const ScratchFolder folder;
  try {
    read_sweep_plan(folder.write("bad.toml", GetParam().text), kTasks);
    FAIL() << GetParam().text;
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::config);
    EXPECT_THAT(error.what(), HasSubstr("bad.toml"));
    EXPECT_THAT(error.what(), HasSubstr(GetParam().words));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Files, BadPlan,
    testing::Values(Bad{"task = ", ":1:"}, Bad{"taks = \"forecast\"", "did you mean 'task'"},
                    Bad{"task = \"forcast\"", "forecast"}, Bad{"seeds = []", "seeds"},
                    Bad{"seeds = [1.5]", "integers"}, Bad{"seeds = [1, 1]", "run_s1"},
                    Bad{"[[axis]]\nname = \"a\"", "either key and values, or choices"},
                    Bad{"[[axis]]\nvalues = [1]", "an axis needs a name or a key"},
                    Bad{"[[axis]]\nname = \"a\"\nvalues = [1]", "no key"},
                    Bad{"[[axis]]\nkey = \"a\"\nvalues = [1, 1]", "two choices"},
                    Bad{"[[axis]]\nname = \"a\"\nchoices = [1]", "a choice is"},
                    Bad{"[[axis]]\nname = \"a\"\nchoices = [{ set = { b = 1 } }]", "needs a name"},
                    Bad{"[[axis]]\nname = \"a\"\nchoices = [{ name = \"x\", sett = { b = 1 } }]", "set"},
                    Bad{"axis = 3", "[[axis]]"}, Bad{"settings = 3", "table"},
                    Bad{"[[metric]]\npath = \"best\"", "/best/val_mse"},
                    Bad{"[[metric]]\npath = \"/best\"\nbest = \"good\"", "lowest"},
                    Bad{"[[metric]]\npath = \"/a~b\"", "JSON pointer"},
                    Bad{"[[metric]]\npath = \"/a~\"", "JSON pointer"},
                    Bad{"[[metric]]\npath = \"/a/99999999999999999999\"", "JSON pointer"},
                    Bad{"[[metric]]\npath = \"/a\"\ndecimals = -1", "from 0 to 17, got -1"},
                    Bad{"[[metric]]\npath = \"/a\"\ndecimals = 2000000000", "from 0 to 17, got 2000000000"},
                    Bad{"[[metric]]\npath = \"/a\"\nfactor = nan", "finite number, got nan"},
                    Bad{"[[metric]]\npath = \"/test/scaled/mse\"", "does not evaluate the test split"},
                    Bad{"[[axis]]\nkey = \"a\"\nvalues = [\"x y\", \"x-y\"]", "too little"}));

}  // namespace
}  // namespace modewise::sweep
