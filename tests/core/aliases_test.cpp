#include "modewise/core/aliases.h"

#include <gmock/gmock.h>

#include <set>

#include "modewise/core/fields.h"
#include "tests/error_of.h"

namespace modewise {
namespace {

using testing::ElementsAre;

/// The current key of a config that has `keys`.
std::string key_among(const std::set<std::string>& keys, const std::string& key) {
  return current_key(key, [&](const std::string& name) { return keys.contains(name); });
}

TEST(Aliases, FindKeysByTheirGroupAndThenTheirName) {
  EXPECT_EQ(key_among({"model.layers"}, "model.blocks"), "model.layers");
  EXPECT_EQ(key_among({"classify.select"}, "pictures.select"), "classify.select");
  EXPECT_EQ(key_among({"caption.beam_size"}, "captions.beams"), "caption.beam_size");
  EXPECT_EQ(key_among({"model.future_covariates.width"}, "model.known.width"),
            "model.future_covariates.width");
  EXPECT_EQ(key_among({"model.shapelet-forest.trees"}, "model.forest.trees"), "model.shapelet-forest.trees");
  EXPECT_EQ(key_among({"model.ridge.penalty"}, "model.baseline.ridge"), "model.ridge.penalty");
}

TEST(Aliases, OfModelsByThemselvesHaveTheKeysWithoutTheRoot) {
  EXPECT_EQ(key_among({"attention.type"}, "attention.form"), "attention.type");
  EXPECT_EQ(key_among({"layers"}, "blocks"), "layers");
  EXPECT_EQ(key_among({"period"}, "baseline.period"), "period");
}

TEST(Aliases, LeaveKeysThatThereAre) {
  EXPECT_EQ(key_among({"model.blocks", "model.layers"}, "model.blocks"), "model.blocks");
  EXPECT_EQ(key_among({"data.augment.flips"}, "data.augment.flips"), "data.augment.flips");
}

TEST(Aliases, OfNothingThereIsNone) {
  EXPECT_EQ(key_among({"model.width"}, "model.blocks"), "");
  EXPECT_EQ(key_among({}, "model.unheard"), "");
}

TEST(Aliases, ChangeValuesThatAreNotAllowedAnyMore) {
  EXPECT_EQ(current_value("model.window.scale", "deviation", {"std", "none"}), "std");
  EXPECT_EQ(current_value("window.scale", "deviation", {"std", "none"}), "std");
  EXPECT_EQ(current_value("model.attention.type", "tensor", {"summary", "tensor"}), "tensor");
  EXPECT_EQ(current_value("model.width", "deviation", {}), "deviation");
}

TEST(Aliases, OfACommandLineAreItsCommandsAndOptions) {
  EXPECT_THAT(current_command_line(
                  {"modewise", "train", "pictures", "--exist-ok", "--slots=4", "--dtype", "bfloat16"}),
              ElementsAre("modewise", "train", "classify-images", "--overwrite", "--summary-tokens=4",
                          "--dtype", "bf16"));
  EXPECT_THAT(current_command_line({"modewise", "predict", "pictures"}),
              ElementsAre("modewise", "predict", "pictures"));
}

TEST(Aliases, OfTasksAndAttentionsAreTheirNames) {
  EXPECT_EQ(current_task("classify"), "volume_classification");
  EXPECT_EQ(current_task("text"), "text");
  EXPECT_EQ(current_attention("causal"), "summary");
  EXPECT_EQ(current_attention("axial"), "axial");
}

TEST(Aliases, OfJsonAreReadUnderBothNames) {
  EXPECT_EQ(aliased_member(nlohmann::json{{"deviation", 2}}, "std"), 2);
  EXPECT_EQ(aliased_member(nlohmann::json{{"deviation", 2}, {"std", 3}}, "std"), 3);
  EXPECT_THAT(exception_of<nlohmann::json::out_of_range>([] {
                aliased_member(nlohmann::json{{"mean", 2}}, "std");
              }),
              testing::HasSubstr("key 'std' not found"));
}

TEST(Aliases, OfGroupsAreKnownWithAndWithoutTheRoot) {
  for (const char* group : {"pictures", "model.known", "model.baseline", "baseline", "forest"})
    EXPECT_TRUE(is_renamed_group(group)) << group;
  for (const char* group : {"model.base", "window", "model.window"})
    EXPECT_FALSE(is_renamed_group(group)) << group;
}

struct Inner {
  int64_t layers = 1;
  std::string scale = "std";
  void fields(Fields& f) {
    f.add("layers", layers, "layers");
    f.add("window.scale", scale, "scale", {.one_of = {"std", "none"}});
  }
};
struct Outer {
  Inner model;
  void fields(Fields& f) { f.group("model", model); }
};

TEST(Aliases, AreReadInTomlAndAssignments) {
  Outer config;
  Fields fields = fields_of(config);
  fields.load_toml("[model]\nblocks = 3\n[model.window]\nscale = \"none\"\n", "old.toml");
  EXPECT_EQ(config.model.layers, 3);
  EXPECT_EQ(config.model.scale, "none");
  fields.set("model.blocks=5");
  fields.set("model.window.scale=deviation");
  EXPECT_EQ(config.model.layers, 5);
  EXPECT_EQ(config.model.scale, "std");
}

}  // namespace
}  // namespace modewise
