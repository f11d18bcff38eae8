// Caption tokenizer against the Stanford tokenizer (vectors/make_ptb_words.py), and cases by hand.

#include "modewise/text/ptb_words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <nlohmann/json.hpp>

#include "modewise/core/file.h"
#include "modewise/text/ptb_scanner.h"

namespace modewise::text {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(PtbWords, AreThoseOfTheStanfordTokenizer) {
  const auto vectors =
      nlohmann::json::parse(read_file(MODEWISE_SOURCE_DIR "/tests/text/vectors/ptb_words.json"));
  ASSERT_EQ(vectors.size(), 19u);
  for (const auto& one : vectors)
    EXPECT_EQ(ptb_words(one["caption"].get<std::string>()), one["words"].get<std::vector<std::string>>())
        << one["caption"];
}

TEST(PtbWords, LeaveOutPunctuation) {
  EXPECT_THAT(ptb_words("The dog's, isn't it?"), ElementsAre("the", "dog", "'s", "is", "n't", "it"));
  EXPECT_THAT(ptb_words(" - -- --- . , ; : ? ! ' ` '' \" ... "), IsEmpty());
  EXPECT_THAT(ptb_words("-----"), ElementsAre("-----"));
  EXPECT_THAT(ptb_words("(a)"), ElementsAre("-lrb-", "a", "-rrb-"));
}

TEST(PtbWords, AreSeparatedByBytesThatAreNoText) {
  EXPECT_THAT(ptb_words("a\xFF"
                        "b\xE2\x82"
                        "c"),
              ElementsAre("a", "b", "c"));
  EXPECT_THAT(ptb_words(std::string("a\0b\x7F"
                                    "c",
                                    5)),
              ElementsAre("a", "b", "c"));
}

TEST(PtbWords, TakeEachByteOnce) {
  // Every scanner token is a non-empty part of the text, in order.
  const std::string text =
      "Mr. O'Neil's 22 3/4-inch, T.V.s (\u201Cold\u201D) \xF0\x9F\x98\x80 a--b don't; 5:30p.m. #x @y";
  PtbScanner scanner(text);
  size_t behind = 0, tokens = 0;
  while (const auto token = scanner.next()) {
    const auto begin = static_cast<size_t>(token->data() - text.data());
    ASSERT_FALSE(token->empty());
    EXPECT_GE(begin, behind);
    behind = begin + token->size();
    ++tokens;
  }
  EXPECT_LE(behind, text.size());
  EXPECT_EQ(tokens, 19u);  // "22 3/4" is one, the bytes of the emoji none
}

TEST(PtbWords, OfLongTextsTakeTimeByTheirLength) {
  const auto seconds = [](const std::string& piece) {
    std::string text;
    while (text.size() < 300'000) text += piece;
    text += " end";
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_EQ(ptb_words(text).back(), "end") << piece;
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  for (const char* piece :
       {"a", "a,", "a-", "a.", "A&", "a/", "5,", "a'", "'", "#", "a@", "http://", "'n", "5-"})
    EXPECT_LT(seconds(piece), 60) << piece;
}

TEST(PtbWords, LoseSoftHyphensInOnePass) {
  // A pass over the rest of the text per hyphen would read 10¹³ bytes.
  std::string text;
  for (int i = 0; i < 2'000'000; ++i) text += "\u00AD\u00AD";
  EXPECT_EQ(ptb_words("a\u00ADb" + text + "c d\u00AD"), (std::vector<std::string>{"abc", "d"}));
}

}  // namespace
}  // namespace modewise::text
