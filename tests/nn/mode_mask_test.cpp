// Masks of modes: their entries, and the factors of Kronecker attention, which are those without a mask, with
// the hidden weights removed and each row divided by what is left.

#include "modewise/nn/attention/mode_mask.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/tensor.h>
#include <gmock/gmock.h>

#include <cmath>
#include <memory>

#include "modewise/nn/attention/attention.h"
#include "modewise/nn/initializer.h"

namespace modewise::nn {
namespace {

at::Tensor rows(std::vector<int64_t> cells) {
  const auto side = static_cast<int64_t>(std::sqrt(static_cast<double>(cells.size())));
  return at::tensor(cells).view({side, side}).to(at::kBool);
}

TEST(ModeMask, SaysWhereAPositionAttends) {
  EXPECT_FALSE(mode_mask("none", 3, at::kCPU));
  EXPECT_TRUE(at::equal(*mode_mask("causal", 3, at::kCPU), rows({1, 0, 0, 1, 1, 0, 1, 1, 1})));
  EXPECT_TRUE(
      at::equal(*mode_mask("band:1", 4, at::kCPU), rows({1, 1, 0, 0, 1, 1, 1, 0, 0, 1, 1, 1, 0, 0, 1, 1})));
  EXPECT_TRUE(at::equal(*mode_mask("band:0", 2, at::kCPU), rows({1, 0, 0, 1})));
}

TEST(ModeMask, OtherNamesAreRefused) {
  for (const char* name : {"", "band", "band:", "band:-1", "band:2x", "Causal"}) {
    EXPECT_NE(mode_mask_fault(name), "") << name;
    EXPECT_THAT(
        [&] { (void)mode_mask(name, 3, at::kCPU); },
        testing::ThrowsMessage<c10::ValueError>(testing::HasSubstr("expected none, causal or band:W")));
  }
}

TEST(ModeMask, FactorsHaveTheRemainingWeights) {
  ops::KroneckerAttentionOptions options;
  options.heads = 2;
  const auto made = [&](std::vector<std::string> masks) {
    Initializer init(3);
    auto attention =
        std::make_shared<KroneckerAttention>(init, 8, 2, true, 0.0, options, FeatureDrawOptions{}, masks);
    attention->to(at::kDouble);
    attention->eval();
    return attention;
  };
  const at::Tensor x = at::randn({2, 5, 7, 8}, at::kDouble);
  const std::vector<std::string> masks = {"band:1", "causal"};
  const auto without = made({})->factors(x, {}), with = made(masks)->factors(x, {});
  for (size_t mode = 0; mode < masks.size(); ++mode) {
    const at::Tensor kept = without[mode] * *mode_mask(masks[mode], without[mode].size(-1), at::kCPU);
    EXPECT_LT((with[mode] - kept / kept.sum(-1, true)).abs().max().item<double>(), 1e-12);
  }
  EXPECT_FALSE(at::equal(made({})->forward(x, {}), made(masks)->forward(x, {})));
  EXPECT_TRUE(at::equal(made({})->forward(x, {}), made({"none", "none"})->forward(x, {})));
}

}  // namespace
}  // namespace modewise::nn
