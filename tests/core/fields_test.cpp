#include "modewise/core/fields.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "modewise/core/error.h"
#include "modewise/core/integer_bounds.h"
#include "tests/error_of.h"

namespace modewise {
namespace {

using testing::HasSubstr;

struct InnerConfig {
  std::string name = "adamw";
  double rate = 1e-3;
  std::vector<int64_t> modes = {0, 1};
  void fields(Fields& f) {
    f.add("name", name, "which", {.one_of = {"adamw", "adam"}});
    f.add("rate", rate, "how fast", {.min = 0, .max = 1});
    f.add("modes", modes, "which modes", {.min = 0});
  }
};
struct OuterConfig {
  int64_t seed = 1;
  bool flag = false;
  InnerConfig optimizer;
  void fields(Fields& f) {
    f.add("seed", seed, "the seed");
    f.group("optimizer", optimizer);
    f.add("flag", flag, "a flag");
  }
};

TEST(Fields, SavedConfigReadsBackAsItself) {
  OuterConfig config;
  config.seed = -7;
  config.flag = true;
  config.optimizer.rate = 0.1 + 0.2 / 3;
  config.optimizer.modes = {};
  const std::string text = fields_of(config).to_toml(true);
  OuterConfig other;
  fields_of(other).load_toml(text, "saved");
  EXPECT_EQ(fields_of(other).to_toml(), fields_of(config).to_toml());
  EXPECT_EQ(other.optimizer.rate, config.optimizer.rate);
}

TEST(Fields, UnknownKeyNamesPlaceAndNearestKey) {
  OuterConfig config;
  const auto message =
      error_of(ErrorKind::config, [&] { fields_of(config).load_toml("[optimizer]\nrat = 0.1\n", "a.toml"); });
  EXPECT_EQ(message, "a.toml:2:1: unknown key 'optimizer.rat' (did you mean 'optimizer.rate'?)");
}

TEST(Fields, UnknownTableIsAnError) {
  OuterConfig config;
  EXPECT_THAT(error_of(ErrorKind::config,
                       [&] { fields_of(config).load_toml("[optimiser]\nrate = 0.1\n", "a.toml"); }),
              HasSubstr("unknown key 'optimiser'"));
}

TEST(Fields, WrongTypeAndBrokenRuleAreErrors) {
  OuterConfig config;
  EXPECT_THAT(error_of(ErrorKind::config, [&] { fields_of(config).load_toml("seed = 'x'", "a.toml"); }),
              HasSubstr("a.toml:1:1: seed must be an integer"));
  EXPECT_THAT(
      error_of(ErrorKind::config, [&] { fields_of(config).load_toml("optimizer.rate = 2", "a.toml"); }),
      HasSubstr("optimizer.rate must be a number from 0 to 1, got 2"));
  EXPECT_THAT(
      error_of(ErrorKind::config, [&] { fields_of(config).load_toml("optimizer.name = 'adem'", "a.toml"); }),
      HasSubstr("did you mean 'adam'?"));
  EXPECT_THAT(error_of(ErrorKind::config, [&] { fields_of(config).load_toml("seed = = 1", "a.toml"); }),
              HasSubstr("a.toml:1:"));
}

TEST(Rule, NamesItsConstraints) {
  EXPECT_EQ((Rule{.min = 0, .max = 1}).text(), "from 0 to 1");
  EXPECT_EQ((Rule{.min = 0.5}).text(), "at least 0.5");
  EXPECT_EQ((Rule{.max = 8}).text(), "at most 8");
  EXPECT_EQ((Rule{.one_of = {"sgd", "adam"}}).text(), "one of sgd, adam");
  EXPECT_EQ(Rule{}.text(), "");
}

TEST(Fields, CommandLineSetsEveryType) {
  OuterConfig config;
  Fields fields = fields_of(config);
  fields.set("seed=3");
  fields.set("flag=true");
  fields.set("optimizer.name=adam");
  fields.set("optimizer.rate=1e-4");
  fields.set("optimizer.modes=2,5");
  EXPECT_EQ(config.seed, 3);
  EXPECT_TRUE(config.flag);
  EXPECT_EQ(config.optimizer.name, "adam");
  EXPECT_EQ(config.optimizer.rate, 1e-4);
  EXPECT_EQ(config.optimizer.modes, (std::vector<int64_t>{2, 5}));
  EXPECT_THAT(error_of(ErrorKind::usage, [&] { fields.set("optimizer.modes=-1"); }), HasSubstr("at least 0"));
  EXPECT_THAT(error_of(ErrorKind::usage, [&] { fields.set("optimizer.modes=a"); }), HasSubstr("got 'a'"));
  EXPECT_THAT(error_of(ErrorKind::usage, [&] { fields.set("sed=1"); }), HasSubstr("did you mean 'seed'"));
}

struct NumberConfig {
  double rate = 1;
  std::vector<double> betas;
  void fields(Fields& f) {
    f.add("rate", rate, "how fast");
    f.add("betas", betas, "decay rates");
  }
};

TEST(Fields, NumbersMayBeginOrEndWithTheirPoint) {
  NumberConfig config;
  Fields fields = fields_of(config);
  for (const auto& [text, value] :
       {std::pair(".01", 0.01), {"5.", 5.0}, {"-.5", -0.5}, {"1.e-3", 1e-3}, {".5e1", 5.0}}) {
    fields.set(std::string("rate=") + text);
    EXPECT_EQ(config.rate, value) << text;
  }
  fields.set("betas=.9, 1.");
  EXPECT_EQ(config.betas, (std::vector<double>{0.9, 1.0}));
  for (const char* text : {".", "1..2", "..1", "1.2.", "a.1", "-."})
    EXPECT_THAT(error_of(ErrorKind::usage, [&] { fields.set(std::string("rate=") + text); }),
                HasSubstr("must be a number"));
}

TEST(Fields, NothingBehindAValueIsDropped) {
  OuterConfig config;
  Fields fields = fields_of(config);
  for (const char* assignment : {"seed=3\nflag=true", "seed=3\n", "seed=3 # 4", "seed=3, flag = true",
                                 "seed=3 }\nx = { y = 1", "flag=true\nseed=3", "optimizer.rate=0.5\nseed=3",
                                 "optimizer.modes=[1]\nseed=3", "optimizer.modes=1\nb=2"}) {
    const std::string message = error_of(ErrorKind::usage, [&] { fields.set(assignment); });
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  }
  EXPECT_EQ(fields_of(config).to_toml(), [] {
    OuterConfig untouched;
    return fields_of(untouched).to_toml();
  }());
  fields.set("optimizer.modes=[ 4 , 5 ]");
  EXPECT_EQ(config.optimizer.modes, (std::vector<int64_t>{4, 5}));
}

struct CountConfig {
  int64_t count = 1, seed = 1;
  std::vector<int64_t> cuts;
  void fields(Fields& f) {
    f.add("count", count, "how many", {.min = 1});
    f.add("seed", seed, "which", {.min = 0, .max = kAnyInteger});
    f.add("cuts", cuts, "where");
  }
};

TEST(Fields, CountsStayWhereTheirProductsFit) {
  CountConfig config;
  Fields fields = fields_of(config);
  fields.set("count=2147483647");
  EXPECT_EQ(config.count, 2147483647);
  for (const char* assignment : {"count=2147483648", "count=9223372036854775807", "cuts=1,4294967312"})
    EXPECT_THAT(error_of(ErrorKind::usage, [&] { fields.set(assignment); }), HasSubstr("at most 2147483647"));
  EXPECT_THAT(error_of(ErrorKind::config, [&] { fields.load_toml("count = 9223372036854775807", "a.toml"); }),
              HasSubstr("a.toml:1:1: count must be a number of at most 2147483647"));
}

TEST(Fields, SeedsAreWholeOrRefused) {
  CountConfig config;
  Fields fields = fields_of(config);
  fields.set("seed=9223372036854775807");
  EXPECT_EQ(config.seed, INT64_MAX);
  EXPECT_THAT(fields.to_toml(), HasSubstr("seed = 9223372036854775807"));
  for (const char* assignment :
       {"seed=9223372036854775808", "seed=18446744073709551615", "seed=1e30", "seed=-1"})
    error_of(ErrorKind::usage, [&] { fields.set(assignment); });
}

struct PresetConfig {
  std::string preset = "small";
  int64_t width = 1, depth = 1;
  void fields(Fields& f) {
    f.add("width", width, "a field that the preset sets");
    f.add_preset("preset", preset, "sets the others", {.one_of = {"small", "large"}},
                 [this] { width = depth = preset == "large" ? 100 : 1; });
    f.add("depth", depth, "another");
  }
};

TEST(Fields, PlainFieldsWinOverPresetsWhereverTheyStandInAFile) {
  PresetConfig config;
  fields_of(config).load_toml("depth = 7\npreset = 'large'", "a.toml");
  EXPECT_EQ(config.width, 100);
  EXPECT_EQ(config.depth, 7);
  PresetConfig again;
  fields_of(again).load_toml(fields_of(config).to_toml(), "saved");
  EXPECT_EQ(again.width, 100);
  EXPECT_EQ(again.depth, 7);
}

TEST(Fields, PresetsOnTheCommandLineActInOrder) {
  PresetConfig config;
  Fields fields = fields_of(config);
  fields.set("width=5");
  fields.set("preset=large");
  EXPECT_EQ(config.width, 100);
  fields.set("width=5");
  EXPECT_EQ(config.width, 5);
  EXPECT_EQ(config.depth, 100);
}

TEST(Fields, PathsOfListsBecomeAbsoluteToo) {
  struct Config {
    std::vector<std::string> paths = {"a", "/b", ""}, names = {"a"};
    std::string path = "c/../d";
    void fields(Fields& f) {
      f.add("paths", paths, "", {.is_path = always});
      f.add("names", names, "");
      f.add("path", path, "", {.is_path = always});
    }
  } config;
  fields_of(config).make_paths_absolute();
  const std::string here = std::filesystem::current_path().string();
  EXPECT_EQ(config.paths, (std::vector<std::string>{here + "/a", "/b", ""}));
  EXPECT_EQ(config.names, std::vector<std::string>{"a"});
  EXPECT_EQ(config.path, here + "/d");
}

}  // namespace
}  // namespace modewise
