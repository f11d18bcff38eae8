// Attention registry: every type runs, and unsupported options raise an error.

#include "modewise/ops/attention/attention_types.h"

#include <ATen/ops/randn.h>
#include <gmock/gmock.h>

namespace modewise::ops {
namespace {

using testing::HasSubstr;

TensorAttentionOptions options_of(const std::string& type) {
  TensorAttentionOptions options;
  options.type = type;
  if (attention_type(type).fold) options.fold = {0, 3};
  if (attention_type(type).window) options.window = 4;
  options.causal = attention_type(type).memory != nullptr;
  return options;
}

TEST(AttentionTypes, AllRunAndAreKeptAsTheTableSays) {
  const at::Tensor x = at::randn({2, 7, 2, 4});
  std::vector<std::string> without_memory;
  for (const AttentionType& type : attention_types()) {
    const TensorAttentionOptions options = options_of(std::string(type.name));
    const int64_t levels = latent_levels(options);
    const at::Tensor latents = levels > 0 ? at::randn({levels, 2, 1, 4}) : at::Tensor();
    EXPECT_EQ(tensor_attention(x, x, x, options, latents).sizes(), x.sizes()) << type.name;
    EXPECT_EQ(type.memory == nullptr, type.cache == nullptr) << type.name;
    if (type.memory == nullptr)
      without_memory.emplace_back(type.name);
    else
      EXPECT_EQ(AttentionCache(options, latents).step(x, x, x).sizes(), x.sizes()) << type.name;
  }
  EXPECT_EQ(without_memory, std::vector<std::string>{"pooled"});
}

TEST(AttentionTypes, LackAndNameAreSaid) {
  const auto message = [](const auto& action) -> std::string {
    try {
      action();
    } catch (const c10::ValueError& error) {
      return error.what_without_backtrace();
    }
    return "";
  };
  EXPECT_EQ(find_attention_type("Causal"), nullptr);
  EXPECT_THAT(
      message([] { attention_type("tensor"); }),
      HasSubstr("form must be full, window, lambda, axial, pooled, summary, random or topk, got tensor"));
  EXPECT_THAT(message([] {
                cache_bytes(options_of("pooled"), {2, 2, 4, 1, at::kFloat}, {});
              }),
              HasSubstr("form pooled has no cache"));
}

TEST(AttentionTypes, HaveLatentsForAllLevelsOfBlocks) {
  TensorAttentionOptions options = options_of("summary");
  EXPECT_EQ(latent_levels(options), 1);
  options.fold = {2, 3, 4};
  EXPECT_EQ(latent_levels(options), 2);
  options.fold = {5};
  EXPECT_EQ(latent_levels(options), 0);
  options.fold = {};
  EXPECT_EQ(latent_levels(options), 0);
  EXPECT_EQ(latent_levels(options_of("axial")), 0);
}

}  // namespace
}  // namespace modewise::ops
