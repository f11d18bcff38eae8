// Attention registry: every type runs, and unsupported options raise an error.

#include "modewise/ops/attention/attention_types.h"
#include "tests/error_of.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/randn.h>
#include <gmock/gmock.h>

#include <limits>
#include <set>

#include "modewise/ops/attention/axis_attention.h"
#include "modewise/ops/attention/nystroem_attention.h"

namespace modewise::ops {
namespace {

using testing::HasSubstr;
using testing::IsSupersetOf;

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
  const at::Tensor valid = at::arange(7).lt(5).expand({2, 7});
  const at::Tensor changed = x.masked_fill(valid.logical_not().unsqueeze(-1).unsqueeze(-1), 9);
  std::vector<std::string> without_memory, without_operator;
  for (const AttentionType& type : attention_types()) {
    EXPECT_EQ(type.causal, type.memory != nullptr) << type.name;
    if (type.run == nullptr) {
      without_operator.emplace_back(type.name);
      continue;
    }
    const TensorAttentionOptions options = options_of(std::string(type.name));
    const int64_t levels = latent_levels(options);
    const at::Tensor latents = levels > 0 ? at::randn({levels, 2, 1, 4}) : at::Tensor();
    EXPECT_EQ(tensor_attention(x, x, x, options, latents).sizes(), x.sizes()) << type.name;
    const auto masked = [&](const at::Tensor& t) {
      return tensor_attention(t, t, t, options, latents, {}, valid).narrow(1, 0, 5);
    };
    EXPECT_TRUE(masked(changed).equal(masked(x))) << type.name;
    EXPECT_EQ(type.memory == nullptr, type.cache == nullptr) << type.name;
    if (type.memory == nullptr)
      without_memory.emplace_back(type.name);
    else
      EXPECT_EQ(AttentionCache(options, latents).step(x, x, x).sizes(), x.sizes()) << type.name;
  }
  EXPECT_EQ(without_memory, std::vector<std::string>{"pooled"});
  EXPECT_THAT(without_operator, IsSupersetOf({"linformer", "performer", "nystroemformer", "reformer"}));
}

TEST(AttentionTypes, PassNaNOn) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const at::Tensor x = at::randn({1, 8, 2, 4});
  at::Tensor changed = x.clone();
  changed.select(1, 3).fill_(nan);
  for (const AttentionType& type : attention_types()) {
    if (type.run == nullptr) continue;
    TensorAttentionOptions options = options_of(std::string(type.name));
    options.density = 1;
    const int64_t levels = latent_levels(options);
    const at::Tensor latents = levels > 0 ? at::randn({levels, 2, 1, 4}) : at::Tensor();
    const auto row = [&](const at::Tensor& q, const at::Tensor& k) {
      return tensor_attention(q, k, x, options, latents).select(1, 3);
    };
    EXPECT_TRUE(row(changed, x).isnan().all().item<bool>()) << type.name;
    EXPECT_TRUE(row(x, changed).isnan().all().item<bool>()) << type.name;
  }
  TensorAttentionOptions half = options_of("topk");
  half.density = 0.5;
  const auto whole = tensor_attention(x, x, x, half);
  const auto part = tensor_attention(x, changed, x, half);
  EXPECT_TRUE(part.narrow(1, 0, 3).equal(whole.narrow(1, 0, 3)));
  EXPECT_TRUE(part.narrow(1, 3, 5).isnan().all().item<bool>());
  half.scale = nan;
  EXPECT_TRUE(tensor_attention(x, x, x, half).isnan().all().item<bool>());
}

TEST(AttentionTypes, GiveNoTokensForNone) {
  for (const AttentionType& type : attention_types()) {
    if (type.run == nullptr) continue;
    const TensorAttentionOptions options = options_of(std::string(type.name));
    const int64_t levels = latent_levels(options);
    const at::Tensor latents = levels > 0 ? at::randn({levels, 2, 1, 4}) : at::Tensor();
    for (const std::vector<int64_t>& sizes : {std::vector<int64_t>{2, 0, 2, 4}, {0, 7, 2, 4}}) {
      const at::Tensor none = at::randn(sizes);
      EXPECT_EQ(tensor_attention(none, none, none, options, latents).sizes(), none.sizes()) << type.name;
    }
  }
}

TEST(AxisAttention, GivesNoTokensForNone) {
  for (const std::vector<int64_t>& sizes : {std::vector<int64_t>{2, 3, 0, 8}, {2, 0, 3, 8}, {0, 2, 3, 8}})
    for (const int64_t mode : {0, 1}) {
      const at::Tensor none = at::randn(sizes).requires_grad_();
      const at::Tensor out = axis_attention(none, none, none, 2, mode);
      EXPECT_EQ(out.sizes(), none.sizes());
      EXPECT_TRUE(out.requires_grad());
    }
}

TEST(NystroemAttention, TakesNoTokensAndNoNegativeScale) {
  const at::Tensor none = at::randn({2, 0, 2, 4}), kernel = at::randn({2, 3});
  EXPECT_EQ(nystroem_attention(none, none, none, kernel, {}, 3).sizes(), none.sizes());
  const at::Tensor x = at::randn({2, 5, 2, 4});
  EXPECT_EQ(exception_of<c10::ValueError>([&] { nystroem_attention(x, x, x, {}, {}, 3, -1); }),
            "nystroem_attention: scale must be positive, or 0 for 1/√d, got -1");
}

TEST(AttentionTypes, HaveOneRowForEachNameAndLayout) {
  for (const TokenLayout layout : {TokenLayout::sequence, TokenLayout::grid}) {
    std::set<std::string_view> names, codes;
    for (const AttentionType& type : attention_types(layout)) {
      EXPECT_TRUE(names.insert(type.name).second) << type.name;
      EXPECT_TRUE(type.code.empty() || codes.insert(type.code).second) << type.code;
      EXPECT_EQ(type.layout, layout) << type.name;
      EXPECT_FALSE(type.summary.empty()) << type.name;
      EXPECT_EQ(type.pairs != nullptr, layout == TokenLayout::sequence) << type.name;
      EXPECT_EQ(find_attention_type(type.name, layout), &type);
    }
    EXPECT_TRUE(names.contains("random"));
  }
  EXPECT_EQ(find_attention_type("random")->summary, "a random subset of the tokens");
  EXPECT_EQ(find_attention_type("random", TokenLayout::grid), find_attention_type("sr", TokenLayout::grid));
  EXPECT_EQ(find_attention_type("causal")->name, "summary");
  EXPECT_EQ(find_attention_type("tensor"), nullptr);
  EXPECT_EQ(find_attention_type("tensor", TokenLayout::grid)->name, "stt");
  EXPECT_EQ(find_attention_type(""), nullptr);
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
  EXPECT_THAT(message([] { attention_type("linformer"); }), HasSubstr("random or topk, got linformer"));
  EXPECT_THAT(message([] { compared_pairs({{.type = "tensor"}}, 3); }),
              HasSubstr("unknown attention type 'tensor'"));
  EXPECT_THAT(message([] {
                cache_bytes(options_of("pooled"), {2, 2, 4, 1, at::kFloat}, {});
              }),
              HasSubstr("form pooled has no cache"));
}

TEST(AttentionOptions, HaveOneNameAndATypeThatShowsThem) {
  std::set<std::string_view> names;
  for (const AttentionOption& option : attention_options()) {
    EXPECT_TRUE(names.insert(option.name).second) << option.name;
    EXPECT_NE(find_attention_type(option.type), nullptr) << option.name;
    EXPECT_TRUE(option.min <= option.standard && option.standard <= option.max) << option.name;
  }
  for (const AttentionType& type : attention_types())
    for (const std::string_view option : type.titled)
      EXPECT_TRUE(option.empty() || names.contains(option)) << option;
}

TEST(AttentionOptions, KeepTheirPlaceWhenOthersAreAssigned) {
  AttentionOptionValues values, others;
  const int64_t& chunk = values["chunk"];
  EXPECT_EQ(chunk, 64);
  EXPECT_EQ(values["kernel"], 33);
  others["chunk"] = 5;
  values = others;
  EXPECT_EQ(chunk, 5);
  values = AttentionOptionValues();
  EXPECT_EQ(chunk, 64);
  EXPECT_EQ(others["chunk"], 5);
  EXPECT_THAT(exception_of<c10::ValueError>([&] { static_cast<void>(others["stride"]); }),
              testing::HasSubstr("stride"));
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
