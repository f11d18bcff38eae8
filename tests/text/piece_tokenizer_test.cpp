#include "modewise/text/piece_tokenizer.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "modewise/text/load_tokenizer.h"
#include "modewise/text/text_stream.h"
#include "tests/data_folder.h"
#include "tests/error_of.h"
#include "tests/text/vector_file.h"

namespace modewise::text {
namespace {

using Ids = std::vector<Tokenizer::Id>;

// Checks `tokenizer` against the reference, and that decoding restores every text.
void expect_cases(const Tokenizer& tokenizer, const nlohmann::json& cases) {
  for (const auto& one : cases) {
    const std::string text = from_hex(one["text"]);
    const Ids ids = tokenizer.encode(text);
    EXPECT_EQ(ids, one["ids"].get<Ids>()) << text;
    EXPECT_EQ(tokenizer.decode(ids), text);
    // llama2.c decodes to C strings, which a zero byte ends.
    if (text.find('\0') == std::string::npos) {
      EXPECT_EQ(tokenizer.decode(ids), from_hex(one["decoded"]));
    }
  }
}

PieceTokenizer small_llama2c() {
  const std::string file = from_hex(load_vectors("llama2c.json")["small"]["file"]);
  return {io::parse_llama2c_tokenizer(std::as_bytes(std::span(file)), "small.bin"), "", ""};
}

TEST(PieceTokenizer, AnswersAsLlama2cDoes) {
  expect_cases(small_llama2c(), load_vectors("llama2c.json")["small"]["cases"]);
}

TEST(PieceTokenizer, AnswersAsLlama2cDoesWithItsOwnFile) {
  const std::filesystem::path path = data_folder() / "language" / "tok512.bin";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << path << " is not there";
  const auto tokenizer = load_tokenizer(path.string());
  expect_cases(*tokenizer, load_vectors("llama2c.json")["tok512"]["cases"]);
  EXPECT_EQ(tokenizer->size(), 512);
  EXPECT_EQ(tokenizer->begin_id(), 1);
  EXPECT_EQ(tokenizer->end_id(), 2);
  EXPECT_EQ(tokenizer->decode(Ids{1, 259, 2}), "t");
}

TEST(PieceTokenizer, GivesZeroBytesBack) {
  const PieceTokenizer tokenizer = small_llama2c();
  const std::string text("a\0b\0\0", 5);
  EXPECT_EQ(tokenizer.decode(tokenizer.encode(text)), text);
}

TEST(PieceTokenizer, KeepsACopyThatLoadsAgain) {
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "kept_tokenizer";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder / "copy");
  const std::string file = from_hex(load_vectors("llama2c.json")["small"]["file"]);
  std::ofstream(folder / "small.bin", std::ios::binary) << file;
  const auto tokenizer = load_tokenizer((folder / "small.bin").string());
  keep_tokenizer(*tokenizer, folder / "copy");
  const auto copy = load_tokenizer((folder / "copy").string());
  EXPECT_EQ(copy->hash(), tokenizer->hash());
  EXPECT_EQ(copy->encode("abc"), tokenizer->encode("abc"));
  keep_tokenizer(*copy, folder / "copy");  // to the same folder
  std::ofstream(folder / "small.bin", std::ios::binary | std::ios::app) << "x";
  EXPECT_EQ(error_of(ErrorKind::data, [&] { keep_tokenizer(*tokenizer, folder / "copy"); }),
            (folder / "small.bin").string() + " has changed since the tokenizer was loaded");
  keep_tokenizer(*load_tokenizer("bytes"), folder);
  EXPECT_EQ(load_tokenizer((folder / "copy").string())->hash(), tokenizer->hash());
  EXPECT_EQ(load_tokenizer(folder.string())->name(), "bytes");
}

// For valid UTF-8 the model gives the same ids as sentencepiece.
TEST(PieceTokenizer, AnswersAsSentencepieceDoes) {
  const nlohmann::json all = load_vectors("sentencepiece.json");
  for (const auto& [name, vectors] : all.items()) {
    const std::string file = from_hex(vectors["file"]);
    const PieceTokenizer tokenizer(io::parse_sentencepiece_model(std::as_bytes(std::span(file)), name), "",
                                   "");
    for (const auto& one : vectors["cases"]) {
      const std::string text = from_hex(one["text"]);
      const Ids ids = tokenizer.encode(text);
      EXPECT_EQ(ids, one["ids"].get<Ids>()) << name << " " << text;
      EXPECT_EQ(tokenizer.decode(ids), from_hex(one["decoded"])) << name << " " << text;
    }
  }
}

TEST(PieceTokenizer, GivesAnyBytesBackThroughBytePieces) {
  const nlohmann::json vectors = load_vectors("sentencepiece.json");
  for (const char* name : {"bpe", "unigram_bytes"}) {
    const std::string file = from_hex(vectors[name]["file"]);
    const PieceTokenizer tokenizer(io::parse_sentencepiece_model(std::as_bytes(std::span(file)), name), "",
                                   "");
    for (const std::string text :
         {"\xFF", "a\xC3", "\xE2\x96 x", " \xF0\x9F\x98", "\x80\x80the", "the\xED\xA0\x80"})
      EXPECT_EQ(tokenizer.decode(tokenizer.encode(text)), text) << name;
  }
}

TEST(PieceTokenizer, StreamsWithoutTheSpaceInFront) {
  const std::string file = from_hex(load_vectors("llama2c.json")["small"]["file"]);
  const auto tokenizer = std::make_shared<PieceTokenizer>(
      io::parse_llama2c_tokenizer(std::as_bytes(std::span(file)), "small.bin"), "", "");
  for (const bool start : {true, false}) {
    TextStream stream(tokenizer, start);
    std::string shown;
    for (const Tokenizer::Id id : tokenizer->encode("abc é 日")) shown += stream.push(id);
    EXPECT_EQ(shown + stream.finish(), start ? "abc é 日" : " abc é 日");
  }
}

// Long words use the heap, short ones linear scans: both must merge the same pairs.
TEST(PieceTokenizer, MergesLongWordsAsShortOnes) {
  const PieceTokenizer tokenizer = small_llama2c();
  const std::string text(1 << 20, 'a');
  const Ids ids = tokenizer.encode(text);
  EXPECT_EQ(tokenizer.decode(ids), text);
  EXPECT_LT(ids.size(), text.size() / 2);
}

}  // namespace
}  // namespace modewise::text
