// Every model trains on any device: forward, loss, backward, optimizer update and evaluation on the `meta`
// device, whose tensors have no memory, under a watch that reports each call with a tensor of another device
// (tests/device_watch.h).
//
// All registered models are tested, with each choice of each option of their config, so that new ones are
// included automatically.
//
// The test can fail: for `at::zeros(shape, at::kDouble)` without the tokens' device in nn/rotary.cpp it
// reports "aten::zeros gives a tensor [2, 1, 11, 1, 2] on cpu" for the transformer.

#include <ATen/core/grad_mode.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/log_softmax.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>

#include "modewise/core/error.h"
#include "modewise/models/captioning/captioner.h"
#include "modewise/models/captioning/config.h"
#include "modewise/models/class_ensemble.h"
#include "modewise/models/forecasting/ensemble.h"
#include "modewise/models/forecasting/forecaster.h"
#include "modewise/models/language_modeling/language_model.h"
#include "modewise/models/segmentation/config.h"
#include "modewise/models/segmentation/segmenter.h"
#include "modewise/models/series_classification/config.h"
#include "modewise/models/series_classification/series_classifier.h"
#include "modewise/models/text/masked_language_model.h"
#include "modewise/models/text/text_classifier.h"
#include "modewise/models/vision/config.h"
#include "modewise/models/vision/vision_classifier.h"
#include "modewise/nn/layers/dropout.h"
#include "modewise/nn/layers/move_module.h"
#include "modewise/ops/attention/attention_types.h"
#include "modewise/ops/training/language_loss.h"
#include "modewise/ops/training/sum_of_squares.h"
#include "modewise/tasks/captioning/loss.h"
#include "modewise/tasks/classification/class_loss.h"
#include "modewise/tasks/forecasting/task.h"
#include "modewise/tasks/segmentation/task.h"
#include "modewise/train/checkpoint/tensor_file.h"
#include "modewise/train/loop/optimizer.h"
#include "modewise/train/loop/weight_average.h"
#include "tests/device_watch.h"
#include "tests/error_of.h"

namespace modewise::tasks {
namespace {

constexpr int64_t kBatch = 3;

at::Tensor on_meta(at::IntArrayRef sizes, at::ScalarType type = at::kFloat) {
  return at::empty(sizes, at::TensorOptions(type).device(at::kMeta));
}

/// The config, and variants with each other choice of one option: names, flags, some dropout.
template <class Config>
std::vector<std::pair<std::string, Config>> variants(const Config& start) {
  std::vector<std::pair<std::string, Config>> out = {{"as it is", start}};
  const auto add = [&](size_t field, auto value) {
    Config config = start;
    const Fields fields = fields_of(config);
    const Field& chosen = fields.list()[field];
    *std::get<decltype(value)*>(chosen.value) = value;
    if (chosen.after) chosen.after();
    out.emplace_back(Fields::value_text(chosen).insert(0, chosen.path + " = "), std::move(config));
  };
  Config copy = start;
  const Fields fields = fields_of(copy);
  for (size_t i = 0; i < fields.list().size(); ++i) {
    const Field& field = fields.list()[i];
    if (field.path == "name") continue;
    if (std::holds_alternative<std::string*>(field.value))  // not a list of choices
      for (const std::string& choice : field.rule.one_of) add(i, choice);
    if (std::holds_alternative<bool*>(field.value)) {
      add(i, true);
      add(i, false);
    }
    if (field.path.ends_with("dropout")) add(i, 0.1);
  }
  return out;
}

/// Config of a small model: applies each setting that the model has and that is valid so far.
template <class Config, class Check>
void make_small(Config& config, std::initializer_list<const char*> settings, const Check& check) {
  for (const char* setting : settings) {
    Config next = config;
    fields_of(next).set(setting);
    try {
      check(next);
    } catch (const Error&) {
      continue;
    }
    config = next;
  }
}

/// Loss, backward, update and evaluation of a moved module; `losses` are used in turn.
void train_and_evaluate(torch::nn::Module& module, const std::vector<std::function<at::Tensor()>>& losses) {
  nn::move_module(module, at::kMeta);
  if (dynamic_cast<const nn::CpuModule*>(&module) != nullptr) return;  // it stays on the CPU
  nn::set_dropout_step(module, 1, 2);
  module.train();
  const DeviceWatch watch(at::kMeta);
  try {
    const std::vector<train::NamedTensor> parameters = train::trainable_parameters(module);
    train::Optimizer optimizer(parameters, {});
    train::WeightAverage average(parameters, train::module_tensors(module), 0.9);
    for (const auto& loss : losses) {
      const at::Tensor value = loss();
      EXPECT_EQ(value.dim(), 0);
      if (parameters.empty()) continue;
      value.backward();
      for (const train::NamedTensor& parameter : parameters) {
        EXPECT_TRUE(parameter.tensor.grad().defined()) << parameter.name;
        if (parameter.tensor.grad().defined()) ops::sum_of_squares(parameter.tensor.grad());
      }
      optimizer.step({0.1, 0.9}, 0.5);
      optimizer.clear_gradients();
      average.update(1);
    }
    average.swap();
    module.eval();
    const at::NoGradGuard no_grad;
    losses.front()();
  } catch (const std::exception& error) {
    ADD_FAILURE() << std::string_view(error.what()).substr(0, 400);
  }
  EXPECT_GT(watch.calls(), 0);
  EXPECT_EQ(fmt::format("{}", fmt::join(watch.faults(), "\n")), "");
}

/// Makes a model and trains it; skips invalid combinations of options, but the initial ones must be valid.
template <class Make, class Losses>
void try_model(const std::string& name, bool must_fit, const Make& make, const Losses& losses) {
  SCOPED_TRACE(name);
  decltype(make()) model;
  try {
    model = make();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::config) << error.what();
    EXPECT_FALSE(must_fit) << error.what();
    return;
  }
  train_and_evaluate(*model, losses(*model));
}

TEST(AnyDevice, EveryForecaster) {
  for (const std::string& name : models::names_of(models::forecasters()))
    for (const bool missing : {false, true})
      for (const int64_t quantiles : {0, 3}) {
        models::ForecasterConfig start;
        start.use_model(name);
        if (name == "ensemble")
          for (const int64_t lookback : {24, 12}) {
            models::EnsembleMember member;
            member.lookback = lookback;
            member.model.use_model(lookback == 24 ? "dlinear" : "repeat");
            start.ensemble.members.push_back(member.to_toml());
          }
        models::ForecastShape shape = {{2, 3}, {true, false}, 24, 5, quantiles, missing};
        if (missing && models::uses_future_covariates(models::row_of(models::forecasters(), name)))
          shape.known = 4, shape.known_modes = 1;
        make_small(start,
                   {"heads=2", "width=8", "hidden=8", "layers=2", "patch.stride=2", "patch.length=4",
                    "period=5", "dlinear.kernel=3", "window.cycle=3"},
                   [&](const auto& config) { models::validate(config, shape); });
        const auto losses = [&](models::Forecaster& model) {
          const auto observed = [&](int64_t steps) {
            return missing ? on_meta({kBatch, 2, 3, steps}, at::kBool) : at::Tensor();
          };
          const models::ForecastInput input = {
              on_meta({kBatch, 2, 3, 24}), observed(24), on_meta({kBatch}, at::kLong),
              shape.known > 0 ? on_meta({kBatch, 2, 4, 24 + 5}) : at::Tensor()};
          const at::Tensor evaluated = observed(5);
          std::vector<std::function<at::Tensor()>> out;
          ForecastOptions options;
          options.horizon = 5;
          if (quantiles > 0) options.quantiles = {0.1, 0.5, 0.9};
          for (const char* loss : {"mse", "mae", "huber", "quantile"}) {
            options.loss = loss;
            if (options.probabilistic() != (quantiles > 0)) continue;
            out.push_back([&model, input, evaluated, options] {
              return forecast_loss(model.forward(input), on_meta({kBatch, 2, 3, 5}), evaluated, options);
            });
          }
          return out;
        };
        for (const auto& [what, config] : variants(start)) {
          try_model(
              fmt::format("{}, {}, missing {}, quantiles {}", name, what, missing, quantiles),
              what == "as it is", [&, &config = config] { return models::make_forecaster(config, shape, 1); },
              losses);
        }
      }
}

std::vector<std::function<at::Tensor()>> class_losses(
    const std::function<at::Tensor(const at::Tensor&, const at::Tensor&)>& logits, const at::Tensor& values,
    const at::Tensor& valid, torch::nn::Module& model) {
  ClassLossOptions options;
  options.class_weights = "balanced", options.label_smoothing = 0.1, options.mixup = 0.3;
  const auto loss = std::make_shared<ClassLoss>(options, std::vector<int64_t>{3, 5});
  loss->join(model);
  return {[=] { return (*loss)(values, valid, on_meta({kBatch}, at::kLong), logits, 1, 2); }};
}

/// Trains an ensemble.
template <class Config>
std::vector<std::string> members_called(const std::string& first, const std::string& second) {
  std::vector<std::string> members;
  for (const std::string& name : {first, second}) {
    models::ClassMember<Config> member;
    fields_of(member).set("model.name=" + name);
    members.push_back(member.to_toml());
  }
  return members;
}

TEST(AnyDevice, EveryVolumeClassifier) {
  for (const std::string& name : models::names_of(models::vision_models()))
    for (const bool missing : {false, true}) {
      models::VisionModelConfig start;
      start.use_model(name);
      if (name == "ensemble")
        start.ensemble.members = members_called<models::VisionModelConfig>("hot", "vit");
      const models::VisionShape shape = {{8, 8, 8}, 2, 2, missing};
      make_small(start, {"heads=2", "width=8", "hidden=8", "layers=2", "patch.size=4", "resnet.width=4"},
                 [&](const auto& config) { models::validate(config, shape); });
      const auto losses = [&](models::VisionClassifier& model) {
        return class_losses(
            [&](const at::Tensor& values, const at::Tensor& valid) {
              return model.forward({values, valid});
            },
            on_meta({kBatch, 8, 8, 8, 2}), missing ? on_meta({kBatch, 8, 8, 8}, at::kBool) : at::Tensor(),
            model);
      };
      for (const auto& [what, config] : variants(start)) {
        try_model(
            fmt::format("{}, {}, missing {}", name, what, missing),
            what == "as it is" && (!missing || models::is_grid_token_model(name)),
            [&, &config = config] { return models::make_vision_classifier(config, shape, 1); }, losses);
      }
    }
}

TEST(AnyDevice, EverySegmenter) {
  for (const std::string& name : models::names_of(models::segmenters()))
    for (const int64_t times : {1, 2})
      for (const bool missing : {false, true}) {
        models::SegmenterConfig start;
        start.use_model(name);
        const models::SegmentationShape shape = {
            .times = times, .bands = 3, .classes = 2, .window = 32, .missing = missing};
        make_small(start, {"heads=2", "width=8", "hidden=8", "layers=2", "patch.size=8", "unet.width=4"},
                   [&](const auto& config) { models::validate(config, shape); });
        const auto losses = [&](models::Segmenter& model) -> std::vector<std::function<at::Tensor()>> {
          const models::SegmentationInput input = {
              on_meta({kBatch, times, 32, 32, 3}),
              missing ? on_meta({kBatch, times, 32, 32}, at::kBool) : at::Tensor()};
          return {[&model, input] {
            return segment_loss(model.forward(input), on_meta({kBatch, 32, 32}, at::kLong), on_meta({2}));
          }};
        };
        for (const auto& [what, config] : variants(start)) {
          try_model(
              fmt::format("{}, {}, {} dates, missing {}", name, what, times, missing), what == "as it is",
              [&, &config = config] { return models::make_segmenter(config, shape, 1); }, losses);
        }
      }
}

TEST(AnyDevice, EveryClassifierOfSeries) {
  for (const std::string& name : models::names_of(models::series_models()))
    for (const bool padded : {false, true}) {
      models::SeriesModelConfig start;
      start.name = name;
      if (name == "ensemble")
        start.ensemble.members = members_called<models::SeriesModelConfig>("dlinear", "resnet");
      const models::SeriesShape shape = {2, 23, 2, padded, 6};
      make_small(
          start,
          {"heads=2", "width=8", "hidden=8", "patch.length=4", "patch.stride=2", "convolution.width=4"},
          [&](const auto& config) { models::validate(config, shape); });
      const auto losses = [&](models::SeriesClassifier& model) {
        return class_losses(
            [&](const at::Tensor& values, const at::Tensor& valid) {
              return model.forward({values, valid});
            },
            on_meta({kBatch, 2, 23}), padded ? on_meta({kBatch, 23}, at::kBool) : at::Tensor(), model);
      };
      for (const auto& [what, config] : variants(start)) {
        try_model(
            fmt::format("{}, {}, padded {}", name, what, padded), what == "as it is",
            [&, &config = config] { return models::make_series_classifier(config, shape, 1); }, losses);
      }
    }
}

TEST(AnyDevice, EveryCaptioner) {
  for (const std::string& name : models::names_of(models::captioners()))
    for (const int64_t features : {0, 5}) {
      models::CaptionModelConfig start;
      start.name = name;
      start.max_words = 6;
      start.encoder.widths = {4, 4};
      start.decoder.width = 8;
      const models::CaptionShape shape = {
          .channels = 3, .height = 8, .width = 12, .vocabulary = 11, .features = features};
      const auto losses = [&](models::Captioner& model) -> std::vector<std::function<at::Tensor()>> {
        const at::Tensor images =
            features > 0 ? on_meta({kBatch, 8, 12, features}) : on_meta({kBatch, 3, 8, 12});
        return {[&model, images] {
          const auto tokens = [] { return on_meta({2 * kBatch, 5}, at::kLong); };  // two captions per image
          return caption_loss(model.logits(model.encode(images), tokens()), tokens(), 0.1);
        }};
      };
      for (const auto& [what, config] : variants(start)) {
        try_model(
            fmt::format("{}, {}, {} features", name, what, features), what == "as it is",
            [&, &config = config] { return models::make_captioner(config, shape, 1); }, losses);
      }
    }
}

/// A small config of each attention type of language models.
std::vector<models::LanguageModelConfig> language_configs() {
  models::LanguageModelConfig plain;
  plain.vocabulary = 11, plain.width = 8, plain.layers = 2, plain.heads = 4, plain.kv_heads = 2;
  plain.context = 16, plain.hidden = 8;
  std::vector<models::LanguageModelConfig> out;
  for (const ops::AttentionType& form : ops::attention_types()) {
    if (form.memory == nullptr) continue;  // it is not causal
    out.push_back(plain);
    models::LanguageAttentionConfig& attention = out.back().attention;
    attention.type = form.name;
    if (form.fold) attention.fold = {0, 2, 2};
    if (form.window && !form.latents) attention.window = 5;
    if (form.sinks) attention.sinks = 2;
  }
  return out;
}

TEST(AnyDevice, EveryLanguageModel) {
  EXPECT_GE(language_configs().size(), 7U);
  for (const models::LanguageModelConfig& start : language_configs()) {
    const auto losses = [&](models::LanguageModel& model) -> std::vector<std::function<at::Tensor()>> {
      const auto tokens = [] { return on_meta({kBatch, 13}, at::kLong); };
      return {[&model, tokens] {
        return ops::language_loss(model.hidden(tokens()), model.head_weight(), tokens());
      }};
    };
    for (const auto& [what, config] : variants(start)) {
      try_model(
          fmt::format("{}, {}", start.attention.type, what), what == "as it is",
          [&, &config = config] { return models::make_language_model(config, 1); }, losses);
    }
  }
}

/// Texts of 13 tokens, padded, with two token types; or without padding and types.
models::TextInput texts(bool padded) {
  const auto tokens = [&](at::ScalarType type) { return on_meta({kBatch, 13}, type); };
  if (!padded) return {tokens(at::kLong), std::nullopt, {}};
  return {tokens(at::kLong), tokens(at::kBool), tokens(at::kLong)};
}

models::TextModelConfig small_text_config() {
  models::TextModelConfig out;
  out.vocabulary = 11, out.width = 8, out.layers = 2, out.heads = 2, out.positions = 16;
  return out;
}

TEST(AnyDevice, EveryTextClassifierAndRegression) {
  for (const bool padded : {false, true})
    for (const auto& [what, config] : variants(small_text_config())) {
      const std::string name = fmt::format("{}, padded {}", what, padded);
      const auto classes = [&](models::TextClassifier& model) {
        return class_losses(
            [&model, padded](const at::Tensor&, const at::Tensor&) { return model.forward(texts(padded)); },
            on_meta({kBatch, 13}), {}, model);
      };
      try_model(
          name, what == "as it is",
          [&, &config = config] { return models::make_text_classifier(config, 2, 1); }, classes);
      const auto squares = [&](models::TextClassifier& model) -> std::vector<std::function<at::Tensor()>> {
        return {[&model, padded] {
          return (model.forward(texts(padded)).squeeze(1) - on_meta({kBatch})).square().mean();
        }};
      };
      try_model(
          name + ", regression", what == "as it is",
          [&, &config = config] { return models::make_text_classifier(config, 1, 1); }, squares);
    }
}

TEST(AnyDevice, EveryMaskedLanguageModel) {
  for (const auto& [what, config] : variants(small_text_config())) {
    const auto losses = [&](models::MaskedLanguageModel& model) -> std::vector<std::function<at::Tensor()>> {
      return {[&model] {  // the positions of masked tokens are found on the CPU
        const at::Tensor rows =
            model.hidden(texts(false)).flatten(0, 1).index_select(0, on_meta({7}, at::kLong));
        return at::log_softmax(model.logits(rows), -1).gather(1, on_meta({7, 1}, at::kLong)).mean().neg();
      }};
    };
    try_model(
        what, what == "as it is",
        [&, &config = config] { return models::make_masked_language_model(config, 1); }, losses);
  }
}

TEST(AnyDevice, EveryCaptionThatGoesOn) {
  for (const std::string& name : models::names_of(models::captioners())) {
    SCOPED_TRACE(name);
    models::CaptionModelConfig config;
    config.name = name;
    config.max_words = 6, config.encoder.widths = {4, 4}, config.decoder.width = 8;
    const auto model = models::make_captioner(config, {3, 8, 12, 11}, 1);
    nn::move_module(*model, at::kMeta);
    model->eval();
    const at::NoGradGuard no_grad;
    const DeviceWatch watch(at::kMeta);
    const at::Tensor cells = model->encode(on_meta({kBatch, 3, 8, 12}));
    models::CaptionState state = model->begin(cells);
    for (const int64_t captions : {kBatch, 2 * kBatch, kBatch}) {  // of beams
      state.reorder(on_meta({captions}, at::kLong));
      EXPECT_EQ(model->step(state, on_meta({captions}, at::kLong)).sizes(), at::IntArrayRef({captions, 11}));
    }
    model->looked(cells, on_meta({kBatch, 4}, at::kLong));
    EXPECT_EQ(fmt::format("{}", fmt::join(watch.faults(), "\n")), "");
  }
}

TEST(AnyDevice, EveryTextThatGoesOn) {
  for (const models::LanguageModelConfig& config : language_configs()) {
    SCOPED_TRACE(config.attention.type);
    const auto model = models::make_language_model(config, 1);
    nn::move_module(*model, at::kMeta);
    const at::NoGradGuard no_grad;
    const DeviceWatch watch(at::kMeta);
    std::vector<ops::AttentionCache> caches = model->new_cache();
    for (const int64_t tokens : {70, 3, 1})  // the first chunk is long enough for one attention call
      EXPECT_EQ(model->step(on_meta({kBatch, tokens}, at::kLong), caches).sizes(),
                at::IntArrayRef({kBatch, config.vocabulary}));
    EXPECT_EQ(fmt::format("{}", fmt::join(watch.faults(), "\n")), "");
  }
}

TEST(AnyDevice, TheWatchNamesACallThatLeavesTheDevice) {
  const at::Tensor x = on_meta({7});
  const DeviceWatch watch(at::kMeta);
  const at::Tensor number = at::empty({}, at::kFloat);  // as libtorch converts 2 in x * 2
  EXPECT_TRUE((x * number).is_meta());
  EXPECT_TRUE(watch.faults().empty());
  const at::Tensor lost = at::arange(7);
  EXPECT_EQ(exception_of<c10::Error>([&] { x + lost; }),
            "Expected all tensors to be on the same device, but found at least two devices, meta and cpu!");
  EXPECT_THAT(watch.faults(), testing::IsSupersetOf({"aten::arange gives a tensor [7] on cpu",
                                                     "aten::add takes a tensor [7] on cpu"}));
}

}  // namespace
}  // namespace modewise::tasks
