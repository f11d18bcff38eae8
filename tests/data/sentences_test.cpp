// Exact error messages of series with classes, text and token files; all numbers and names in them are
// distinct.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "modewise/data/language_modeling/config.h"
#include "modewise/data/numpy_shuffle.h"
#include "modewise/data/series_classification/series_collection.h"
#include "modewise/data/token_set.h"
#include "modewise/io/arrays/safetensors.h"
#include "modewise/text/load_tokenizer.h"
#include "tests/data/scratch.h"

namespace modewise::data {
namespace {

/// A .ts file with `count` copies of each of `cases`.
std::string ts(const std::string& classes, const std::vector<std::string>& cases, int count = 1) {
  std::string text = "@problemName t\n@classLabel " + classes + "\n@data\n";
  for (int i = 0; i < count; ++i)
    for (const std::string& one : cases) text += one + "\n";
  return text;
}

TEST(CaseSentences, OfTrainingAndTestFiles) {
  const ScratchFolder folder;
  const std::string train = folder.path("X_TRAIN.ts"), test = folder.path("X_TEST.ts");
  const auto refused = [&](const std::string& first, const std::string& second) {
    folder.write("X_TRAIN.ts", first);
    folder.write("X_TEST.ts", second);
    CollectionConfig config;
    config.path = folder.path().string();
    return error_of(ErrorKind::data, [&] { load_collection(config); });
  };
  const std::string good = ts("true a b", {"1,2:3,4:a", "1,2:3,4:b"}, 3);
  EXPECT_EQ(refused(good, ts("true a b", {"1:2:3:a"})),
            test + ": series of 3 dimensions, but " + train + " has 2");
  EXPECT_EQ(refused(good, ts("true a b c", {"1,2:3,4:b", "1,2:3,4:c"})),
            test + ": sample 2 has class 'c', which no training sample has (there are a, b)");
  EXPECT_EQ(refused(ts("false", {"1,2"}), good), train + ": the training samples have no classes");
  EXPECT_EQ(refused(good, ts("false", {"1,2:3,4"})), test + ": the test samples have no classes");
  EXPECT_EQ(refused(ts("true a b", {"1:a", "2:a"}), ts("true a b", {"1:a"})),
            train + ": all samples have class 'a'; a classifier needs two classes");
  CollectionConfig config;
  config.train = folder.write("X_TRAIN.ts", good);
  EXPECT_EQ(error_of(ErrorKind::config, [&] { load_collection(config); }),
            train + ": protocol " + config.protocol +
                " needs a test file too: give data.test, or a folder with X_TRAIN.ts and X_TEST.ts");
}

TEST(CaseSentences, OfOtherCasesForATrainedModel) {
  const ScratchFolder folder;
  const std::string file = folder.write("x.ts", ts("true a b", {"1,2,3:a", "4,5,6:b"}));
  const auto refused = [&](int64_t variables, int64_t length, bool padded) {
    return error_of(ErrorKind::data, [&] {
      load_samples(file, "none", {{"a", "b"}, variables, length, padded, {}});
    });
  };
  EXPECT_EQ(refused(7, 3, true), file + ": series of 1 dimension, but the run was trained on 7");
  EXPECT_EQ(
      refused(1, 2, true),
      file +
          ": the longest sample has 3 steps, but the model's maximum is 2; train with a larger data.length");
  EXPECT_EQ(refused(1, 4, false), file +
                                      ": samples of other lengths than 4 steps, but the run was trained on "
                                      "samples of equal length, so its model takes no padding masks: cut or "
                                      "interpolate them to 4 steps, or train on samples of several lengths");
}

TEST(TextSentences, OfSettings) {
  TextConfig config;
  config.path = "recall";
  const auto refused = [&] { return error_of(ErrorKind::config, [&] { config.validate("x.toml"); }); };
  for (const auto& [ratios, count] :
       {std::pair(std::vector<double>{0.5, 0.5}, 2), {{0.1, 0.2, 0.3, 0.4}, 4}}) {
    config.split_ratios = ratios;
    EXPECT_EQ(refused(), fmt::format("x.toml: data.split_ratios must be three numbers (training, validation, "
                                     "test), got {}",
                                     count));
  }
  const std::string sum =
      "x.toml: data.split_ratios must begin with a number above 0 and sum to at most 1, got ";
  config.split_ratios = {0.5, 0.25, 0.75};
  EXPECT_EQ(refused(), sum + "0.5, 0.25, 0.75");
  config.split_ratios = {0, 0.25, 0.75};
  EXPECT_EQ(refused(), sum + "0, 0.25, 0.75");
  config.split_ratios = {0.25, 0.5, 0.25};
  config.recall.pairs = {};
  EXPECT_EQ(refused(), "x.toml: data.recall.pairs is empty");
  config.recall.vocabulary = 9;
  config.recall.pairs = {3, 10, 4};
  EXPECT_EQ(refused(), "x.toml: data.recall: 10 pairs need as many different keys, but the vocabulary is 9");
  config.recall.pairs = {3, 9, 4};
  config.recall.questions = 5;
  config.recall.distance = 7;
  config.recall.length = 35;  // 2 · 9 + 7 + 1 + 2 · 5 = 36
  EXPECT_EQ(
      refused(),
      "x.toml: data.recall: 9 pairs, a distance of 7 and 5 queries need 36 tokens, but the length is 35");
  config.recall.length = 36;
  EXPECT_NO_THROW(config.validate("x.toml"));
}

struct Stored {
  std::string name, dtype;
  std::vector<int64_t> shape, values;
};

TEST(TextSentences, OfTokenFiles) {
  const ScratchFolder folder;
  const std::string path = folder.path("t.safetensors");
  const auto refused = [&](const Stored& other) {
    std::vector<Stored> all = {{"tokens", "U32", {4}, {1, 2}},  // 8 bytes hold two of them
                               {"documents", "I64", {3}, {0, 1, 4}},
                               {"bytes", "I64", {2}, {5, 6}},
                               {"words", "I64", {2}, {7, 8}}};
    all[0].values = {0, 0};
    for (Stored& one : all)
      if (one.name == other.name) one = other;
    std::vector<io::TensorView> tensors;
    for (const Stored& one : all)
      tensors.push_back({one.name, one.dtype, one.shape, std::as_bytes(std::span(one.values))});
    io::write_safetensors(path, tensors, {{"format", "modewise tokens 1"}, {"vocabulary", "9"}});
    return error_of(ErrorKind::data, [&] { TokenFile{std::filesystem::path(path)}; });
  };
  EXPECT_EQ(refused({"tokens", "I64", {4}, {0, 0, 0, 0}}),
            path + ": 'tokens' must be U16 or U32 of one dimension, got I64 of 1");
  EXPECT_EQ(refused({"tokens", "U32", {2, 2}, {0, 0}}),
            path + ": 'tokens' must be U16 or U32 of one dimension, got U32 of 2");
  EXPECT_EQ(refused({"documents", "U64", {3}, {0, 1, 4}}),
            path + ": 'documents' must be I64 of one dimension, got U64 of 1 dimensions");
  EXPECT_EQ(refused({"bytes", "I64", {1, 2}, {5, 6}}),
            path + ": 'bytes' must be I64 of one dimension and 2 elements, got I64 of 2 dimensions");
  EXPECT_EQ(refused({"documents", "I64", {0}, {}}), path + ": 'documents' must have at least one element");
  const std::string range = path + ": 'documents' must range from 0 to 4, the number of tokens";
  EXPECT_EQ(refused({"documents", "I64", {3}, {1, 2, 4}}), range);
  EXPECT_EQ(refused({"documents", "I64", {3}, {0, 2, 3}}), range);
  EXPECT_EQ(refused({"words", "I64", {2}, {7, -8}}),
            path + ": document 1 has tokens 1 to 4, 6 bytes and -8 words");
  EXPECT_EQ(refused({"bytes", "I64", {2}, {-5, 6}}),
            path + ": document 0 has tokens 0 to 1, -5 bytes and 7 words");
  EXPECT_EQ(refused({"documents", "I64", {3}, {0, 5, 4}}),
            path + ": document 0 has tokens 0 to 5, 5 bytes and 7 words");
}

TEST(TextSentences, OfTokenSets) {
  const ScratchFolder folder;
  const auto tokenizer = text::load_tokenizer("bytes");
  DocumentConfig config;
  config.path = folder.write("a.txt", "x\n<|endoftext|>\ny\n");
  config.split = "documents";
  config.split_ratios = {0.5, 0.25, 0.125};
  EXPECT_EQ(error_of(ErrorKind::data, [&] { load_token_set(config, *tokenizer, "bytes"); }),
            config.path +
                ": 2 documents cannot be split into training, validation and test by 0.5, 0.25, 0.125; "
                "data.split = \"cut\" cuts each document");
  TokenFileBuilder builder({"alien", "0123", "/there/it/is", 9}, "a.txt");
  builder.begin_document(1, 1);
  builder.add(std::vector<int32_t>{3});
  builder.finish().write(folder.path("t.safetensors"));
  config.path = folder.path("t.safetensors");
  EXPECT_EQ(error_of(ErrorKind::data, [&] { load_token_set(config, *tokenizer, "bytes"); }),
            config.path + " was made by the tokenizer 'alien' (/there/it/is), but '" + tokenizer->name() +
                "' is used: give that tokenizer, or the text");
}

TEST(NumpyShuffle, TakesUpToTwoToThe32) {
  for (const int64_t count : {int64_t{-1}, int64_t{1} << 32})
    EXPECT_EQ(error_of(ErrorKind::internal, [&] { numpy_shuffled(count, 0); }),
              fmt::format("numpy_shuffled: 0 to 2^32 − 1 elements, got {}", count));
  EXPECT_TRUE(numpy_shuffled(0, 0).empty());
  EXPECT_EQ(numpy_shuffled(1, 0), std::vector<int64_t>{0});
}

}  // namespace
}  // namespace modewise::data
