// Vision classifiers against plain PyTorch implementations (vectors/make_volume_vectors.py), masks, threads,
// sizes.

#include "modewise/models/vision/vision_classifier.h"

#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/tensor.h>
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "modewise/core/error.h"
#include "modewise/models/vision/config.h"
#include "modewise/nn/layers/dropout.h"
#include "tests/error_of.h"
#include "tests/models/noise_oracle.h"

namespace modewise::models {
namespace {

using testing::HasSubstr;

VisionModelConfig config_of(const std::vector<std::string>& settings) {
  return configured<VisionModelConfig>(settings);
}

std::vector<int64_t> with_ends(int64_t first, const std::vector<int64_t>& middle, std::vector<int64_t> last) {
  std::vector<int64_t> out{first};
  out.insert(out.end(), middle.begin(), middle.end());
  out.insert(out.end(), last.begin(), last.end());
  return out;
}

/// GoogleTest does not allow '-' in a name.
std::string test_name(const testing::TestParamInfo<const char*>& info) {
  std::string name = info.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

struct RecordedClassifier {
  nlohmann::json record;
  std::shared_ptr<VisionClassifier> model;
  ClassifierInput input;
};

RecordedClassifier load_classifier(const std::string& name, at::ScalarType dtype) {
  RecordedClassifier c;
  c.record = record_of("volumes.json", name);
  const auto& r = c.record;
  const VisionShape shape = {r["size"], r["channels"], r["classes"], r["missing"]};
  c.model = make_vision_classifier(config_of(r["settings"].get<std::vector<std::string>>()), shape, 1);
  c.model->train(r["training"].get<bool>());
  fill_with_noise(*c.model, r);
  c.model->to(dtype);
  const int64_t batch = r["batch"], patch = r["patch"];
  c.input.values = (noise(2001, with_ends(batch, shape.size, {shape.channels})) * 4).to(dtype);
  if (shape.missing) {
    c.input.valid = noise(2002, with_ends(batch, shape.size, {})).gt(-0.3);
    c.input.valid.narrow(1, 0, patch).fill_(false);
    c.input.valid.select(0, 1).narrow(-1, shape.size.back() - patch, patch).fill_(false);
  }
  return c;
}

class VolumeOracle : public testing::TestWithParam<const char*> {};

TEST_P(VolumeOracle, OutputAgrees) {
  for (const auto dtype : {at::kDouble, at::kFloat}) {
    const RecordedClassifier c = load_classifier(GetParam(), dtype);
    const at::Tensor out = c.model->forward(c.input).to(at::kDouble);
    const double limit = dtype == at::kDouble ? 1e-9 : 2e-4;
    for (int64_t i = 0; i < out.size(0); ++i) {
      const auto row = c.record["output"][static_cast<size_t>(i)].get<std::vector<double>>();
      const at::Tensor wanted = at::tensor(row, at::kDouble);
      ASSERT_EQ(out[i].sizes(), wanted.sizes());
      EXPECT_LE(largest(out[i] - wanted), limit * std::max(1.0, largest(wanted))) << i;
    }
  }
}

TEST_P(VolumeOracle, GradientOfEveryParameterAgrees) {
  const RecordedClassifier c = load_classifier(GetParam(), at::kDouble);
  const at::Tensor out = c.model->forward(c.input);
  (out * noise(2003, out.sizes().vec())).sum().backward();
  expect_gradients_and_statistics(*c.model, c.record, 2004);
}

INSTANTIATE_TEST_SUITE_P(Volumes, VolumeOracle,
                         testing::Values("hot", "hot_training", "hot_sum_missing", "hot_missing_training",
                                         "hot_stem_missing_training", "hot_images", "hot_no_attention",
                                         "hot_no_feed_forward", "transformer_missing", "divided",
                                         "divided_missing", "pooling_attention", "pooling_attention_missing",
                                         "hot_paper", "hot_paper_sum", "resnet18", "resnet18_training",
                                         "resnet50", "resnet18_slices", "resnet18_acs", "resnet50_slices",
                                         "resnet50_acs"),
                         test_name);

int64_t parameter_count(const std::vector<std::string>& settings, const VisionShape& shape = {}) {
  int64_t count = 0;
  for (const at::Tensor& parameter : make_vision_classifier(config_of(settings), shape, 1)->parameters())
    count += parameter.numel();
  return count;
}

TEST(VisionClassifier, HasAsManyParametersAsThePapersTable) {
  // Width 128, 6 blocks, hidden 512, patch 4 on 28³: "2M"; by hand 1,984,770.
  const std::vector<std::string> sizes = {"preset=release", "width=128", "layers=6", "hidden=512", "heads=8"};
  EXPECT_EQ(parameter_count(sizes), 1984770);
  std::vector<std::string> full = sizes;
  full.insert(full.begin(), "name=transformer");
  EXPECT_EQ(parameter_count(full), 1984770 - 6 * 4 * (128 * 128 + 128));
  EXPECT_EQ(parameter_count({"name=resnet18"}, {{28, 28, 28}, 1, 11, false}), 33145419);
  // "12M" and "26M" are the sizes with 2D kernels: for images of one channel and 11 classes by hand
  // 11,173,323.
  for (const char* convolution : {"2.5d", "acs"}) {
    const std::string option = std::string("resnet.convolution=") + convolution;
    EXPECT_EQ(parameter_count({"name=resnet18", option}, {{28, 28, 28}, 1, 11, false}), 11173323);
    EXPECT_EQ(parameter_count({"name=resnet50", option}, {{28, 28, 28}, 1, 11, false}),
              parameter_count({"name=resnet50"}, {{28, 28}, 1, 11, false}));
  }
}

class EveryVolumeModel : public testing::TestWithParam<const char*> {
 protected:
  std::vector<std::string> settings() const {
    const std::string name = GetParam();
    if (name.ends_with("acs")) return {"name=resnet18", "resnet.width=4", "resnet.convolution=acs"};
    if (name.starts_with("resnet")) return {"name=" + name, "resnet.width=4"};
    const std::string preset = name == "vit" ? "default" : "release";
    return {"name=" + name, "preset=" + preset, "width=16",     "hidden=12",        "heads=2",
            "layers=2",     "dropout=0.1",      "patch.size=2", "patch.dropout=0.1"};
  }
};

TEST_P(EveryVolumeModel, IsTheSameToTheLastBitForAnyNumberOfThreads) {
  const VisionShape shape = {{10, 9, 11}, 1, 3, false};
  const int before = at::get_num_threads();
  std::vector<at::Tensor> first;
  for (const int threads : {1, 2, 3, 4}) {
    at::set_num_threads(threads);
    const auto model = make_vision_classifier(config_of(settings()), shape, 7);
    nn::set_dropout_step(*model, 7, 3);
    const at::Tensor out = model->forward({noise(1, {5, 10, 9, 11, 1}).to(at::kFloat), {}});
    (out * noise(2, {5, 3}).to(at::kFloat)).sum().backward();
    std::vector<at::Tensor> all = {out.detach()};
    for (const at::Tensor& parameter : model->parameters()) all.push_back(parameter.grad());
    if (first.empty()) first = all;
    for (size_t i = 0; i < all.size(); ++i) EXPECT_TRUE(at::equal(all[i], first[i])) << i << " " << threads;
  }
  at::set_num_threads(before);
}

TEST_P(EveryVolumeModel, StartsFromWeightsOfTheSeedAlone) {
  const VisionShape shape = {{8, 8, 8}, 1, 2, false};
  const auto a = make_vision_classifier(config_of(settings()), shape, 3),
             b = make_vision_classifier(config_of(settings()), shape, 3),
             other = make_vision_classifier(config_of(settings()), shape, 4);
  bool differs = false;
  for (size_t i = 0; i < a->parameters().size(); ++i) {
    EXPECT_TRUE(at::equal(a->parameters()[i], b->parameters()[i]));
    differs = differs || !at::equal(a->parameters()[i], other->parameters()[i]);
  }
  EXPECT_TRUE(differs);
}

INSTANTIATE_TEST_SUITE_P(Volumes, EveryVolumeModel,
                         testing::Values("hot", "transformer", "divided", "pooling-attention", "vit",
                                         "resnet18", "resnet50", "resnet18_acs"),
                         test_name);

class MaskedVolumes : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    VisionModelConfig config = config_of({std::string("name=") + GetParam(), "preset=release", "width=16",
                                          "hidden=12", "heads=2", "layers=2", "patch.size=2"});
    model_ = make_vision_classifier(config, {{12, 8, 10}, 1, 3, true}, 5);
    model_->to(at::kDouble);
    model_->eval();
  }
  std::shared_ptr<VisionClassifier> model_;
};

TEST_P(MaskedVolumes, WhatLiesUnderAMissingVoxelChangesNoBit) {
  const at::Tensor valid = noise(3, {2, 12, 8, 10}).gt(-0.2), values = noise(4, {2, 12, 8, 10, 1});
  const at::Tensor out = model_->forward({values, valid});
  const at::Tensor missing = valid.logical_not().unsqueeze(-1);
  for (const double other : {1e30, -7.0, std::numeric_limits<double>::quiet_NaN()})
    EXPECT_TRUE(at::equal(model_->forward({values.masked_fill(missing, other), valid}), out)) << other;
}

TEST_P(MaskedVolumes, AVolumePaddedUnderAMaskGivesWhatItGivesAlone) {
  // Three volumes of different sizes in one batch against each alone; sizes are multiples of the patch.
  const std::vector<std::vector<int64_t>> sizes = {{12, 8, 10}, {8, 8, 10}, {6, 4, 2}};
  std::vector<at::Tensor> values, valid;
  for (size_t i = 0; i < sizes.size(); ++i) {
    const auto& s = sizes[i];
    const at::Tensor volume = noise(10 + i, {1, s[0], s[1], s[2], 1});
    const std::vector<int64_t> ends = {0, 10 - s[2], 0, 8 - s[1], 0, 12 - s[0]};
    std::vector<int64_t> with_channel = {0, 0};
    with_channel.insert(with_channel.end(), ends.begin(), ends.end());
    values.push_back(at::constant_pad_nd(volume, with_channel));
    valid.push_back(at::constant_pad_nd(at::ones({1, s[0], s[1], s[2]}, at::kBool), ends));
  }
  const auto stack = [](const std::vector<at::Tensor>& list) {
    at::Tensor out = at::empty(
        with_ends(static_cast<int64_t>(list.size()), list[0].sizes().slice(1).vec(), {}), list[0].options());
    for (size_t i = 0; i < list.size(); ++i) out.select(0, static_cast<int64_t>(i)).copy_(list[i][0]);
    return out;
  };
  const at::Tensor together = model_->forward({stack(values), stack(valid)});
  for (size_t i = 0; i < sizes.size(); ++i) {
    const auto& s = sizes[i];
    const at::Tensor alone = model_->forward({noise(10 + i, {1, s[0], s[1], s[2], 1}), {}});
    EXPECT_LE(largest(together[static_cast<int64_t>(i)] - alone[0]), 1e-12) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Volumes, MaskedVolumes,
                         testing::Values("hot", "transformer", "divided", "pooling-attention"), test_name);

std::string rejection(const std::vector<std::string>& settings, const VisionShape& shape = {}) {
  try {
    validate(config_of(settings), shape, "run.toml");
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::config);
    return error.what();
  }
  return "";
}

TEST(VolumePatches, NeedASize) {
  for (const char* name : {"hot", "transformer", "divided", "pooling-attention"}) {
    VisionModelConfig config = config_of({std::string("name=") + name});
    EXPECT_EQ(error_of(ErrorKind::config,
                       [&] {
                         config.choose_patch({{}, 1, 3});
                       }),
              "expected the size of an image or a volume, got no axes");
  }
}

TEST(VolumePatches, FollowTheSizeOfTheVolumes) {
  const std::vector<std::pair<std::vector<int64_t>, int64_t>> wanted = {
      {{28, 28, 28}, 4},                                                // 7³
      {{28, 28}, 4},      {{64, 64, 64}, 8},                            // 8³; patches of 4 make 16³
      {{32, 32, 32}, 4},  {{48, 48, 48}, 8},                            // 6³ and 12³
      {{96, 96, 96}, 16}, {{128, 128, 128}, 16},                        // 6³ and 12³, 8³ and 16³
      {{16, 16, 16}, 2},  {{8, 8, 8}, 2},        {{128, 128, 64}, 16},  // 256 and 2,048
      {{64, 64, 3}, 2},   {{5, 7, 9, 11}, 2},    {{30, 30, 30}, 4}};    // a remainder is a patch too
  for (const auto& [volume, patch] : wanted)
    EXPECT_EQ(usual_patch(volume), patch) << volume.size() << " axes, the first of " << volume.front();
  EXPECT_EQ(grid_tokens({}, {{64, 64, 64}}).sizes, (std::vector<int64_t>{8, 8, 8}));
  EXPECT_EQ(grid_tokens(config_of({"patch.size=[4, 8, 16]"}), {{64, 64, 64}}).sizes,
            (std::vector<int64_t>{16, 8, 4}));
}

TEST(VolumePatches, AreNamedInTheConfig) {
  VisionModelConfig usual, own = config_of({"patch.size=4"}), none = config_of({"name=resnet18"});
  for (VisionModelConfig* config : {&usual, &own, &none}) config->choose_patch({{64, 64, 64}});
  EXPECT_EQ(usual.patch.size, std::vector<int64_t>{8});
  EXPECT_EQ(own.patch.size, std::vector<int64_t>{4});
  EXPECT_TRUE(none.patch.size.empty());
}

TEST(VisionModelConfig, TakesTheOldNamesOfModels) {
  const std::pair<const char*, const char*> names[] = {{"timesformer", "divided"},
                                                       {"mvit", "pooling-attention"}};
  for (const auto& [old_name, name] : names) {
    // Switching between token models keeps the options, also by a deprecated name.
    VisionModelConfig config = config_of({"width=24", "layers=3", std::string("name=") + old_name});
    EXPECT_EQ(config.name, name);
    EXPECT_EQ(config.width, 24);
    EXPECT_EQ(config.blocks, 3);
    VisionModelConfig today = config_of({"width=24", "layers=3", std::string("name=") + name});
    EXPECT_EQ(fields_of(config).to_toml(), fields_of(today).to_toml());
    VisionModelConfig saved;
    fields_of(saved).load_toml(fmt::format("name = '{}'\nwidth = 24\nblocks = 3", old_name), "saved");
    EXPECT_EQ(fields_of(saved).to_toml(), fields_of(today).to_toml());
  }
}

TEST(VisionModelConfig, PaperPresetIsThePapers) {
  const VisionModelConfig config = config_of({"preset=paper"});
  EXPECT_EQ(config.blocks, 6);
  EXPECT_EQ(config.attention.pooling, "sum");
  EXPECT_EQ(config.attention.combined(), "product");
  EXPECT_FALSE(config.head.norm);
  EXPECT_EQ(config_of({"preset=paper", "attention.combine=sum"}).attention.combined(), "mean");
  EXPECT_TRUE(config_of({"preset=release"}).head.norm);
  EXPECT_EQ(config_of({"preset=release", "attention.combine=sum"}).attention.combined(), "sum");
}

TEST(VisionModelConfig, NamesWhatDoesNotFit) {
  for (const std::string& name : names_of(vision_models()))
    EXPECT_EQ(rejection({"name=" + name}), name == "ensemble" ? "run.toml: ensemble.members is empty" : "")
        << name;
  for (const char* preset : {"default", "release", "paper"})
    EXPECT_EQ(rejection({std::string("preset=") + preset}), "") << preset;
  EXPECT_THAT(rejection({"patch.size=[4, 4]"}),
              HasSubstr("patch.size has 2 entries [4, 4], but the samples have 3"));
  EXPECT_THAT(rejection({"patch.size=29"}),
              HasSubstr("patch.size = 29 is larger than the 28 voxels along axis 0"));
  EXPECT_THAT(rejection({"patch.size=7"}), HasSubstr("power of 2"));
  EXPECT_THAT(rejection({"name=resnet18", "width=3"}), HasSubstr("width = 3 has no effect"));
  EXPECT_THAT(rejection({"name=pooling-attention", "attention.combine=sum"}),
              HasSubstr("it is an option of hot"));
  EXPECT_THAT(rejection({"name=resnet50"}, {{28, 28, 28}, 1, 2, true}), HasSubstr("does not support masks"));
  EXPECT_EQ(rejection({"name=resnet18", "resnet.convolution=acs"}, {{28, 28}, 1, 2, false}),
            "run.toml: resnet.convolution = \"acs\" is for volumes of 3 axes, but the samples have 2");
  EXPECT_THAT(rejection({"name=vit", "resnet.convolution=acs"}), HasSubstr("has no effect"));
  EXPECT_THAT(rejection({"attention.attend_modes=[3]"}), HasSubstr("modes 0 to 2"));
  EXPECT_THAT(rejection({"attention.kernel=none", "feed_forward=none"}), HasSubstr("empty blocks"));
}

}  // namespace
}  // namespace modewise::models
