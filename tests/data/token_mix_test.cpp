// Mixes of texts by shares of tokens: counts against sums over the documents, errors, the order of documents.

#include "modewise/data/token_mix.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <set>

#include "modewise/data/token_set.h"
#include "modewise/text/load_tokenizer.h"
#include "tests/data/scratch.h"

namespace modewise::data {
namespace {

using testing::Each;
using testing::ElementsAre;

class Mixes : public testing::Test {
 protected:
  /// Documents of one letter: of `sizes` words, two bytes each.
  std::shared_ptr<const TokenFile> source(char letter, const std::vector<int64_t>& sizes) {
    std::string lines;
    for (const int64_t size : sizes) {
      std::string text;
      for (int64_t i = 0; i < size; ++i) text += fmt::format("{} ", letter);
      lines += fmt::format("{{\"text\": \"{}\"}}\n", text);
    }
    std::vector<std::string> notes;
    return load_tokens(config_, folder_.write(fmt::format("{}.jsonl", letter), lines), *tokenizer_, "bytes",
                       notes);
  }
  TokenMix mix(const MixOptions& options) const {
    return mix_tokens(sources_, options, sources_.front()->tokenizer(), "mix");
  }
  std::string text_of(const TokenFile& file, const TokenSpan& span) const {
    std::vector<int64_t> ids(static_cast<size_t>(span.size()));
    file.read(span.begin, span.size(), ids.data());
    return tokenizer_->decode(std::vector<int32_t>(ids.begin(), ids.end()));
  }
  ScratchFolder folder_;
  DocumentConfig config_;
  std::shared_ptr<text::Tokenizer> tokenizer_ = text::load_tokenizer("bytes");
  std::vector<std::shared_ptr<const TokenFile>> sources_;
};

TEST_F(Mixes, WithoutSharesHasAllDocumentsInOrder) {
  sources_ = {source('a', {3, 1}), source('b', {2})};
  const TokenMix all = mix({});
  ASSERT_EQ(all.file.documents().size(), 3u);
  EXPECT_EQ(text_of(all.file, all.file.documents()[0]), "a a a ");
  EXPECT_EQ(text_of(all.file, all.file.documents()[1]), "a ");
  EXPECT_EQ(text_of(all.file, all.file.documents()[2]), "b b ");
  EXPECT_EQ(all.file.tokens(), 12);
  EXPECT_EQ(all.file.documents()[0].bytes, 6);
  EXPECT_EQ(all.file.documents()[0].words, sources_[0]->documents()[0].words);
  // The result is a token file like any other.
  all.file.write(folder_.path("mix.safetensors"));
  EXPECT_EQ(TokenFile(std::filesystem::path(folder_.path("mix.safetensors"))).hash(), all.file.hash());
}

TEST_F(Mixes, LeavesOutDocumentsWithFewerWords) {
  sources_ = {source('a', {3, 1, 5}), source('b', {2, 9})};
  const int64_t words = sources_[0]->documents()[0].words;
  const TokenMix kept = mix({.shares = {}, .minimum_words = words, .seed = 1});
  ASSERT_EQ(kept.file.documents().size(), 3u);
  for (const TokenSpan& document : kept.file.documents()) EXPECT_GE(document.words, words);
  EXPECT_EQ(kept.parts[0].too_short, 1);
  EXPECT_EQ(kept.parts[1].too_short, 1);
  EXPECT_EQ(kept.parts[1].tokens, 18);
  sources_ = {source('a', {3, 1, 5})};
  EXPECT_EQ(error_of(ErrorKind::data, [&] { mix({.shares = {}, .minimum_words = 100, .seed = 1}); }),
            folder_.path("a.jsonl") + ": none of 3 documents has 100 words");
}

TEST_F(Mixes, HasTheSharesAndRepeatsNoDocument) {
  std::vector<int64_t> sizes;
  for (int64_t i = 0; i < 200; ++i) sizes.push_back(5 + i % 7);
  sources_ = {source('a', sizes), source('b', sizes), source('c', {700, 300})};
  const TokenMix made = mix({.shares = {20, 20, 10}, .minimum_words = 0, .seed = 1});
  // a and b are used up first: 20 of 50 parts.
  EXPECT_EQ(made.parts[0].documents, 200);
  EXPECT_EQ(made.parts[0].tokens, sources_[0]->tokens());
  EXPECT_EQ(made.parts[1].tokens, sources_[1]->tokens());
  const auto a = static_cast<double>(sources_[0]->tokens());
  EXPECT_NEAR(static_cast<double>(made.parts[2].tokens), a / 2, 700);  // half of the longest document
  const TokenMix small = mix({.shares = {1, 3, .5}, .minimum_words = 0, .seed = 1});
  const auto b = static_cast<double>(sources_[1]->tokens());
  EXPECT_EQ(small.parts[1].documents, 200);
  EXPECT_NEAR(static_cast<double>(small.parts[0].tokens), b / 3, 11);  // half of the longest document
  std::multiset<int64_t> taken, given;
  for (const TokenSpan& one : small.file.documents())
    if (text_of(small.file, one)[0] == 'a') taken.insert(one.size());
  for (const TokenSpan& one : sources_[0]->documents()) given.insert(one.size());
  EXPECT_TRUE(std::includes(given.begin(), given.end(), taken.begin(), taken.end()));
  // Another seed takes other documents; the same seed the same ones.
  const auto hash = [&](int64_t seed) {
    return mix({.shares = {1, 3, .5}, .minimum_words = 0, .seed = seed}).file.hash();
  };
  EXPECT_EQ(hash(1), small.file.hash());
  EXPECT_NE(hash(2), small.file.hash());
}

TEST_F(Mixes, RefusesSharesThatDoNotFit) {
  sources_ = {source('a', {3}), source('b', {3})};
  const auto refused = [&](ErrorKind kind, std::vector<double> shares) {
    return error_of(kind, [&] { mix({.shares = std::move(shares), .minimum_words = 0, .seed = 1}); });
  };
  EXPECT_EQ(refused(ErrorKind::usage, {1}), "1 share for 2 texts: each text needs one");
  EXPECT_EQ(refused(ErrorKind::usage, {1, 0}), "a share must be above 0, got 0");
  EXPECT_EQ(refused(ErrorKind::usage, {1, -1}), "a share must be above 0, got -1");
  EXPECT_EQ(refused(ErrorKind::usage, {1, std::nan("")}), "a share must be above 0, got nan");
  EXPECT_EQ(
      refused(ErrorKind::data, {1, 10}),
      folder_.path("a.jsonl") +
          ": its share of the mix, 1 tokens, is less than half of each of its documents: a larger share, "
          "or a source with shorter documents, such as of a text whose documents are separated "
          "(--separator), helps");
}

}  // namespace
}  // namespace modewise::data
