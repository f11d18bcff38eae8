#include "modewise/core/memory.h"

#include <gtest/gtest.h>

#include <limits>

#include "tests/scratch_folder.h"

namespace modewise {
namespace {

TEST(Memory, PagesOfFilesInAControlGroupAreFree) {
  const ScratchFolder group;
  constexpr int64_t kEndless = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(free_in_group(group.path()), kEndless);
  group.write("memory.max", "max\n");
  group.write("memory.current", "700\n");
  EXPECT_EQ(free_in_group(group.path()), kEndless);
  group.write("memory.max", "1000\n");
  EXPECT_EQ(free_in_group(group.path()), 300);
  group.write("memory.stat", "anon 150\nfile 500\ninactive_file 200\nactive_file 250\n");
  EXPECT_EQ(free_in_group(group.path()), 750);
  group.write("memory.current", "1400\n");
  EXPECT_EQ(free_in_group(group.path()), 50);
  group.write("memory.stat", "inactive_file 0\nactive_file 0\n");
  EXPECT_EQ(free_in_group(group.path()), 0);
}

TEST(Memory, IsSaidInTheUnitThatFits) {
  EXPECT_EQ(memory_text(1023), "1023 bytes");
  EXPECT_EQ(memory_text(1.5 * 1024 * 1024 * 1024), "1.5 GiB");
}

}  // namespace
}  // namespace modewise
