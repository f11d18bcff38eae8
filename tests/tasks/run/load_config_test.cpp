#include "modewise/tasks/run/load_config.h"

#include <gtest/gtest.h>

#include "modewise/core/file.h"
#include "tests/scratch_folder.h"

namespace modewise::tasks {
namespace {

struct Config {
  std::string name = "a", kind = "a";
  int64_t size = 1, depth = 1;

  void fields(Fields& f) {
    f.add("size", size, "size");
    f.add_preset("name", name, "name", {}, [this] { size = 2, kind = "of " + name; });
    f.add("depth", depth, "depth");
    f.add_preset("kind", kind, "kind", {}, [this] { depth = 3; });
  }
  void validate(const std::string& /*source*/) const {}
};

TEST(LoadConfig, AppliesPresetsFirstInTheOrderOfTheFields) {
  const auto config = load_config<Config>({"", {"size=7", "depth=8", "kind=x", "name=b"}});
  EXPECT_EQ(config.name, "b");
  EXPECT_EQ(config.kind, "x");
  EXPECT_EQ(config.size, 7);
  EXPECT_EQ(config.depth, 8);
}

TEST(LoadConfig, OfTwoAssignmentsTheLastHolds) {
  const auto config = load_config<Config>({"", {"name=b", "size=7", "name=c", "size=8"}});
  EXPECT_EQ(config.name, "c");
  EXPECT_EQ(config.kind, "of c");
  EXPECT_EQ(config.size, 8);
}

/// Text of the config of a file and assignments.
std::string loaded(const std::string& file, const std::string& text, std::vector<std::string> assignments) {
  write_file_atomically(file, text);
  auto config = load_config<Config>({file, std::move(assignments)});
  return fields_of(config).to_toml();
}

TEST(LoadConfig, PresetsOfAFileGiveWayToAssignmentsAndItsOtherValuesStay) {
  const ScratchFolder scratch;
  const std::string file = (scratch / "x.toml").string();
  EXPECT_EQ(loaded(file, "size = 5\nname = 'b'\n", {"name=c"}),
            "size = 5\nname = 'c'\ndepth = 1\nkind = 'of c'\n");
  EXPECT_EQ(loaded(file, "name = 'b'\n", {"kind=x"}), "size = 2\nname = 'b'\ndepth = 3\nkind = 'x'\n");
  EXPECT_EQ(loaded(file, "name = 'b'\nkind = 'x'\n", {"name=c", "depth=9"}),
            "size = 2\nname = 'c'\ndepth = 9\nkind = 'x'\n");
}

TEST(LoadConfig, ValuesThatThePresetsOfARunImplyGiveWayToOtherPresets) {
  const ScratchFolder scratch;
  const std::string file = (scratch / "config.toml").string();
  write_file_atomically((scratch / "manifest.json").string(), "{}");
  const std::string run = "size = 2\nname = 'b'\ndepth = 4\nkind = 'of b'\n";
  EXPECT_EQ(loaded(file, run, {}), run);
  EXPECT_EQ(loaded(file, "size = 9\nname = 'b'\ndepth = 3\nkind = 'y'\n", {"name=b"}),
            "size = 9\nname = 'b'\ndepth = 3\nkind = 'y'\n");
  EXPECT_EQ(loaded(file, "size = 9\nname = 'b'\ndepth = 3\nkind = 'y'\n", {"kind=z", "name=c"}),
            "size = 9\nname = 'c'\ndepth = 3\nkind = 'z'\n");
}

}  // namespace
}  // namespace modewise::tasks
