// Sampling against its definition, and generation against llama2.c's output.

#include "modewise/models/language_modeling/text_generation.h"

#include <ATen/Parallel.h>
#include <ATen/ops/equal.h>
#include <gmock/gmock.h>

#include <map>

#include "modewise/text/load_tokenizer.h"
#include "tests/models/language_modeling/language_vectors.h"

namespace modewise::models {
namespace {

using testing::HasSubstr;

std::map<int64_t, double> shares(const std::vector<float>& logits, const SamplingConfig& config) {
  constexpr int kDraws = 20000;
  std::map<int64_t, double> out;
  for (uint64_t position = 0; position < kDraws; ++position)
    out[sample_token(logits, config, position)] += 1.0 / kDraws;
  return out;
}

TEST(Sampling, GreedyTakesTheFirstOfTheLargest) {
  EXPECT_EQ(sample_token(std::vector<float>{1, 3, 3, 2}, {.temperature = 0}, 9), 1);
  EXPECT_EQ(sample_token(std::vector<float>{-INFINITY, -2, -INFINITY}, {.temperature = 0}, 9), 1);
}

TEST(Sampling, SharesAreThoseOfTheSoftmax) {
  const std::vector<float> logits = {0, std::log(2.0f), std::log(5.0f), -INFINITY};
  const auto plain = shares(logits, {.seed = 3});
  EXPECT_NEAR(plain.at(0), 1 / 8.0, 0.01);
  EXPECT_NEAR(plain.at(1), 2 / 8.0, 0.01);
  EXPECT_NEAR(plain.at(2), 5 / 8.0, 0.01);
  EXPECT_FALSE(plain.contains(3));
  const auto cold = shares(logits, {.temperature = 0.5, .seed = 3});
  EXPECT_NEAR(cold.at(2), 25 / 30.0, 0.01);
}

TEST(Sampling, TopKAndTopPKeepTheLikeliest) {
  const std::vector<float> logits = {std::log(.1f), std::log(.4f), std::log(.2f), std::log(.3f)};
  const auto two = shares(logits, {.top_k = 2, .seed = 1});
  EXPECT_EQ(two.size(), 2u);
  EXPECT_NEAR(two.at(1), 4 / 7.0, 0.01);
  const auto maximum = shares(logits, {.top_p = 0.75, .seed = 1});  // .4 + .3 < .75 <= .4 + .3 + .2
  EXPECT_EQ(maximum.size(), 3u);
  EXPECT_NEAR(maximum.at(3), 3 / 9.0, 0.01);
  EXPECT_EQ(shares(logits, {.top_p = 0, .seed = 1}).size(), 1u);                // one token always stays
  EXPECT_EQ(shares(logits, {.top_k = 3, .top_p = 0.5, .seed = 1}).size(), 2u);  // of the three's .9
  EXPECT_EQ(shares({0, 0, 0, 0}, {.top_k = 2}).size(), 2u);
  EXPECT_EQ(shares({0, 0, 0, 0}, {.top_p = 0.99}).size(), 4u);
}

TEST(Sampling, MinPKeepsTheShareOfTheLargest) {
  const std::vector<float> logits = {std::log(.1f), std::log(.4f), std::log(.19f), std::log(.31f)};
  const auto half = shares(logits, {.min_p = 0.5, .seed = 1});  // .4 and .31 have at least .2
  EXPECT_EQ(half.size(), 2u);
  EXPECT_NEAR(half.at(3), 31 / 71.0, 0.01);
  EXPECT_EQ(shares(logits, {.min_p = 1, .seed = 1}).size(), 1u);
  EXPECT_EQ(shares(logits, {.top_p = 0.8, .min_p = 0.1, .seed = 1}).size(), 3u);  // .1 is not in the nucleus
  EXPECT_EQ(shares({0, 0, 0}, {.min_p = 1}).size(), 3u);
}

TEST(Sampling, APenaltyLowersTheLogitsOfEarlierTokensOnce) {
  std::vector<float> logits = {3, -3, 0, 3, -INFINITY};
  penalize_repetition(logits, std::vector<int32_t>{0, 1, 0, 2, 4}, 1.5);
  EXPECT_EQ(logits, (std::vector<float>{2, -4.5, 0, 3, -INFINITY}));
}

TEST(Sampling, DependsOnSeedAndPositionAlone) {
  const std::vector<float> logits(100, 0);
  EXPECT_EQ(sample_token(logits, {.seed = 4}, 17), sample_token(logits, {.seed = 4}, 17));
  std::map<int64_t, int> seen;
  for (int64_t seed = 0; seed < 50; ++seed) ++seen[sample_token(logits, {.seed = seed}, 17)];
  EXPECT_GT(seen.size(), 25u);
}

TEST(Sampling, DamagedLogitsAreASentence) {
  for (const float bad : {NAN, INFINITY})
    EXPECT_THAT(error_of(ErrorKind::data,
                         [&] {
                           sample_token(std::vector<float>{0, bad}, {}, 3);
                         }),
                HasSubstr("at position 3 are not finite"));
  EXPECT_THAT(error_of(ErrorKind::usage, [] { SamplingConfig{.top_p = 1.5}.validate(); }),
              HasSubstr("top-p"));
  EXPECT_THAT(error_of(ErrorKind::usage, [] { SamplingConfig{.min_p = -.1}.validate(); }),
              HasSubstr("min-p must be between 0 and 1, got -0.1"));
  for (const double penalty : {0., -1., HUGE_VAL})
    EXPECT_THAT(error_of(ErrorKind::usage, [&] { SamplingConfig{.repetition_penalty = penalty}.validate(); }),
                HasSubstr("the repetition penalty must be finite and above 0 (1: none), got"));
}

LanguageModelConfig two_head_config(const std::string& type) {
  LanguageModelConfig c;
  c.width = 16;
  c.layers = 2;
  c.heads = 2;
  c.attention.type = type;
  if (type == "summary") c.attention.fold = {0, 2, 4};
  return c;
}

TEST(TextGeneration, AnyBytesAreAPrompt) {
  const auto tokenizer = text::load_tokenizer("bytes");
  LanguageModelConfig config = two_head_config("summary");
  config.vocabulary = tokenizer->size();
  const auto model = make_language_model(config, 1);
  const std::string prompt = "\xFF\xC3 no UTF-8 \xE2\x82";
  std::string shown;
  const Generation whole =
      generate_text(*model, tokenizer, prompt,
                    {.tokens = 40, .sampling = {.seed = 2}, .stop_at_eos = false, .prompt_chunk = 3},
                    [&](std::string_view text) {
                      shown += text;
                      return true;
                    });
  EXPECT_EQ(shown, whole.text);
  EXPECT_EQ(whole.ids.size(), 40u);
  EXPECT_EQ(whole.stopped_by, "tokens");
  const Generation again =
      generate_text(*model, tokenizer, prompt, {.tokens = 40, .sampling = {.seed = 2}, .stop_at_eos = false});
  EXPECT_EQ(again.ids, whole.ids);
  const std::string stop = whole.text.substr(10, 3);
  const Generation stopped =
      generate_text(*model, tokenizer, prompt,
                    {.tokens = 40, .sampling = {.seed = 2}, .stop_at_eos = false, .stop = {"", stop}});
  EXPECT_EQ(stopped.text, whole.text.substr(0, whole.text.find(stop)));
  EXPECT_EQ(stopped.stopped_by, "stop text");
  const Generation ended =
      generate_text(*model, tokenizer, prompt, {.tokens = 40}, [](std::string_view) { return false; });
  EXPECT_EQ(ended.stopped_by, "caller");
  EXPECT_EQ(generate_text(*model, tokenizer, prompt, {.tokens = 0}).text, "");
}

TEST(TextGeneration, IdsWithoutATokenHaveNoTextAndAreNotSampled) {
  const auto tokenizer = text::load_tokenizer("bytes");
  LanguageModelConfig config = two_head_config("full");
  config.vocabulary = 600;
  const auto model = make_language_model(config, 1);
  const auto longest = [](const Generation& one) {
    return *std::max_element(one.ids.begin(), one.ids.end());
  };
  const Generation greedy = generate_text(
      *model, tokenizer, "abc", {.tokens = 60, .sampling = {.temperature = 0}, .stop_at_eos = false});
  EXPECT_EQ(greedy.ids.size(), 60u);
  EXPECT_GE(longest(greedy), 257);
  std::vector<text::Tokenizer::Id> tokens;
  std::copy_if(greedy.ids.begin(), greedy.ids.end(), std::back_inserter(tokens),
               [](auto id) { return id < 257; });
  EXPECT_EQ(greedy.text, tokenizer->decode(tokens));
  const Generation random = generate_text(*model, tokenizer, "abc", {.tokens = 200, .stop_at_eos = false});
  EXPECT_EQ(random.ids.size(), 200u);
  EXPECT_LT(longest(random), 257);
  const Generation ended =
      generate_text(*model, tokenizer, "abc",
                    {.tokens = 60, .sampling = {.temperature = 0}, .end_ids = {999, greedy.ids[2]}});
  EXPECT_EQ(ended.stopped_by, "mark");
  EXPECT_EQ(ended.ids.back(), greedy.ids[2]);
}

TEST(TextGeneration, APromptOfAnotherVocabularyIsASentence) {
  const auto tokenizer = text::load_tokenizer("bytes");
  LanguageModelConfig config = two_head_config("full");
  config.vocabulary = 100;
  const auto model = make_language_model(config, 1);
  EXPECT_THAT(
      error_of(ErrorKind::data, [&] { generate_text(*model, tokenizer, "abc~", {.tokens = 1}); }),
      HasSubstr("is outside the model's vocabulary of 100: text and model have different tokenizers"));
}

/// Number of threads in use while `model` generates.
int threads_of(LanguageModel& model, const std::shared_ptr<text::Tokenizer>& tokenizer) {
  int threads = 0;
  generate_text(model, tokenizer, "abc", {.tokens = 3, .stop_at_eos = false}, [&](std::string_view) {
    threads = at::get_num_threads();
    return true;
  });
  return threads;
}

TEST(TextGeneration, TakesSeveralThreadsWhereATokenReadsMuch) {
  const auto tokenizer = text::load_tokenizer("bytes");
  const int before = at::get_num_threads();
  at::set_num_threads(3);
  LanguageModelConfig config = two_head_config("summary");
  config.vocabulary = tokenizer->size();
  EXPECT_EQ(threads_of(*make_language_model(config, 1), tokenizer), 1);
  config.width = 1024;
  config.hidden = 4096;
  config.layers = 4;
  const auto large = make_unset_language_model(config);
  for (auto& item : large->named_parameters()) {
    const at::NoGradGuard no_grad;
    item.value().fill_(0.01);
  }
  EXPECT_EQ(threads_of(*large, tokenizer), 3);
  at::set_num_threads(before);
}

// Sizes without common multiples, large enough to use several threads.
TEST(TextGeneration, StepsHaveTheSameBitsForAnyNumberOfThreads) {
  const int before = at::get_num_threads();
  for (const char* type : {"summary", "full"})
    for (const char* precision : {"float32", "bf16"}) {
      LanguageModelConfig config = two_head_config(type);
      config.vocabulary = 2003;
      config.width = 1028;
      config.hidden = 4099;
      config.precision = precision;
      const auto model = make_language_model(config, 4);
      if (config.precision == "bf16") model->to(at::kBFloat16);
      const auto logits = [&](int threads) {
        at::set_num_threads(threads);
        const at::NoGradGuard no_grad;
        auto caches = model->new_cache();
        model->step(token_tensor({3, 1, 4, 1, 5, 9, 2, 6, 5}), caches);
        at::Tensor out;
        for (const int64_t token : {35, 897, 2002}) out = model->step(token_tensor({token}), caches);
        return out;
      };
      const at::Tensor alone = logits(1);
      for (const int threads : {2, 3, 4})
        EXPECT_TRUE(at::equal(alone, logits(threads))) << type << precision << threads;
    }
  at::set_num_threads(before);
}

/// Byte tokenizer without BOS and EOS.
class UnmarkedTokenizer final : public text::Tokenizer {
 public:
  UnmarkedTokenizer() : Tokenizer("unmarked", {}) {}
  int64_t size() const override { return 256; }
  std::vector<Id> encode(std::string_view text) const override { return {text.begin(), text.end()}; }
  std::optional<Id> begin_id() const override { return std::nullopt; }
  std::optional<Id> end_id() const override { return std::nullopt; }
  std::string name() const override { return "bytes without marks"; }

 private:
  void append_valid(Id id, bool& start, std::string& text) const override {
    text += static_cast<char>(id);
    start = false;
  }
};

TEST(TextGeneration, WhatCannotBeDoneIsASentence) {
  const auto tokenizer = text::load_tokenizer("bytes");
  LanguageModelConfig config = two_head_config("full");
  config.vocabulary = tokenizer->size();
  const auto model = make_language_model(config, 1);
  const auto unmarked = std::make_shared<UnmarkedTokenizer>();
  EXPECT_EQ(error_of(ErrorKind::usage, [&] { generate_text(*model, unmarked, "", {}); }),
            "the prompt must not be empty: the tokenizer (bytes without marks) has no BOS token");
  EXPECT_EQ(error_of(ErrorKind::usage, [&] { generate_text(*model, nullptr, "a", {}); }),
            "text generation needs a tokenizer: the folder of the model has none");
  EXPECT_THAT(error_of(ErrorKind::general,
                       [&] { generate_text(*model, tokenizer, "a", {.tokens = int64_t{1} << 50}); }),
              HasSubstr("of memory are free; --attention summary needs hardly any"));
}

TEST(TextGeneration, Stories260KWritesWhatLlama2cWrites) {
  const std::string path = language_data("stories260K.bin");
  if (path.empty()) GTEST_SKIP() << "no stories260K.bin in MODEWISE_DATA";
  const auto vectors = language_vectors("stories260K.json");
  const LoadedLanguageModel loaded = load_language_model(path);
  const Generation result =
      generate_text(*loaded.model, loaded.tokenizer, "", {.tokens = 200, .sampling = {.temperature = 0}});
  EXPECT_EQ(result.ids, vectors["ids"].get<std::vector<text::Tokenizer::Id>>());
  EXPECT_EQ(result.text, vectors["text"].get<std::string>());
  const auto prompt = static_cast<int64_t>(result.prompt.size());
  EXPECT_EQ(static_cast<double>(result.cache_bytes),
            cache_bytes(loaded.model->config(), {.prompt = prompt, .chunk = 512, .tokens = 199}).kept);
}

}  // namespace
}  // namespace modewise::models
