// Special tokens around texts, and truncation.

#include "modewise/text/text_frame.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <functional>

#include "modewise/core/error.h"
#include "modewise/text/byte_tokenizer.h"

namespace modewise::text {
namespace {

constexpr Tokenizer::Id kMark = ByteTokenizer::kMark;

std::string message_of(const std::function<void()>& run, ErrorKind kind) {
  try {
    run();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind);
    return error.what();
  }
  return "";
}

/// A token per byte, decoded in lower case: upper case letters are not found in the text.
class LowerCaseTokenizer final : public Tokenizer {
 public:
  LowerCaseTokenizer() : Tokenizer("", "") {}
  int64_t size() const override { return 256; }
  std::vector<Id> encode(std::string_view text) const override { return {text.begin(), text.end()}; }
  std::optional<Id> begin_id() const override { return {}; }
  std::optional<Id> end_id() const override { return {}; }
  std::string name() const override { return "lower case"; }

 private:
  void append_valid(Id id, bool&, std::string& text) const override {
    text += static_cast<char>(std::tolower(id));
  }
};

TEST(EncodePieces, TakesSpacesBeforeLostTextInGoodTime) {
  constexpr size_t kHalf = size_t{1} << 19;
  const std::string text = std::string(kHalf, ' ') + std::string(kHalf, 'A');
  const std::vector<Tokenizer::Piece> pieces = LowerCaseTokenizer().encode_pieces(text);
  ASSERT_EQ(pieces.size(), 2 * kHalf);
  EXPECT_EQ(pieces.back().begin, kHalf);
  EXPECT_EQ(pieces.back().end, kHalf);
}

TEST(TextFrame, MarksThatATokenizerLacksComeBehindItsVocabulary) {
  const TextFrame frame = text_frame(ByteTokenizer());
  EXPECT_EQ(frame.padding, 257);
  EXPECT_EQ(frame.mask, 258);
  EXPECT_EQ(frame.size, 259);
  EXPECT_EQ(frame.special, (std::vector<int32_t>{256, 257, 258}));
}

TEST(TextFrame, OneTextAndTwo) {
  const ByteTokenizer bytes;
  const TextFrame frame = text_frame(bytes);
  const FramedText one = frame_text(bytes, frame, "ab", {}, 9);
  EXPECT_EQ(one.ids, (std::vector<Tokenizer::Id>{kMark, 'a', 'b', kMark}));
  EXPECT_EQ(one.types, (std::vector<int32_t>{0, 0, 0, 0}));
  EXPECT_EQ(one.left_out, 0);
  const FramedText two = frame_text(bytes, frame, "a b", "c", 9);
  EXPECT_EQ(two.ids, (std::vector<Tokenizer::Id>{kMark, 'a', ' ', 'b', kMark, 'c', kMark}));
  EXPECT_EQ(two.types, (std::vector<int32_t>{0, 0, 0, 0, 0, 1, 1}));
  EXPECT_EQ(two.texts, (std::vector<int8_t>{-1, 0, 0, 0, -1, 1, -1}));
  EXPECT_EQ(two.pieces[3].begin, 2);
  EXPECT_EQ(two.pieces[3].end, 3);
}

TEST(TextFrame, TheLongerTextIsCutFirst) {
  const ByteTokenizer bytes;
  const TextFrame frame = text_frame(bytes);
  struct Case {
    size_t first, second;
    int64_t maximum;
    int64_t kept_first, kept_second;
  };
  // A pair has 3 special tokens.
  for (const Case& one :
       {Case{4, 9, 12, 4, 5}, Case{9, 4, 12, 5, 4}, Case{9, 8, 10, 4, 3}, Case{8, 9, 10, 3, 4},
        Case{9, 9, 10, 3, 4}, Case{1, 30, 5, 1, 1}, Case{30, 1, 6, 2, 1}, Case{5, 5, 13, 5, 5}}) {
    const std::string first(one.first, 'x'), second(one.second, 'y');
    const FramedText framed = frame_text(bytes, frame, first, second, one.maximum);
    EXPECT_EQ(std::count(framed.texts.begin(), framed.texts.end(), 0), one.kept_first);
    EXPECT_EQ(std::count(framed.texts.begin(), framed.texts.end(), 1), one.kept_second);
    EXPECT_EQ(framed.left_out,
              static_cast<int64_t>(one.first + one.second) - one.kept_first - one.kept_second);
  }
  EXPECT_EQ(frame_text(bytes, frame, "abcdef", {}, 5).ids,
            (std::vector<Tokenizer::Id>{kMark, 'a', 'b', 'c', kMark}));
}

TEST(TextFrame, TheBeginningIsLeftOutIfTheTokenizerSaysSo) {
  ByteTokenizer bytes;
  bytes.set_truncation({.at_begin = true});
  const TextFrame frame = text_frame(bytes);
  const FramedText one = frame_text(bytes, frame, "abcdef", {}, 5);
  EXPECT_EQ(one.ids, (std::vector<Tokenizer::Id>{kMark, 'd', 'e', 'f', kMark}));
  EXPECT_EQ(one.pieces[1].begin, 3);
  EXPECT_EQ(one.left_out, 3);
  EXPECT_EQ(frame_text(bytes, frame, "abcd", "xyz", 8).ids,
            (std::vector<Tokenizer::Id>{kMark, 'b', 'c', 'd', kMark, 'y', 'z', kMark}));
}

TEST(TextFrame, RefusesWhatCannotBe) {
  const ByteTokenizer bytes;
  const TextFrame frame = text_frame(bytes);
  EXPECT_EQ(message_of([&] { frame_text(bytes, frame, "a", {}, 2); }, ErrorKind::config),
            "2 tokens are too few: 2 of them are special tokens, and each text needs one");
  EXPECT_EQ(message_of([&] { frame_text(bytes, frame, "a", "b", 4); }, ErrorKind::config),
            "4 tokens are too few: 3 of them are special tokens, and each text needs one");
  EXPECT_EQ(message_of([&] { frame_text(bytes, frame, "", {}, 9); }, ErrorKind::data),
            "the text has no tokens");
  EXPECT_EQ(message_of([&] { frame_text(bytes, frame, "a", "", 9); }, ErrorKind::data),
            "the second text has no tokens");
}

}  // namespace
}  // namespace modewise::text
