#include "modewise/core/name_index.h"

#include <gtest/gtest.h>

#include "modewise/core/nearest_name.h"

namespace modewise {
namespace {

TEST(NameIndex, FindsTheFirstOfEqualNames) {
  const NameIndex index({"b", "a", "b"});
  EXPECT_EQ(index.find("b"), 0U);
  EXPECT_EQ(index.find("a"), 1U);
  EXPECT_EQ(index.find(""), std::nullopt);
  EXPECT_TRUE(index.contains("a"));
  EXPECT_FALSE(index.contains("c"));
}

TEST(NameIndex, CountsNewNames) {
  NameIndex index;
  EXPECT_EQ(index.add("x"), std::pair(size_t{0}, true));
  EXPECT_EQ(index.add("y"), std::pair(size_t{1}, true));
  EXPECT_EQ(index.add("x"), std::pair(size_t{0}, false));
}

TEST(ListedNames, CutsLongLists) {
  EXPECT_EQ(listed_names(std::vector<std::string>{"a", "b"}), "a, b");
  std::vector<std::string> names(21, "n");
  EXPECT_EQ(listed_names(names), "n, n, n, n, n, n, n, n, n, n, n, n, n, n, n, n, n, n, n, n, … 21 in all");
  names.pop_back();
  EXPECT_EQ(listed_names(names), "n, n, n, n, n, n, n, n, n, n, n, n, n, n, n, n, n, n, n, n");
}

}  // namespace
}  // namespace modewise
