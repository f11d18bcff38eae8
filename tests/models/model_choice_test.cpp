// Options of each model, and the error message for options that it does not have.

#include "modewise/models/model_choice.h"

#include <gmock/gmock.h>

namespace modewise::models {
namespace {

struct Small {
  std::string name = "a";
  int64_t width = 4, window_size = 1, window_step = 2;

  void fields(Fields& f) {
    f.add("name", name, "");
    f.add("width", width, "");
    f.add("window.size", window_size, "");
    f.add("window.step", window_step, "");
  }
};

struct Row {
  std::string name, mechanism;
  OwnedOptions options;
};

TEST(OwnedOptions, AreNamedInFullOrByTheirBeginning) {
  const OwnedOptions all;
  EXPECT_TRUE(all.has("width"));
  const OwnedOptions some = {.only = {"width", "window.*"}, .without = {"window.step"}};
  EXPECT_TRUE(some.has("name"));
  EXPECT_TRUE(some.has("width"));
  EXPECT_TRUE(some.has("window.size"));
  EXPECT_FALSE(some.has("window.step"));
  EXPECT_FALSE(some.has("widths"));
  EXPECT_FALSE(some.has("wid"));
  EXPECT_FALSE((OwnedOptions{.only = {}}).has("width"));
  EXPECT_TRUE((OwnedOptions{.only = {}}).has("name"));
}

TEST(ModelOptions, OfOtherModelsAreRefusedWithTheirOwners) {
  const std::vector<Row> rows = {{"a", "", {.only = {"width"}}},
                                 {"b", "", {.only = {"window.*"}}},
                                 {"c", "", {.only = {"window.step"}}}};
  const auto message = [&](const Small& config) -> std::string {
    Small plain;
    plain.name = config.name;
    try {
      check_options(rows, config, plain, "file.toml");
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  Small config;
  config.width = 5;
  EXPECT_EQ(message(config), "");
  config.window_step = 3;
  EXPECT_EQ(
      message(config),
      "file.toml: window.step = 3 has no effect: model 'a' has no such option (it is an option of b, c)");
  config.name = "b";
  EXPECT_EQ(message(config),
            "file.toml: width = 5 has no effect: model 'b' has no such option (it is an option of a)");
  config.width = 4;
  EXPECT_EQ(message(config), "");
}

}  // namespace
}  // namespace modewise::models
