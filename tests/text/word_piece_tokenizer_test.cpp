// WordPiece on vocabularies small enough for results by hand.

#include "modewise/text/word_piece_tokenizer.h"

#include <gtest/gtest.h>

#include <span>

#include "modewise/core/error.h"
#include "modewise/core/file.h"
#include "modewise/io/tokenizers/word_piece_vocabulary.h"
#include "modewise/text/load_tokenizer.h"
#include "tests/error_of.h"
#include "tests/scratch_folder.h"

namespace modewise::text {
namespace {

using Ids = std::vector<Tokenizer::Id>;

const std::string kVocabulary =
    "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nun\n##aff\n##able\n##a\naff\n!\n中\ne\n##e\ni\n##i\n";
enum : Tokenizer::Id {
  kUnknown = 1,
  kClosing = 3,
  kMask = 4,
  kUn,
  kAff,
  kAble,
  kLetterA,
  kAffWord,
  kBang,
  kChinese,
  kE
};

WordPieceTokenizer tokenizer(const io::BertTokenizerConfig& config = {}) {
  return {io::parse_word_piece_vocabulary(std::as_bytes(std::span(kVocabulary)), "file", config), "", ""};
}

TEST(WordPieceTokenizer, TakesTheLongestPieceFirst) {
  EXPECT_EQ(tokenizer().encode("unaffable"), (Ids{kUn, kAff, kAble}));
  EXPECT_EQ(tokenizer().encode("una aff!unaffa"), (Ids{kUn, kLetterA, kAffWord, kBang, kUn, kAff, kLetterA}));
  EXPECT_EQ(tokenizer().encode(""), Ids{});
  EXPECT_EQ(tokenizer().encode(" \t\n\u3000\u200b"), Ids{});
}

TEST(WordPieceTokenizer, AWordThatNoPiecesMakeIsUnknownAsAWhole) {
  EXPECT_EQ(tokenizer().encode("unaffx un"), (Ids{kUnknown, kUn}));
  EXPECT_EQ(tokenizer().encode("ab"), (Ids{kUnknown}));
  const std::string hundred = "un" + std::string(98, 'a');
  EXPECT_EQ(tokenizer().encode(hundred).size(), 99);
  EXPECT_EQ(tokenizer().encode(hundred + "a"), (Ids{kUnknown}));
}

TEST(WordPieceTokenizer, NormalizesAsConfigured) {
  EXPECT_EQ(tokenizer().encode("ÜN"), (Ids{kUn}));
  EXPECT_EQ(tokenizer().encode("un中un"), (Ids{kUn, kChinese, kUn}));
  EXPECT_EQ(tokenizer().encode("e\u0301É"), (Ids{kE, kE + 1}));
  EXPECT_EQ(tokenizer().encode("İ"), (Ids{kE + 2}));
  io::BertTokenizerConfig cased;
  cased.normalizing = {.lower_case = false};
  EXPECT_EQ(tokenizer(cased).encode("Un ün"), (Ids{kUnknown, kUn}));
  cased.normalizing = {.space_chinese = false, .strip_accents = false};
  EXPECT_EQ(tokenizer(cased).encode("un中 ün UN"), (Ids{kUnknown, kUnknown, kUn}));
}

TEST(WordPieceTokenizer, ChangesNothingWithoutANormalizer) {
  io::TokenizerJson plain =
      io::parse_word_piece_vocabulary(std::as_bytes(std::span(kVocabulary)), "file", {});
  plain.word_piece->normalizing.reset();
  const WordPieceTokenizer unchanged(std::move(plain), "", "");
  EXPECT_EQ(unchanged.encode("un aff!"), (Ids{kUn, kAffWord, kBang}));
  for (const char* text : {"UN", "ün", "un中", "un\x01"})
    EXPECT_EQ(unchanged.encode(text), (Ids{kUnknown})) << text;
}

TEST(WordPieceTokenizer, BytesThatAreNoTextAreLeftOut) {
  EXPECT_EQ(tokenizer().encode("un\xFF\xC3 a\xE4\xB8"), (Ids{kUn, kUnknown}));
  EXPECT_EQ(tokenizer().encode(std::string("u\0n", 3)), (Ids{kUn}));
}

TEST(WordPieceTokenizer, SaysWhatATokenStandsFor) {
  const std::string text = " ÜNaffable中e\u0301!";
  std::vector<std::string> shown;
  for (const Tokenizer::Piece& piece : tokenizer().encode_pieces(text))
    shown.push_back(text.substr(piece.begin, piece.end - piece.begin));
  EXPECT_EQ(shown, (std::vector<std::string>{"ÜN", "aff", "able", "中", "e", "!"}));
}

TEST(WordPieceTokenizer, MarksWithinATextAreTokens) {
  EXPECT_EQ(tokenizer().encode("un[MASK]un [SEP]"), (Ids{kUn, kMask, kUn, kClosing}));
  EXPECT_EQ(tokenizer().encode("[mask]"), (Ids{kUnknown, kUnknown, kUnknown}));
}

TEST(WordPieceTokenizer, DecodesWithSpacesBetweenWords) {
  EXPECT_EQ(tokenizer().decode(tokenizer().encode("UNaffable  un!")), "unaffable un !");
}

TEST(WordPieceTokenizer, VocabularyAndConfigAreKeptTogether) {
  const ScratchFolder scratch;
  std::filesystem::create_directory(scratch / "from");
  std::filesystem::create_directory(scratch / "to");
  write_file_atomically(scratch / "from" / "vocab.txt", kVocabulary);
  write_file_atomically(scratch / "from" / "tokenizer_config.json", "{\"do_lower_case\": false}");
  const auto first = load_tokenizer((scratch / "from").string());
  EXPECT_EQ(first->name(), "WordPiece, 16 tokens");
  EXPECT_EQ(first->encode("UN un"), (Ids{kUnknown, kUn}));
  keep_tokenizer(*first, scratch / "to");
  const auto second = load_tokenizer((scratch / "to").string());
  EXPECT_EQ(second->encode("UN un"), (Ids{kUnknown, kUn}));
  EXPECT_EQ(second->hash(), first->hash());
  write_file_atomically(scratch / "from" / "tokenizer_config.json", "{}");
  EXPECT_NE(load_tokenizer((scratch / "from").string())->hash(), first->hash());
  EXPECT_EQ(error_of(ErrorKind::data, [&] { keep_tokenizer(*first, scratch / "to"); }),
            (scratch / "from/vocab.txt").string() + " has changed since the tokenizer was loaded");
}

}  // namespace
}  // namespace modewise::text
