// Loading and saving text encoders: every attention type, starts from pretrained models, errors of invalid
// folders.

#include "modewise/models/text/files.h"

#include <ATen/Parallel.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/ones.h>
#include <gtest/gtest.h>

#include <functional>

#include "modewise/core/error.h"
#include "modewise/text/byte_tokenizer.h"
#include "tests/scratch_folder.h"

namespace modewise::models {
namespace {

TextModelConfig small_text_config(const std::string& kind, const std::string& type = "full") {
  TextModelConfig c;
  c.kind = kind;
  c.vocabulary = 29;
  c.width = 12;
  c.hidden = 20;
  c.layers = 2;
  c.heads = 3;
  c.positions = 17;
  c.stddev = 0.5;
  c.attention.type = type;
  if (type == "axial" || type == "pooled" || type == "summary") c.attention.fold = {0, 5};
  if (type == "nystroemformer") c.attention.own["landmarks"] = 4, c.attention.own["kernel"] = 3;
  if (type == "reformer") c.attention.own["chunk"] = 4, c.attention.own["rounds"] = 2;
  return c;
}

TextInput two_texts() {
  TextInput input;
  input.ids = at::arange(34, at::kLong).mul(11).remainder(27).add(2).view({2, 17});
  input.mask = at::ones({2, 17}, at::kBool);
  input.mask->select(0, 1).narrow(0, 9, 8).fill_(false);
  return input;
}

void expect_same_parameters(torch::nn::Module& a, torch::nn::Module& b) {
  const auto other = b.named_parameters();
  ASSERT_EQ(a.named_parameters().size(), other.size());
  for (const auto& item : a.named_parameters())
    EXPECT_TRUE(at::equal(item.value(), other[item.key()])) << item.key();
}

std::string message_of(ErrorKind kind, const std::function<void()>& run) {
  try {
    run();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind) << error.what();
    return error.what();
  }
  return "";
}

TEST(TextFiles, EveryFormComesBackByTheBit) {
  for (const char* kind : {"bert", "roberta"})
    for (const nn::SequenceConstructor& one : nn::sequence_constructors()) {
      const std::string type(one.name);
      const auto model = make_text_classifier(small_text_config(kind, type), 3, 5);
      const ScratchFolder scratch;
      save_text_model(scratch / "m", *model,
                      {.labels = {"yes", "no", "?"}, .tokenizer = std::make_shared<text::ByteTokenizer>()});
      const auto back = load_text_classifier(scratch / "m");
      EXPECT_EQ(back.file.labels, (std::vector<std::string>{"yes", "no", "?"}));
      EXPECT_EQ(back.file.config.attention.type, type);
      EXPECT_EQ(back.file.config.attention.fold, model->config().attention.fold);
      EXPECT_EQ(back.file.config.attention.own["chunk"], model->config().attention.own["chunk"]);
      EXPECT_EQ(back.file.config.positions, 17);
      EXPECT_EQ(back.tokenizer->name(), "bytes");
      EXPECT_EQ(back.notes, std::vector<std::string>());
      expect_same_parameters(*model, *back.model);
      model->eval();
      const at::Tensor logits = model->forward(two_texts());
      EXPECT_TRUE(logits.isfinite().all().item<bool>()) << type;
      EXPECT_TRUE(at::equal(logits, back.model->forward(two_texts()))) << type;
      EXPECT_EQ(message_of(ErrorKind::cannot_create, [&] { save_text_model(scratch / "m", *model); }),
                scratch.path("m") + " already contains a model");
    }
}

TEST(TextFiles, MaskedModelsComeBackByTheBit) {
  for (const char* kind : {"bert", "roberta"}) {
    const auto model = make_masked_language_model(small_text_config(kind), 5);
    const ScratchFolder scratch;
    save_text_model(scratch / "m", *model);
    const auto back = load_masked_language_model(scratch / "m");
    expect_same_parameters(*model, *back.model);
    EXPECT_EQ(message_of(ErrorKind::data, [&] { load_text_classifier(scratch / "m"); }),
              scratch.path("m") + ": the architecture is " +
                  (std::string(kind) == "bert" ? "BertForMaskedLM" : "RobertaForMaskedLM") +
                  "; expected a classifier (…ForSequenceClassification)");
  }
}

TEST(TextFiles, Bfloat16RoundsOnce) {
  const auto model = make_text_classifier(small_text_config("bert"), 1, 5);
  const ScratchFolder scratch;
  save_text_model(scratch / "m", *model, {.regression = true, .dtype = "bfloat16"});
  const auto back = load_text_classifier(scratch / "m");
  EXPECT_TRUE(back.file.regression);
  const auto parameters = back.model->named_parameters();
  for (const auto& item : model->named_parameters())
    EXPECT_TRUE(at::equal(item.value().to(at::kBFloat16).to(at::kFloat), parameters[item.key()]));
}

TEST(TextFiles, AClassifierStartsFromAMaskedModel) {
  const auto masked = make_masked_language_model(small_text_config("bert"), 5);
  const ScratchFolder scratch;
  save_text_model(scratch / "m", *masked);
  TextModelConfig wanted;
  wanted.from = scratch.path("m");
  wanted.dropout = 0.3;
  const TextModelConfig config = started_text_config(wanted);
  EXPECT_EQ(config.width, 12);
  EXPECT_EQ(config.vocabulary, 29);
  EXPECT_EQ(config.dropout, 0.3);
  EXPECT_EQ(config.head_dropout, 0.3);
  const auto model = make_text_classifier(config, 2, 7), fresh = make_text_classifier(config, 2, 7);
  const std::vector<std::string> notes = take_text_weights(*model, wanted.from);
  EXPECT_EQ(notes, (std::vector<std::string>{
                       "the pooler is newly initialized: BertForMaskedLM has no matching one",
                       "the head is newly initialized: BertForMaskedLM has no matching one",
                       "ignored 5 tensors that this model does not use: cls.predictions.bias, …"}));
  const auto from = masked->named_parameters(), started = fresh->named_parameters();
  for (const auto& item : model->named_parameters()) {
    const bool taken = item.key().starts_with("encoder.") && !item.key().starts_with("encoder.pooler");
    EXPECT_TRUE(at::equal(item.value(), taken ? from[item.key()] : started[item.key()])) << item.key();
  }
}

TEST(TextFiles, FullAttentionStartsAnotherForm) {
  const auto masked = make_masked_language_model(small_text_config("roberta"), 5);
  const ScratchFolder scratch;
  save_text_model(scratch / "m", *masked);
  TextModelConfig wanted;
  wanted.from = scratch.path("m");
  wanted.attention.type = "summary";
  wanted.attention.fold = {0, 5};
  const auto model = make_masked_language_model(started_text_config(wanted), 7);
  EXPECT_EQ(take_text_weights(*model, wanted.from),
            (std::vector<std::string>{"2 weights of the attention type summary are newly initialized"}));
  EXPECT_TRUE(at::equal(model->named_parameters()["encoder.layers.1.attention.key_proj.weight"],
                        masked->named_parameters()["encoder.layers.1.attention.key_proj.weight"]));
}

TEST(TextFiles, ReformerLeavesTheKeysOut) {
  const auto masked = make_masked_language_model(small_text_config("bert"), 5);
  const ScratchFolder scratch;
  save_text_model(scratch / "m", *masked);
  TextModelConfig wanted;
  wanted.from = scratch.path("m");
  wanted.attention.type = "reformer";
  const auto model = make_masked_language_model(started_text_config(wanted), 7);
  EXPECT_EQ(take_text_weights(*model, wanted.from),
            (std::vector<std::string>{"ignored 4 tensors that this model does not use: "
                                      "bert.encoder.layer.0.attention.self.key.bias, …"}));
}

TEST(TextFiles, AFolderWithoutAModelIsNoInput) {
  const ScratchFolder scratch;
  EXPECT_EQ(message_of(ErrorKind::no_input, [&] { read_text_config(scratch.path()); }),
            scratch.path().string() + " contains no model: neither config.json nor model/config.json exists");
}

TEST(TextModels, FirstWeightsAreBertsAndOfTheSeedAlone) {
  TextModelConfig config = small_text_config("bert");
  config.stddev = 0.02;
  const auto a = make_text_classifier(config, 2, 5), b = make_text_classifier(config, 2, 5);
  expect_same_parameters(*a, *b);
  for (const auto& item : a->named_parameters()) {
    const bool matrix = item.value().dim() == 2 && item.value().numel() > 100;
    const float largest = item.value().abs().max().item<float>();
    EXPECT_EQ(largest == 0, item.key().ends_with("bias")) << item.key();
    const float stddev = matrix ? item.value().std().item<float>() : 0.02F;
    EXPECT_NEAR(stddev, 0.02, 0.004) << item.key();
  }
}

TEST(TextModels, PositionsMayBeginAsWaves) {
  TextModelConfig config = small_text_config("bert");
  config.stddev = 0.25;
  const auto drawn = make_masked_language_model(config, 5);
  config.first_positions = "sinusoid";
  const auto waves = make_masked_language_model(config, 5);
  const auto theirs = drawn->named_parameters();
  for (const auto& item : waves->named_parameters()) {
    if (item.key() != "encoder.positions.weight") {
      EXPECT_TRUE(at::equal(item.value(), theirs[item.key()])) << item.key();
      continue;
    }
    const at::Tensor table = item.value().detach();
    const auto width = static_cast<double>(table.size(1));
    for (int64_t p = 0; p < table.size(0); ++p)
      for (int64_t i = 0; i < table.size(1); i += 2) {
        const double angle =
            static_cast<double>(p) * std::exp(-std::log(1e4) * static_cast<double>(i) / width);
        EXPECT_NEAR(table[p][i].item<double>(), 0.25 * std::sqrt(2) * std::sin(angle), 1e-6);
        EXPECT_NEAR(table[p][i + 1].item<double>(), 0.25 * std::sqrt(2) * std::cos(angle), 1e-6);
      }
  }
  config.first_positions = "waves";
  EXPECT_EQ(message_of(ErrorKind::config, [&] { make_masked_language_model(config, 5); }),
            "model: position_init must be one of normal, sinusoid, got 'waves'");
}

TEST(TextModels, GradientsAreTheSameBitsForAnyNumberOfThreads) {
  const int before = at::get_num_threads();
  for (const char* kind : {"bert", "roberta"})
    for (const bool masked : {false, true}) {
      std::vector<at::Tensor> first;
      for (const int threads : {1, 2, 3, 4}) {
        at::set_num_threads(threads);
        const TextModelConfig config = small_text_config(kind);
        const auto classifier = masked ? nullptr : make_text_classifier(config, 3, 7);
        const auto words = masked ? make_masked_language_model(config, 7) : nullptr;
        torch::nn::Module& model =
            masked ? static_cast<torch::nn::Module&>(*words) : static_cast<torch::nn::Module&>(*classifier);
        nn::set_dropout_step(model, 7, 3);
        const at::Tensor out =
            masked ? words->logits(words->hidden(two_texts())) : classifier->forward(two_texts());
        (out * at::arange(out.numel(), at::kFloat).sin().view(out.sizes())).sum().backward();
        std::vector<at::Tensor> all = {out.detach()};
        for (const at::Tensor& parameter : model.parameters()) all.push_back(parameter.grad());
        if (first.empty()) first = all;
        for (size_t i = 0; i < all.size(); ++i)
          EXPECT_TRUE(at::equal(all[i], first[i])) << i << " " << threads;
      }
    }
  at::set_num_threads(before);
}

TEST(TextModels, PaddingChangesNothing) {
  for (const char* kind : {"bert", "roberta"}) {
    const auto model = make_text_classifier(small_text_config(kind), 3, 5);
    model->eval();
    TextInput input = two_texts();
    const int64_t padding = model->config().padding_id;
    input.ids = input.ids.masked_fill(input.mask->logical_not(), padding);
    const at::Tensor together = model->forward(input);
    TextInput alone;
    alone.ids = input.ids.narrow(0, 1, 1).narrow(1, 0, 9).contiguous();
    EXPECT_LT((model->forward(alone)[0] - together[1]).abs().max().item<float>(), 1e-5) << kind;
    if (std::string(kind) == "roberta") continue;  // roberta numbers non-padding tokens
    TextInput other = input;
    other.ids = input.ids.masked_fill(input.mask->logical_not(), 7);
    EXPECT_TRUE(at::equal(model->forward(other), together));
  }
}

TEST(TextModels, AttentionSumsToOneAndLeavesPaddingOut) {
  const auto model = make_text_classifier(small_text_config("bert"), 3, 5);
  model->eval();
  const AttentionView view = model->attention(two_texts());
  EXPECT_EQ(view.sizes, (std::vector<int64_t>{17}));
  ASSERT_EQ(view.full.size(), 2);
  EXPECT_EQ(view.full[0].sizes().vec(), (std::vector<int64_t>{2, 3, 17, 17}));
  EXPECT_LT((view.full[1].sum(-1) - 1).abs().max().item<float>(), 1e-5);
  EXPECT_EQ(view.full[1][1].narrow(-1, 9, 8).abs().max().item<float>(), 0);
}

}  // namespace
}  // namespace modewise::models
