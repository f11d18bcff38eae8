// Windows of perplexity conventions against Python, consistent metrics, changed models, passkeys, configs.

#include <ATen/core/grad_mode.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/tensor.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numbers>
#include <set>

#include "modewise/core/error.h"
#include "modewise/core/file.h"
#include "modewise/data/token_set.h"
#include "modewise/tasks/language_modeling/config.h"
#include "modewise/tasks/language_modeling/evaluate.h"
#include "modewise/tasks/language_modeling/passkey.h"
#include "modewise/text/load_tokenizer.h"
#include "tests/error_of.h"
#include "tests/logged.h"
#include "tests/scratch_folder.h"

namespace modewise::tasks {
namespace {

TEST(ScoredWindows, AsYarnLmEvalAndLlamaCpp) {
  const auto cases =
      nlohmann::json::parse(read_file(MODEWISE_SOURCE_DIR "/tests/tasks/vectors/windows.json"));
  for (const auto& one : cases) {
    PerplexityOptions options;
    options.convention = one["convention"];
    options.length = one["length"];
    options.stride = one["stride"];
    const bool prefix = one["prefix"];
    const auto wanted = one["windows"];
    std::vector<ScoredWindow> windows;
    if (!wanted.empty())
      windows = scored_windows(options, {one["tokens"].get<int64_t>()}, prefix);
    else
      EXPECT_EQ(
          error_of(ErrorKind::data, [&] { scored_windows(options, {one["tokens"].get<int64_t>()}, prefix); }),
          fmt::format("the text is too short for a window of {} tokens", options.length))
          << one;
    ASSERT_EQ(windows.size(), wanted.size()) << one;
    for (size_t i = 0; i < windows.size(); ++i) {
      const ScoredWindow& window = windows[i];
      const int64_t inputs = window.end - window.begin + (window.prefix ? 1 : 0) - 1;
      EXPECT_EQ(inputs, wanted[i]["inputs"][1].get<int64_t>()) << one;
      if (window.prefix) {
        EXPECT_EQ(wanted[i]["inputs"][0].get<int64_t>(), -1) << one;
      }
      if (!window.prefix) {
        EXPECT_EQ(window.begin, wanted[i]["inputs"][0].get<int64_t>()) << one;
      }
      EXPECT_EQ(window.end - window.scored, wanted[i]["targets"][0].get<int64_t>()) << one;
      EXPECT_EQ(window.scored, wanted[i]["targets"][1].get<int64_t>()) << one;
    }
  }
}

TEST(ScoredWindows, SpreadPredictsTheSameTokensAtEveryLength) {
  PerplexityOptions options;
  options.convention = "spread";
  options.stride = 4;
  options.windows = 7;
  options.longest = 32;
  std::vector<int64_t> ends;
  for (const int64_t length : {8, 16, 32}) {
    options.length = length;
    std::vector<int64_t> here;
    for (const ScoredWindow& window : scored_windows(options, {20, 100, 33, 70}, true)) {
      EXPECT_EQ(window.end - window.begin, length + 1);
      EXPECT_GE(window.begin, 0);
      EXPECT_EQ(window.scored, 4);
      here.push_back(window.end);
    }
    EXPECT_EQ(here.size(), 7u);
    if (!ends.empty()) {
      EXPECT_EQ(here, ends);
    }
    ends = here;
  }
  EXPECT_EQ(error_of(ErrorKind::data,
                     [&] {
                       scored_windows(options, {20, 32}, true);
                     }),
            "no document has the 33 tokens that a window of 32 and its target need");
}

class LanguageFiles : public testing::Test {
 protected:
  std::string write(const std::string& name, const std::string& text) const {
    return folder_.write(name, text);
  }
  static LanguageSource small_model(const std::string& type = "full") {
    models::LanguageModelConfig config;
    config.vocabulary = 257;
    config.width = 16;
    config.layers = 2;
    config.heads = 2;
    config.context = 16;
    config.attention.type = type;
    if (type == "window") config.attention.window = 5;
    return {"small", models::make_language_model(config, 3), text::load_tokenizer("bytes"), nullptr};
  }
  ScratchFolder folder_;
};

TEST_F(LanguageFiles, ConventionsAgreeWhereTheyPredictTheSame) {
  std::string text;
  for (int i = 0; i < 60; ++i) text += fmt::format("line {} ", i * i);
  LanguageEvaluateOptions options;
  options.data = write("a.txt", text);
  options.lengths = {std::ssize(text) + 1};
  options.conventions = {"sliding", "rolling", "stream"};
  for (const char* type : {"full", "window", "summary", "axial"}) {
    const auto json = evaluate_language(small_model(type), options);
    const double wanted = json["results"][0]["loss"];
    for (const auto& one : json["results"]) {
      EXPECT_NEAR(one["loss"].get<double>(), wanted, 1e-5) << type << one;
      EXPECT_EQ(one["tokens"].get<int64_t>(), std::ssize(text));
      EXPECT_EQ(one["bytes"].get<int64_t>(), std::ssize(text));
      EXPECT_NEAR(one["bits_per_byte"].get<double>(), wanted / std::numbers::ln2, 1e-5);
      EXPECT_NEAR(one["byte_perplexity"].get<double>(), one["perplexity"].get<double>(), 1e-3);
      EXPECT_EQ(one["words"].get<int64_t>(),
                121);  // the text ends with a space: one empty word, as Python splits
    }
  }
}

TEST_F(LanguageFiles, ChangedModelsKeepTheirWeights) {
  const LanguageSource source = small_model("full");
  const models::LanguageModelConfig window =
      changed_config(source.model->config(), {"attention.type=window", "attention.window=1000"});
  const auto remade = remade_model(*source.model, window);
  std::vector<int64_t> ids;
  for (int64_t i = 0; i < 40; ++i) ids.push_back(i * 7 % 257);
  const at::Tensor tokens = at::tensor(ids).unsqueeze(0);
  const at::NoGradGuard no_grad;
  EXPECT_LT((remade->forward(tokens) - source.model->forward(tokens)).abs().max().item<double>(), 1e-5);
  LanguageEvaluateOptions stretched;
  stretched.changes = {"rope.scaling=linear"};
  stretched.stretch = true;
  EXPECT_EQ(evaluation_config(source.model->config(), stretched, 64).rope.scaling.factor, 4);
  EXPECT_EQ(evaluation_config(source.model->config(), stretched, 8).rope.scaling.kind, "none");
}

TEST_F(LanguageFiles, AScalingThatIsAskedForChangesSomething) {
  const models::LanguageModelConfig plain = small_model("full").model->config();
  const auto message = [&](const std::vector<std::string>& changes) {
    try {
      changed_config(plain, changes);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(message({"rope.scaling=linear"}),
            "model: rope.scaling = \"linear\" with rope.factor = 1 has no effect: set rope.factor to the "
            "context length relative to the trained one, such as rope.factor = 4");
  EXPECT_EQ(
      message({"rope.factor=2"}),
      "model: rope.factor = 2 has no effect with rope.scaling = \"none\": set rope.scaling to linear, ntk, "
      "yarn or llama3");
  EXPECT_EQ(message({"rope.scaling=yarn", "rope.gain=1.5"}), "");
  EXPECT_EQ(message({"rope.scaling=linear", "rope.factor=2"}), "");
  // A file may have a scaling factor of 1; it is tested elsewhere.
  models::LanguageModelConfig stretched = plain;
  stretched.rope.scaling.kind = "linear";
  EXPECT_EQ(changed_config(stretched, {"attention.type=window", "attention.window=5"}).rope.scaling.kind,
            "linear");
}

// A run from before rope.level_lengths keeps its function; a new scaling uses the current definition.
TEST_F(LanguageFiles, RunsOfEarlierVersionsCountLengthsInTokens) {
  const std::string yarn =
      "[data]\npath = \"recall\"\n[model.rope]\nscaling = \"yarn\"\nfactor = 1\noriginal_length = 64\n";
  write("manifest.json", "{}");
  const models::LanguageModelConfig old = load_language_config({write("config.toml", yarn)}).model;
  EXPECT_FALSE(old.rope.level_lengths);
  EXPECT_TRUE(
      load_language_config({write("new.toml", yarn), {"model.rope.factor=2"}}).model.rope.level_lengths);
  EXPECT_FALSE(changed_config(old, {"rope.factor=2"}).rope.level_lengths);
  EXPECT_TRUE(changed_config(old, {"rope.scaling=llama3", "rope.factor=2"}).rope.level_lengths);
}

TEST_F(LanguageFiles, ADeeperFoldKeepsTrainedLatentsAndSaysWhatWasMadeUp) {
  models::LanguageModelConfig config = small_model("summary").model->config();
  config.attention.fold = {0, 3, 4};
  config.attention.latent_stddev = 2;
  const auto model = models::make_language_model(config, 3);
  const Logged logged;
  const auto remade = remade_model(*model, changed_config(model->config(), {"attention.fold=[0,1000,3,4]"}));
  const std::string name = "model.layers.1.self_attn.latents";
  EXPECT_TRUE(at::equal(remade->named_parameters()[name].narrow(0, 0, 2), model->named_parameters()[name]));
  EXPECT_NE(logged.text().find("levels 1 to 2 are kept, level 3 is initialized as mean pooling (zero)"),
            std::string::npos)
      << logged.text();
  const std::vector<int64_t> ids = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3};
  const at::Tensor tokens = at::tensor(ids).unsqueeze(0);
  const at::NoGradGuard no_grad;
  EXPECT_LT((remade->forward(tokens) - model->forward(tokens)).abs().max().item<double>(), 1e-5);
}

TEST_F(LanguageFiles, PasskeyPromptsHaveTheirLengthAndNumber) {
  const auto tokenizer = text::load_tokenizer("bytes");
  PasskeyOptions options;
  std::vector<int64_t> places;
  for (const double depth : {0.0, 0.5, 1.0}) {
    const PasskeyPrompt prompt = make_passkey_prompt(*tokenizer, options, 700, depth, 1);
    EXPECT_EQ(prompt.tokens.size(), 700u);
    const std::string text = tokenizer->decode(prompt.tokens);
    const size_t at = text.find(prompt.number);
    ASSERT_NE(at, std::string::npos);
    places.push_back(static_cast<int64_t>(at));
    EXPECT_EQ(make_passkey_prompt(*tokenizer, options, 700, depth, 1).number, prompt.number);
    EXPECT_NE(make_passkey_prompt(*tokenizer, options, 700, depth, 2).number, prompt.number);
  }
  // After the introduction, half way, and before the question.
  EXPECT_LT(places[0], 170);
  EXPECT_NEAR(static_cast<double>(places[1]), static_cast<double>(places[0] + places[2]) / 2, 40);
  EXPECT_GT(places[2], 600);
  EXPECT_EQ(error_of(ErrorKind::data, [&] { make_passkey_prompt(*tokenizer, options, 50, 0, 0); }),
            "a passkey prompt needs at least 206 tokens with this tokenizer, got 50");
}

// Training and evaluation have the same format: the same sentences, three occurrences of the number, the
// filler text truncated at the same position.
TEST_F(LanguageFiles, PasskeyTextsArePromptsWithTheirAnswers) {
  const auto tokenizer = text::load_tokenizer("bytes");
  const std::string prompt = tokenizer->decode(make_passkey_prompt(*tokenizer, {}, 700, 0.5, 1).tokens);
  const std::string first = prompt.substr(0, prompt.find('\n') + 1), last = prompt.substr(prompt.rfind('\n'));
  std::set<size_t> lengths, places;
  for (uint64_t index = 0; index < 40; ++index) {
    const std::string text = passkey_text(512, 1, index);
    EXPECT_EQ(text, passkey_text(512, 1, index));
    EXPECT_LE(text.size(), 512u);
    EXPECT_TRUE(text.starts_with(first));
    const size_t answer = text.rfind(' ') + 1;
    const std::string number = text.substr(answer, 5);
    EXPECT_EQ(text.substr(answer), number + "\n");
    EXPECT_EQ(text.substr(answer - 1 - last.size(), last.size()), last);
    const size_t place = text.find("The hidden number is " + number + ". Keep " + number + " in mind. ");
    ASSERT_NE(place, std::string::npos);
    lengths.insert(text.size()), places.insert(place);
  }
  EXPECT_GT(lengths.size(), 30u);
  EXPECT_GT(places.size(), 30u);
  EXPECT_NE(passkey_text(512, 1, 0), passkey_text(512, 2, 0));
  EXPECT_EQ(error_of(ErrorKind::data, [&] { passkey_text(100, 1, 0); }),
            "a passkey text needs at least 212 bytes, got 100");
}

TEST_F(LanguageFiles, ConfigsSayWhatDoesNotFit) {
  const auto wrong = [&](const std::vector<std::string>& assignments, const std::string& part) {
    try {
      load_language_config({"", assignments});
      ADD_FAILURE() << part;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
    }
  };
  wrong({"model.attention.type=pooled"}, "not causal");
  wrong({"language.variants=lambda"}, "lambda needs full attention, but the model has summary");
  wrong({"data.path=recall", "tokenizer=bytes"}, "tokenizer");
  for (const char* kind : {"linear", "ntk", "yarn", "llama3"})
    wrong({fmt::format("model.rope.scaling={}", kind), "model.rope.original_length=512"},
          fmt::format("rope.scaling = \"{}\" with rope.factor = 1 has no effect: set rope.factor", kind));
  wrong({"model.rope.factor=4"}, "rope.factor = 4 has no effect with rope.scaling = \"none\"");
  wrong({"model.rope.scaled_level=1"}, "rope.scaled_level = 1 has no effect");
  wrong({"model.attention.fold=4,8", "model.attention.window=4"}, "smaller");
  EXPECT_EQ(load_language_config({"", {"data.path=recall", "data.recall.length=128"}}).model.context, 128);
}

}  // namespace
}  // namespace modewise::tasks
