#include "modewise/tasks/run/load_config.h"

#include <gtest/gtest.h>

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
};

TEST(SetAll, AppliesPresetsFirstInTheOrderOfTheFields) {
  Config config;
  Fields fields = fields_of(config);
  set_all(fields, {"size=7", "depth=8", "kind=x", "name=b"});
  EXPECT_EQ(config.name, "b");
  EXPECT_EQ(config.kind, "x");
  EXPECT_EQ(config.size, 7);
  EXPECT_EQ(config.depth, 8);
}

TEST(SetAll, OfTwoAssignmentsTheLastHolds) {
  Config config;
  Fields fields = fields_of(config);
  set_all(fields, {"name=b", "size=7", "name=c", "size=8"});
  EXPECT_EQ(config.name, "c");
  EXPECT_EQ(config.kind, "of c");
  EXPECT_EQ(config.size, 8);
}

}  // namespace
}  // namespace modewise::tasks
