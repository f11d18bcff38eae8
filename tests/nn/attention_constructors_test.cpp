// Modules of attention types: the constructors have the names of ops::attention_types(), and modules the
// parameters and weights that its rows claim.

#include <ATen/ops/randn.h>
#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "modewise/nn/attention/grid_attention.h"
#include "modewise/nn/attention/sequence_attention.h"
#include "modewise/ops/attention/attention_types.h"
#include "tests/error_of.h"

namespace modewise::nn {
namespace {

using testing::UnorderedElementsAreArray;

template <class List>
std::vector<std::string_view> names_of(const List& list) {
  std::vector<std::string_view> names;
  for (const auto& one : list) names.push_back(one.name);
  return names;
}

std::vector<std::string_view> with_module(ops::TokenLayout layout) {
  std::vector<std::string_view> names;
  for (const ops::AttentionType& type : ops::attention_types(layout))
    if (type.has_module) names.push_back(type.name);
  return names;
}

TEST(AttentionConstructors, HaveTheNamesOfTheTable) {
  EXPECT_THAT(names_of(sequence_constructors()),
              UnorderedElementsAreArray(with_module(ops::TokenLayout::sequence)));
  EXPECT_THAT(names_of(grid_constructors()), UnorderedElementsAreArray(with_module(ops::TokenLayout::grid)));
  for (const SequenceConstructor& one : sequence_constructors()) EXPECT_NE(one.make, nullptr) << one.name;
  for (const GridConstructor& one : grid_constructors())
    EXPECT_TRUE(one.make != nullptr && one.multiply_adds != nullptr) << one.name;
}

TEST(AttentionConstructors, AreFoundByEarlierNamesAndCodes) {
  EXPECT_EQ(sequence_constructor("causal").name, "summary");
  EXPECT_EQ(grid_constructor("tensor").name, "stt");
  EXPECT_EQ(grid_constructor("fsr").name, "factorized-random");
  const auto refused = [](const auto& make) { return exception_of<c10::ValueError>(make); };
  EXPECT_THAT(refused([] { sequence_constructor("lambda"); }), testing::HasSubstr("lambda"));
  EXPECT_THAT(refused([] { sequence_constructor("dense"); }), testing::HasSubstr("dense"));
  EXPECT_THAT(refused([] { grid_constructor("full"); }), testing::HasSubstr("full"));
}

TEST(AttentionConstructors, OfSequencesMakeTheClaimedParameters) {
  for (const SequenceConstructor& one : sequence_constructors()) {
    const ops::AttentionType& type = *ops::find_attention_type(one.name);
    SequenceAttentionOptions options = {.width = 8, .heads = 2, .tokens = 6, .type = std::string(one.name)};
    if (type.fold) options.fold = {0, 2};
    Initializer init(1);
    const auto parameters = make_sequence_attention(init, options)->named_parameters();
    EXPECT_EQ(parameters.contains("key_proj.weight"), !type.shared_keys) << one.name;
    EXPECT_EQ(parameters.contains("latents"), type.latents) << one.name;
    EXPECT_EQ(parameters.contains("key_map"), one.name == "linformer") << one.name;
  }
}

TEST(AttentionConstructors, OfGridsReadTheTokensAsClaimed) {
  const SynthesizerShape shape = {{3, 5}, 0, 8, 2};
  const at::Tensor x = at::randn({1, 3, 5, 8});
  std::vector<std::string_view> without_matrix;
  for (const GridConstructor& one : grid_constructors()) {
    Initializer init(1);
    const auto attention = make_attention(init, one.name, shape);
    const at::Tensor weights = attention->full_matrix(x, {});
    if (!weights.defined()) {
      without_matrix.push_back(one.name);
      continue;
    }
    EXPECT_EQ(!weights.equal(attention->full_matrix(x * 2, {})),
              ops::find_attention_type(one.name, ops::TokenLayout::grid)->reads_tokens)
        << one.name;
  }
  EXPECT_THAT(without_matrix, testing::ElementsAre("linformer", "kronecker", "kronecker-sum"));
}

}  // namespace
}  // namespace modewise::nn
