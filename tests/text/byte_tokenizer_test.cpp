#include "modewise/text/byte_tokenizer.h"

#include <gtest/gtest.h>

#include "modewise/core/error.h"
#include "modewise/text/load_tokenizer.h"

namespace modewise::text {
namespace {

using Ids = std::vector<Tokenizer::Id>;

TEST(ByteTokenizer, GivesEveryByteBack) {
  const auto tokenizer = load_tokenizer("bytes");
  std::string every;
  for (int byte = 0; byte < 256; ++byte) every += static_cast<char>(byte);
  const Ids ids = tokenizer->encode(every);
  ASSERT_EQ(ids.size(), 256u);
  EXPECT_EQ(ids[0], 0);
  EXPECT_EQ(ids[255], 255);
  EXPECT_EQ(tokenizer->decode(ids), every);
  EXPECT_EQ(tokenizer->size(), 257);
  EXPECT_EQ(tokenizer->begin_id(), 256);
  EXPECT_EQ(tokenizer->decode(Ids{256, 'a', 256}), "a");
  EXPECT_EQ(tokenizer->encode(""), Ids());
  EXPECT_EQ(tokenizer->hash().size(), 32u);
}

TEST(ByteTokenizer, RefusesIdsThatItDoesNotHave) {
  for (const Tokenizer::Id id : {-1, 257, 1 << 30}) {
    try {
      ByteTokenizer().decode(Ids{id});
      FAIL() << id;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::data);
      EXPECT_NE(std::string(error.what()).find(std::to_string(id)), std::string::npos);
    }
  }
}

}  // namespace
}  // namespace modewise::text
