// Config errors of captioners, as whole sentences.

#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <functional>

#include "modewise/core/error.h"
#include "tests/models/captioning/small_captioner.h"

namespace modewise::models {
namespace {

std::string said(const std::function<void()>& action, ErrorKind kind = ErrorKind::config) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind);
    return error.what();
  }
  ADD_FAILURE() << "no error";
  return "";
}

using Change = std::function<void(CaptionModelConfig&, CaptionShape&)>;

std::string refused(const Change& change, const std::string& name = "transformer") {
  CaptionModelConfig config = small_config(name);
  CaptionShape shape = small_shape();
  change(config, shape);
  return said([&] { validate(config, shape, "run.toml"); });
}

/// The names of the types with this capability (tests/nn/refusals_test.cpp states them).
std::string names_of_types(bool ops::AttentionType::*capability) {
  std::vector<std::string_view> names;
  for (const ops::AttentionType& type : ops::attention_types(ops::TokenLayout::grid))
    if (type.*capability) names.push_back(type.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

TEST(CaptionModelConfig, RefusesFormsThatCannotStandInADecoder) {
  for (const ops::AttentionType& form : ops::attention_types(ops::TokenLayout::grid)) {
    const std::string form_name(form.name);
    if (!form.causal) {
      EXPECT_EQ(refused([&](auto& c, auto&) { c.decoder.attention = form_name; }),
                "run.toml: decoder.attention = \"" + form_name +
                    "\" cannot be causal: each of its rows depends on every token, later words included; "
                    "causal types are " +
                    names_of_types(&ops::AttentionType::causal));
    }
    if (!form.cross_attention) {
      EXPECT_EQ(
          refused([&](auto& c, auto&) { c.decoder.cross_attention = form_name; }),
          "run.toml: decoder.cross_attention = \"" + form_name +
              "\" has no cross-attention: it needs as many keys as tokens; types with cross-attention are " +
              names_of_types(&ops::AttentionType::cross_attention));
    }
  }
}

TEST(CaptionModelConfig, RefusesWhatDoesNotFit) {
  EXPECT_EQ(refused([](auto& c, auto&) { c.decoder.heads = 3; }),
            "run.toml: decoder.heads = 3 must divide decoder.width = 10");
  EXPECT_EQ(refused([](auto& c, auto&) { c.encoder.heads = 4; }),
            "run.toml: encoder.heads = 4 must divide decoder.width = 10");
  EXPECT_EQ(refused([](auto& c, auto&) { c.encoder.kernel = 4; }),
            "run.toml: encoder.kernel = 4 must be odd");
  EXPECT_EQ(refused([](auto& c, auto&) { c.encoder.widths = {}; }),
            "run.toml: encoder.widths is empty: at least one convolution is needed");
  EXPECT_EQ(refused([](auto&, auto& s) { s.vocabulary = 4; }),
            "run.toml: a captioner needs a vocabulary with words besides its 4 special tokens, got 4");
  EXPECT_EQ(refused([](auto&, auto& s) { s.height = 0; }),
            "run.toml: a captioner needs images of at least 1 × 1 × 1, got 3 × 0 × 9");
  CaptionModelConfig config = small_config();
  config.encoder.attention = "none";
  config.encoder.heads = 4;
  validate(config, small_shape());  // heads without attention have no effect
}

TEST(CaptionModelConfig, MakesCellsOfImagesAndTakesFeaturesAsTheyAre) {
  const CaptionModelConfig config = small_config();
  EXPECT_EQ(caption_cells(config, small_shape()), (std::vector<int64_t>{5, 3}));
  EXPECT_EQ(caption_cells(CaptionModelConfig(), {.height = 128, .width = 96}), (std::vector<int64_t>{8, 6}));
  EXPECT_EQ(caption_cells(config, {.height = 7, .width = 5, .features = 3}), (std::vector<int64_t>{7, 5}));
}

TEST(Captioner, RefusesTensorsOfOtherSizes) {
  const auto captioner = small_captioner(small_config());
  const at::Tensor cells = captioner->encode(some_images());
  const auto data = [](const std::function<void()>& action) { return said(action, ErrorKind::data); };
  EXPECT_EQ(data([&] {
              captioner->encode(at::randn({2, 3, 9, 17}, at::kDouble));
            }),
            "expected images [B, 3, 17, 9], got [2, 3, 9, 17]");
  EXPECT_EQ(data([&] { captioner->logits(cells, some_captions(2, 8)); }),
            "a captioner built for 7 words takes at most as many, got 8");
  EXPECT_EQ(data([&] { captioner->logits(cells, some_captions(3)); }),
            "each of 2 images needs the same number of captions, got 3 in total");
  EXPECT_EQ(data([&] {
              captioner->logits(cells, at::randn({2, 7}));
            }),
            "caption tokens must be [R, T] int64, got Float [2, 7]");
  CaptionState state = captioner->begin(cells);
  EXPECT_EQ(data([&] { captioner->step(state, some_captions(2)); }),
            "the next token of each caption must be [R] int64, got Long [2, 7]");
  for (int64_t place = 0; place < 7; ++place) captioner->step(state, some_captions(2).select(1, place));
  EXPECT_EQ(data([&] { captioner->step(state, some_captions(2).select(1, 1)); }),
            "a captioner built for 7 words takes at most as many, got 8");
  const auto reader =
      small_captioner(small_config(), {.height = 3, .width = 2, .vocabulary = 11, .features = 5});
  EXPECT_EQ(data([&] {
              reader->encode(at::randn({2, 5, 3, 2}, at::kDouble));
            }),
            "expected features [B, 3, 2, 5], got [2, 5, 3, 2]");
}

TEST(Captioner, RefusesOptionsThatItDoesNotHave) {
  CaptionModelConfig config = small_config("lstm");
  config.decoder.cross_attention = "random";
  EXPECT_EQ(said([&] { validate(config, small_shape(), "run.toml"); }),
            "run.toml: decoder.cross_attention = 'random' has no effect: model 'lstm' has no such option "
            "(it is an "
            "option of transformer)");
}

}  // namespace
}  // namespace modewise::models
