// Sample tests that pass, fail, crash, exit, hang and skip, for run_shard.py
// (tests/python/test_run_shard.py).

#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

namespace {

TEST(Sample, Passes) {
  std::printf("dropped\n");
}

TEST(Sample, Fails) {
  std::printf("no newline");
  EXPECT_EQ(1, 2) << "the reason";
}

TEST(Sample, Crashes) {
  std::fprintf(stderr, "before the crash\n");
  std::abort();
}

TEST(Sample, Exits) {
  std::exit(0);
}

TEST(Sample, Hangs) {
  std::this_thread::sleep_for(std::chrono::minutes(10));
}

TEST(Sample, Skips) {
  GTEST_SKIP() << "no data";
}

TEST(Sample, DISABLED_NeverRuns) {
  FAIL();
}

class Value : public testing::TestWithParam<const char*> {};

TEST_P(Value, IsA) {
  EXPECT_STREQ(GetParam(), "a");
}

INSTANTIATE_TEST_SUITE_P(Sample, Value, testing::Values("a", "# b\n"));

TEST(Last, Passes) {}

TEST(Last, LONG_Passes) {}

}  // namespace
