#include "modewise/text/text_stream.h"

#include <gtest/gtest.h>

#include "modewise/io/utf8.h"
#include "modewise/text/load_tokenizer.h"

namespace modewise::text {
namespace {

TEST(TextStream, ShowsWholeCharacters) {
  const std::shared_ptr<const Tokenizer> tokenizer = load_tokenizer("bytes");
  const std::string text = "aé€😀z";
  TextStream stream(tokenizer);
  std::string shown;
  for (const Tokenizer::Id id : tokenizer->encode(text)) {
    const std::string part = stream.push(id);
    EXPECT_EQ(io::find_invalid_utf8(part), std::string::npos);
    shown += part;
  }
  EXPECT_EQ(shown, text);
  EXPECT_EQ(stream.finish(), "");
}

TEST(TextStream, LosesNoByteOfInvalidText) {
  const std::shared_ptr<const Tokenizer> tokenizer = load_tokenizer("bytes");
  for (const std::string text :
       {"\xFF\xFE", "\xE2\x82", "\xF0\x9F\x98", "\xC3", "\x80\x80\x80\x80\x80", "\xE0\x80\x80x",
        "\xED\xA0\x80", "\xF4\x90\x80\x80", "a\xC3\xC3\xA9", "\xF0\x9F"}) {
    TextStream stream(tokenizer);
    std::string shown;
    for (const Tokenizer::Id id : tokenizer->encode(text)) shown += stream.push(id);
    EXPECT_EQ(shown + stream.finish(), text);
    EXPECT_EQ(stream.finish(), "");
  }
}

TEST(TextStream, HoldsBackOnlyWhatMayBecomeACharacter) {
  EXPECT_EQ(unfinished_utf8(""), 0u);
  EXPECT_EQ(unfinished_utf8("abc"), 0u);
  EXPECT_EQ(unfinished_utf8("\xC3"), 1u);
  EXPECT_EQ(unfinished_utf8("\xE2\x82"), 2u);
  EXPECT_EQ(unfinished_utf8("\xF0\x9F\x98"), 3u);
  EXPECT_EQ(unfinished_utf8("\xF0\x9F\x98\x80"), 0u);
  EXPECT_EQ(unfinished_utf8("\xC0"), 0u);
  EXPECT_EQ(unfinished_utf8("\xE0\x80"), 0u);
  EXPECT_EQ(unfinished_utf8("\xED\xA0"), 0u);
  EXPECT_EQ(unfinished_utf8("\xF5"), 0u);
  EXPECT_EQ(unfinished_utf8("\x80\x80\x80"), 0u);
  EXPECT_EQ(unfinished_utf8(std::string_view("\xE2\x80").substr(1)), 0u);  // what is before is not read
}

}  // namespace
}  // namespace modewise::text
