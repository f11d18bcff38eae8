// Mode products against the explicit Kronecker matrix, exact on integers, for every instruction set, odd size
// and number of threads.

#include "modewise/ops/dense/mode_product.h"

#include <ATen/Parallel.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/kron.h>
#include <ATen/ops/matmul.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "modewise/ops/kernel_info.h"
#include "tests/ops/tensors.h"

namespace modewise::ops {
namespace {

using testing::HasSubstr;

class EveryInstructionSet : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override { use_isa(GetParam()); }
  void TearDown() override {
    use_isa(available_isas().back());
    use_reference(false);
  }
};

INSTANTIATE_TEST_SUITE_P(Isas, EveryInstructionSet, testing::ValuesIn(available_isas()),
                         [](const auto& instance) { return instance.param; });

TEST_P(EveryInstructionSet, ProductOverAllModesIsTheKroneckerMatrix) {
  const auto x = random_tensor({2, 3, 5, 4, 6});
  const auto a = random_tensor({2, 3}, at::kDouble, 2), b = random_tensor({5, 5}, at::kDouble, 3),
             c = random_tensor({7, 4}, at::kDouble, 4);
  const auto out = mode_product(mode_product(mode_product(x, a, 0), b, 1), c, 2);
  const auto matrix = at::kron(at::kron(a, b), c);
  const auto expected = at::matmul(matrix, x.flatten(1, 3)).reshape({2, 2, 5, 7, 6});
  EXPECT_LT(largest_difference(out, expected), 1e-12);
}

TEST_P(EveryInstructionSet, IsExactOnIntegersForOddSizes) {
  for (const auto type : {at::kFloat, at::kDouble, at::kBFloat16}) {
    for (const int64_t n : {1, 2, 3, 5, 7, 17, 31, 33, 63, 65}) {
      for (const int64_t width : {1, 3, 8, 16, 17}) {
        const auto x = integer_tensor({2, n, 5, 2 * width}, type), s = integer_tensor({2, 2, 9, n}, type, 7);
        use_reference(false);
        const auto fast = mode_product(x, s, 0);
        EXPECT_EQ(last_kernel("mode_product"), "strided");
        const auto contracted = mode_contract(fast, x, 0, 2);
        use_reference(true);
        EXPECT_TRUE(at::equal(fast, mode_product(x, s, 0))) << type << ", n " << n << ", width " << width;
        if (type == at::kBFloat16) continue;  // bfloat16 rounds sums beyond 256
        EXPECT_TRUE(at::equal(contracted, mode_contract(fast, x, 0, 2))) << type << ", n " << n;
      }
    }
  }
}

TEST_P(EveryInstructionSet, GivesTheSameBitsForAnyNumberOfThreads) {
  const int before = at::get_num_threads();
  const auto x = random_tensor({3, 21, 24, 128}, at::kFloat),
             s = random_tensor({3, 8, 21, 21}, at::kFloat, 2);
  at::set_num_threads(1);
  const auto product = mode_product(x, s, 0), contracted = mode_contract(product, x, 1, 8);
  for (const int threads : {2, 3, 4}) {
    at::set_num_threads(threads);
    for (int repeat = 0; repeat < 10; ++repeat) {
      EXPECT_TRUE(at::equal(product, mode_product(x, s, 0)));
      EXPECT_TRUE(at::equal(contracted, mode_contract(product, x, 1, 8)));
    }
  }
  at::set_num_threads(before);
}

TEST_P(EveryInstructionSet, ReadsStridesAndTakesAFloatFactorForBfloat16) {
  const auto x = random_tensor({2, 8, 5, 7}, at::kBFloat16).transpose(1, 3),
             s = random_tensor({2, 2, 4, 7}, at::kFloat);
  const auto out = mode_product(x, s, 0);
  EXPECT_EQ(out.scalar_type(), at::kBFloat16);
  const auto exact = mode_product(x.to(at::kDouble), s.to(at::kDouble), 0);
  EXPECT_LT(largest_difference(out, exact), 0.5 / 128 * exact.abs().max().item<double>());
}

TEST(ModeProduct, NamesArgumentsAndShapes) {
  const auto x = random_tensor({8, 21, 24, 16});
  const auto message = [&](const at::Tensor& factor, int64_t mode) -> std::string {
    try {
      mode_product(x, factor, mode);
    } catch (const c10::ValueError& error) {
      return error.what_without_backtrace();
    }
    return "";
  };
  EXPECT_EQ(message(random_tensor({8, 21, 21}), 1),
            "mode_product: factor must be [.., M, 24] for mode 1 of x [8, 21, 24, 16], got [8, 21, 21]");
  EXPECT_THAT(message(random_tensor({3, 24}), 2), HasSubstr("mode must be 0 … 1"));
  EXPECT_THAT(message(random_tensor({8, 3, 3, 24}), 1), HasSubstr("must divide the last size"));
}

}  // namespace
}  // namespace modewise::ops
