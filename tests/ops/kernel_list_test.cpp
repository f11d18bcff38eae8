// Ordered kernel list: the first kernel that accepts runs; if all reject, the error lists the reasons.

#include "modewise/ops/kernel_list.h"

#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/error_of.h"

namespace modewise::ops {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::Not;

std::string odd_only(int64_t n) {
  return n % 2 == 1 ? "" : "odd numbers only";
}
std::string small_only(int64_t n) {
  return n < 10 ? "" : "numbers below 10 only";
}
int64_t twice(int64_t n) {
  return 2 * n;
}
int64_t thrice(int64_t n) {
  return 3 * n;
}

const KernelList<int64_t(int64_t)> list("test_list",
                                        {{"odd", odd_only, twice}, {"small", small_only, thrice}});

TEST(KernelList, RunsTheFirstThatDoesNotRefuse) {
  EXPECT_EQ(list.run(at::kCPU, 21), 42);
  EXPECT_EQ(last_kernel("test_list"), "odd");
  EXPECT_EQ(list.run(at::kCPU, 4), 12);
  EXPECT_EQ(last_kernel("test_list"), "small");
}

TEST(KernelList, GivesEveryReasonWhenAllRefuse) {
  try {
    list.run(at::kCPU, 12);
    FAIL();
  } catch (const c10::NotImplementedError& error) {
    EXPECT_THAT(error.what(), HasSubstr("test_list: no kernel supports these inputs: odd: odd numbers only; "
                                        "small: numbers below 10 only"));
  }
}

TEST(KernelList, CanBeForcedToTheReference) {
  use_reference(true);
  EXPECT_EQ(list.run(at::kCPU, 1), 3);
  use_reference(false);
  EXPECT_EQ(last_kernel("test_list"), "small");
}

TEST(KernelList, RunsTheReferenceOnEveryOtherDevice) {
  EXPECT_EQ(list.run(at::kCUDA, 1), 3);
  EXPECT_EQ(last_kernel("test_list"), "small");
  EXPECT_EQ(exception_of<c10::NotImplementedError>([&] { list.run(at::kCUDA, 21); }),
            "test_list: no kernel supports these inputs: small: numbers below 10 only");
}

TEST(KernelList, RunsAKernelOnItsOwnDeviceAlone) {
  const KernelList<int64_t(int64_t)> both("test_list", {{"odd", odd_only, twice},
                                                        {"cuda", odd_only, thrice, KernelDevice::cuda},
                                                        {"small", small_only, thrice}});
  EXPECT_EQ(both.run(at::kCUDA, 21), 63);
  EXPECT_EQ(last_kernel("test_list"), "cuda");
  EXPECT_EQ(both.run(at::kCPU, 21), 42);
  EXPECT_EQ(both.run(at::kCUDA, 4), 12);
  EXPECT_EQ(last_kernel("test_list"), "small");
  EXPECT_EQ(both.run(at::kMeta, 1), 3);
  EXPECT_EQ(last_kernel("test_list"), "small");
}

TEST(KernelSummary, ListsOperatorsWithTheReferenceLast) {
  for (const auto& [op, kernels] : kernel_summary()) {
    if (op == "test_list") continue;
    EXPECT_EQ(kernels.back(), "reference") << op;
  }
  EXPECT_THAT(kernel_summary(),
              Contains(AllOf(Field(&KernelSummary::op, "mode_product"),
                             Field(&KernelSummary::kernels, ElementsAre("triton", "strided", "reference")))));
}

TEST(Isas, AreListedLowestFirstAndUnknownOnesRefused) {
  EXPECT_EQ(available_isas().front(), "scalar");
  const std::string before = active_isa();
  EXPECT_EQ(exception_of<c10::ValueError>([&] { use_isa("quantum"); }),
            fmt::format("MODEWISE_ISA must be one of {} on this machine and build, got 'quantum'",
                        fmt::join(available_isas(), ", ")));
  EXPECT_EQ(active_isa(), before);
}

}  // namespace
}  // namespace modewise::ops
