#include "modewise/text/byte_tokenizer.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "modewise/core/error.h"
#include "modewise/core/file.h"
#include "modewise/text/load_tokenizer.h"
#include "tests/error_of.h"
#include "tests/scratch_folder.h"

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

TEST(FindTokenizer, TellsAMissingOneFromOneThatCannotBeRead) {
  const ScratchFolder folder;
  const std::string here = folder.path().string();
  std::vector<std::string> notes;
  EXPECT_EQ(find_tokenizer(here, notes), nullptr);
  EXPECT_EQ(find_tokenizer(here + "/none", notes), nullptr);
  EXPECT_TRUE(notes.empty());
  const std::filesystem::path file = folder / "tokenizer.txt";
  write_file_atomically(file, "words");
  EXPECT_EQ(find_tokenizer(here, notes), nullptr);
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_EQ(notes[0],
            "ignored the tokenizer of the model: " + file.string() +
                ": the file must contain the word \"bytes\", the only tokenizer without its own file");
  write_file_atomically(file, "bytes");
  ASSERT_NE(find_tokenizer(here, notes), nullptr);
  EXPECT_EQ(find_tokenizer(here, notes)->name(), "bytes");
  std::filesystem::remove(file);
  std::filesystem::create_directory(file);  // it cannot be read, as a file on a failing disk
  EXPECT_EQ(error_of(ErrorKind::no_input, [&] { find_tokenizer(here, notes); }),
            "cannot read " + file.string() + ": it is a folder, not a file");
  EXPECT_EQ(notes.size(), 1u);
}

}  // namespace
}  // namespace modewise::text
