// BPE converted from sentencepiece, by hand; test_tokenizers.py compares it with Hugging Face's tokenizers.

#include "modewise/text/metaspace_tokenizer.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "modewise/core/error.h"
#include "modewise/core/file.h"
#include "modewise/io/tokenizers/llama2c_tokenizer.h"

namespace modewise::text {
namespace {

using Json = nlohmann::json;
using Ids = std::vector<Tokenizer::Id>;

Json file_with(const Json& normalizer, const Json& pre_tokenizer) {
  Json vocabulary = {{"<unk>", 0}, {"<s>", 1}};
  for (int byte = 0; byte < 256; ++byte) vocabulary[io::byte_piece(byte)] = 2 + byte;
  int id = 258;
  for (const char* text : {"\u2581", "a", "b", "ab", "\u2581a", "\u2581ab"}) vocabulary[text] = id++;
  return {
      {"added_tokens", {{{"id", 1}, {"content", "<s>"}, {"special", true}}}},
      {"normalizer", normalizer},
      {"pre_tokenizer", pre_tokenizer},
      {"decoder",
       {{"type", "Sequence"},
        {"decoders",
         {{{"type", "ByteFallback"}}, {{"type", "Strip"}, {"content", " "}, {"start", 1}, {"stop", 0}}}}}},
      {"model",
       {{"type", "BPE"},
        {"byte_fallback", true},
        {"vocab", vocabulary},
        {"merges", {"a b", "\u2581 ab", "\u2581 a"}}}}};
}

const Json kReplace = {{"type", "Replace"}, {"pattern", {{"String", " "}}}, {"content", "\u2581"}};
const Json kLegacy = {{"type", "Sequence"},
                      {"normalizers", {{{"type", "Prepend"}, {"prepend", "\u2581"}}, kReplace}}};

Json metaspace(const std::string& scheme) {
  return {{"type", "Metaspace"}, {"replacement", "\u2581"}, {"prepend_scheme", scheme}, {"split", false}};
}

MetaspaceTokenizer metaspace_of(const Json& file) {
  const std::string text = file.dump();
  return {io::parse_tokenizer_json(as_bytes(text), "file"), "", "tokenizer.json"};
}

std::string refusal_of(const Json& file) {
  try {
    metaspace_of(file);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

constexpr int kSpace = 258, kA = 259, kB = 260, kAb = 261, kSpaceA = 262, kSpaceAb = 263;

TEST(MetaspaceTokenizer, PrependsASpaceByItsScheme) {
  const auto ids = [](const Json& normalizer, const Json& pre_tokenizer, std::string_view text) {
    return metaspace_of(file_with(normalizer, pre_tokenizer)).encode(text);
  };
  EXPECT_EQ(ids(kLegacy, nullptr, "ab"), Ids{kSpaceAb});
  EXPECT_EQ(ids(kLegacy, nullptr, " ab"), (Ids{kSpace, kSpaceAb}));
  EXPECT_EQ(ids(kLegacy, nullptr, "a<s>b"), (Ids{kSpaceA, 1, kSpace, kB}));
  EXPECT_EQ(ids(nullptr, metaspace("first"), " ab"), Ids{kSpaceAb});
  EXPECT_EQ(ids(nullptr, metaspace("first"), "a<s>ab"), (Ids{kSpaceA, 1, kAb}));
  EXPECT_EQ(ids(nullptr, metaspace("always"), "a<s>ab"), (Ids{kSpaceA, 1, kSpaceAb}));
  EXPECT_EQ(ids(nullptr, metaspace("never"), "a ab"), (Ids{kA, kSpaceAb}));
  EXPECT_EQ(ids(kReplace, nullptr, "a ab"), (Ids{kA, kSpaceAb}));
}

TEST(MetaspaceTokenizer, CharactersWithoutATokenAreBytes) {
  const MetaspaceTokenizer tokenizer = metaspace_of(file_with(kLegacy, nullptr));
  const std::string text = "ab é\xFF ab";
  const Ids ids = tokenizer.encode(text);
  EXPECT_EQ(ids, (Ids{kSpaceAb, kSpace, 2 + 0xC3, 2 + 0xA9, 2 + 0xFF, kSpaceAb}));
  EXPECT_EQ(tokenizer.decode(ids), text);
  EXPECT_EQ(tokenizer.begin_id(), 1);
  EXPECT_TRUE(tokenizer.has_token(kSpaceAb));
  EXPECT_FALSE(tokenizer.has_token(kSpaceAb + 1));
}

TEST(MetaspaceTokenizer, RefusesOtherComponents) {
  const auto refused = [](const Json& normalizer, const Json& pre_tokenizer) {
    return refusal_of(file_with(normalizer, pre_tokenizer));
  };
  const auto expect_words = [](const std::string& message, const std::string& words) {
    EXPECT_NE(message.find(words), std::string::npos) << message;
  };
  expect_words(refused(nullptr, nullptr), "neither the normalizer nor the pre_tokenizer replaces spaces");
  expect_words(refused({{"type", "NFC"}}, nullptr), "unsupported normalizer 'NFC'");
  expect_words(refused(kReplace, {{"type", "Digits"}}), "unsupported pre_tokenizer 'Digits'");
  expect_words(refused(kLegacy, metaspace("first")), "a space is prepended twice");
  expect_words(refused(nullptr, metaspace("middle")), "unknown prepend_scheme 'middle'");
  Json other = kReplace;
  other["content"] = "_";
  expect_words(refused(other, nullptr), "Replace of ' ' by '_' is not supported");
  Json file = file_with(kLegacy, nullptr);
  file["model"]["vocab"].erase("<0x41>");
  expect_words(refusal_of(file), "byte_fallback is on, but the vocabulary has no token <0x41>");
  file = file_with(kLegacy, nullptr);
  file["decoder"] = {{"type", "WordPiece"}};
  expect_words(refusal_of(file), "unsupported decoder 'WordPiece'");
}

}  // namespace
}  // namespace modewise::text
