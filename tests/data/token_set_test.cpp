// Splits of text, and contents of token files.

#include "modewise/data/token_set.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>

#include "modewise/core/random.h"
#include "modewise/data/text_documents.h"
#include "modewise/data/token_windows.h"
#include "modewise/io/arrays/safetensors.h"
#include "modewise/text/load_tokenizer.h"
#include "tests/data/scratch.h"

namespace modewise::data {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class TokenSets : public testing::Test {
 protected:
  TokenSet load(bool with_test = true) const {
    return load_token_set(config_, *tokenizer_, "bytes", with_test);
  }
  std::string refused() const {
    return error_of(ErrorKind::data, [&] { load(); });
  }
  std::vector<std::string> texts(const TokenPart& part) const {
    std::vector<std::string> out;
    for (const TokenSpan& span : part.spans) {
      std::vector<int64_t> ids(static_cast<size_t>(span.size()));
      part.file->read(span.begin, span.size(), ids.data());
      out.push_back(tokenizer_->decode(std::vector<int32_t>(ids.begin(), ids.end())));
      EXPECT_EQ(span.bytes, std::ssize(out.back()));
      EXPECT_EQ(span.words, count_words(out.back()));
    }
    return out;
  }
  ScratchFolder folder_;
  DocumentConfig config_;
  std::shared_ptr<text::Tokenizer> tokenizer_ = text::load_tokenizer("bytes");
};

TEST_F(TokenSets, CutEachDocument) {
  config_.path = folder_.write("a.txt", "0123456789\n<|endoftext|>\nabc\n<|endoftext|>\nx y z\n");
  config_.split = "cut";
  config_.split_ratios = {0.5, 0.3, 0.2};
  TokenSet set = load();
  EXPECT_THAT(texts(set.train), ElementsAre("01234", "abc", "x y"));
  EXPECT_THAT(texts(set.validation), ElementsAre("567", " "));
  EXPECT_THAT(texts(set.test), ElementsAre("89", "z"));
  EXPECT_EQ(set.train.tokens(), 11);
  EXPECT_EQ(set.train.bytes(), 11);
  EXPECT_EQ(set.train.words(), 4);
  EXPECT_TRUE(set.notes.empty());
  EXPECT_THAT(texts(set.part("train")), ElementsAre("01234", "abc", "x y"));
  EXPECT_THAT(texts(set.part("validation")), ElementsAre("567", " "));
  EXPECT_THAT(texts(set.part("test")), ElementsAre("89", "z"));
  EXPECT_THAT(texts(set.part("all")), ElementsAre("0123456789", "abc", "x y z"));
  EXPECT_TRUE(load(false).test.spans.empty());
  config_.split_ratios = {0.4, 0.2, 0.1};  // the rest is dropped
  set = load();
  EXPECT_THAT(texts(set.train), ElementsAre("0123", "ab", "x "));
  EXPECT_THAT(texts(set.validation), ElementsAre("45", "y"));
  EXPECT_THAT(texts(set.test), ElementsAre("6"));
}

TEST_F(TokenSets, AreCutByThemselvesWhereDocumentsAreFew) {
  config_.split_ratios = {0.5, 0.5, 0};
  config_.path = folder_.write("a.jsonl", "{\"text\": \"abcd\"}\n{\"text\": \"efgh\"}\n");
  TokenSet set = load();
  EXPECT_THAT(texts(set.validation), ElementsAre("cd", "gh"));
  EXPECT_THAT(set.notes,
              ElementsAre(config_.path + " contains two documents: cut into consecutive training, validation "
                                         "and test splits"));
  config_.split_ratios = {0.5, 0, 0.5};
  EXPECT_EQ(load().notes.size(), 1U);
  config_.split_ratios = {1, 0, 0};
  EXPECT_TRUE(load().notes.empty());
  config_.split_ratios = {0.5, 0.5, 0};
  config_.path = folder_.write("b.jsonl", "{\"text\": \"abcd\"}\n{\"text\": \"efgh\"}\n{\"text\": \"ij\"}\n");
  EXPECT_EQ(load().train.spans.size(), 1U);  // three are split: 1.5 rounds up for validation
  config_.path = folder_.path("a.jsonl");
  config_.split = "documents";
  EXPECT_EQ(load().train.spans.size(), 1U);
  config_.split_ratios = {0.5, 0.75, 0.25};
  EXPECT_THAT(refused(),
              HasSubstr("2 documents cannot be split into training, validation and test by 0.5, 0.75, 0.25"));
}

TEST_F(TokenSets, DealDocumentsInTheOrderOfTheirSeed) {
  std::string lines;
  for (int i = 0; i < 9; ++i) lines += fmt::format("{{\"text\": \"{}\"}}\n", i);
  config_.path = folder_.write("a.jsonl", lines);
  config_.split_seed = 5;
  const auto dealt = [&](size_t begin, size_t end) {
    const auto order = random_permutation(9, {5, RandomSite::splits, 0});
    std::vector<std::string> out;
    for (size_t i = begin; i < end; ++i) out.push_back(std::to_string(order[i]));
    std::sort(out.begin(), out.end());
    return out;
  };
  config_.split_ratios = {0.78, 0.02, 0.2};  // 0.18 of 9, at least one; 1.8
  TokenSet set = load();
  EXPECT_EQ(texts(set.train), dealt(0, 6));
  EXPECT_EQ(texts(set.validation), dealt(6, 7));
  EXPECT_EQ(texts(set.test), dealt(7, 9));
  config_.split_ratios = {0.5, 0, 0.25};  // 4.5 rounds up
  set = load();
  EXPECT_EQ(texts(set.train), dealt(0, 5));
  EXPECT_TRUE(set.validation.spans.empty());
  EXPECT_EQ(texts(set.test), dealt(5, 7));
  config_.split_ratios = {0.05, 0.5, 0.44};  // 1, 5 and 4 of 9
  EXPECT_THAT(refused(), HasSubstr("9 documents cannot be split into"));
  config_.split_ratios = {0, 0.5, 0.5};
  EXPECT_THAT(refused(), HasSubstr("data.split = \"cut\" cuts each document"));
}

TEST_F(TokenSets, TakePartsFromOtherFiles) {
  config_.path = folder_.write("a.txt", "0123456789");
  config_.split_ratios = {0.5, 0.3, 0.2};
  const std::string own = load().hash;
  config_.test = folder_.write("t.txt", "test");
  TokenSet set = load();
  EXPECT_THAT(texts(set.train), ElementsAre("0123456"));
  EXPECT_THAT(texts(set.validation), ElementsAre("789"));
  EXPECT_THAT(texts(set.test), ElementsAre("test"));
  EXPECT_EQ(set.source, config_.path);
  EXPECT_NE(set.hash, own);
  const TokenSet without = load(false);
  EXPECT_TRUE(without.test.spans.empty());
  EXPECT_EQ(without.hash, own);
  config_.split_ratios = {0.5, 0.25, 0.125};  // 8 of 10 tokens, 2 for validation
  EXPECT_THAT(texts(load().train), ElementsAre("012345"));
  config_.test = folder_.path("nowhere");
  EXPECT_EQ(error_of(ErrorKind::no_input, [&] { load(); }), "there is no file or folder " + config_.test);
  EXPECT_NO_THROW(load(false));
  config_ = {};
  config_.path = folder_.write("b.txt", "x");
  config_.split_ratios = {0.5, 0.5, 0};
  EXPECT_NO_THROW(load());
  config_.split = "cut";
  config_.split_ratios = {0.1, 0.5, 0.1};
  EXPECT_EQ(refused(), config_.path + ": there is no text to train on");
}

TEST(CountWords, KnowsEverySpace) {
  for (const char* space : {"\t",     "\n",     "\v",     "\f",     "\r",     "\x1c",   "\x1d",
                            "\x1e",   "\x1f",   " ",      "\u0085", "\u00a0", "\u1680", "\u2000",
                            "\u2005", "\u200a", "\u2028", "\u2029", "\u202f", "\u205f", "\u3000"})
    EXPECT_EQ(count_words(std::string("a") + space + "b" + space + space + "c"), 3) << space;
  for (const char* other : {"\b",     "\x0e",   "\x1b",   "!",      "\u0084", "\u00a1",   "\u1681",  "\u16c0",
                            "\u200b", "\u2027", "\u202a", "\u202e", "\u2030", "\u205e",   "\u2060",  "\u20c0",
                            "\u3001", "\u3040", "\u3400", "\u1740", "\xc2",   "\xe2\x80", "\xe3\x80"})
    EXPECT_EQ(count_words(std::string("a") + other), 1) << other;
  EXPECT_EQ(count_words("\u00a0"), 2);
}

TEST(TextDocuments, SeparateByLinesThatHoldTheMarkAlone) {
  using Parts = std::vector<std::string_view>;
  EXPECT_EQ(split_documents("a\r\n<|endoftext|> \t\r\nb\n\n<|endoftext|>", "endoftext"), (Parts{"a", "b\n"}));
  EXPECT_EQ(split_documents("<|endoftext|>\n<|endoftext|>\na", "endoftext"), Parts{"a"});
  EXPECT_EQ(split_documents("a<|endoftext|>\nx <|endoftext|>\n", "endoftext"),
            Parts{"a<|endoftext|>\nx <|endoftext|>"});
  EXPECT_EQ(split_documents("a\n\nb\n \nc\n", "blank"), (Parts{"a", "b", "c"}));
  EXPECT_TRUE(split_documents("", "blank").empty());
}

TEST(TextDocuments, AreFoundAndCounted) {
  const ScratchFolder folder;
  DocumentConfig config;
  std::vector<std::string> all, notes;
  const auto read = [&](const std::string& path) {
    all.clear(), notes.clear();
    for_each_document(
        config, path, [&](std::string_view text) { all.emplace_back(text); }, notes);
    return all;
  };
  EXPECT_THAT(read(folder.write("a.txt", "x <|endoftext|>\n<|endoftext|>\ny")),
              ElementsAre("x <|endoftext|>", "y"));
  EXPECT_THAT(read(folder.write("b.txt", "x\n<|endoftext|>")), ElementsAre("x"));
  EXPECT_THAT(read(folder.write("c.txt", "<|endoftext|>\r\nx")), ElementsAre("x"));
  EXPECT_THAT(read(folder.write("d.txt", "x\n<|endoftext|> y\n")), ElementsAre("x\n<|endoftext|> y\n"));
  EXPECT_THAT(read(folder.write("e.ndjson", "{\"text\": \"x\"}\r\n \n{\"text\": \" \"}")), ElementsAre("x"));
  EXPECT_THAT(notes, ElementsAre(folder.path("e.ndjson") + ": 1 empty documents skipped"));
  config.field = "body";
  EXPECT_THAT(read(folder.write("f.jsonl", "{\"body\": \"x\", \"text\": 1}")), ElementsAre("x"));
  EXPECT_TRUE(notes.empty());
  const auto refused = [&](const char* text) {
    return error_of(ErrorKind::data, [&] { read(folder.write("g.jsonl", text)); });
  };
  EXPECT_EQ(refused("\n{\"text\": \"x\"}\n"), folder.path("g.jsonl") +
                                                  ":2: the object has no text field 'body' (set "
                                                  "data.text_field, --text-field); its texts are 'text'");
  EXPECT_TRUE(refused("[1]").starts_with(folder.path("g.jsonl") + ": expected text, got a JSON list"));
  EXPECT_EQ(refused("\n"), folder.path("g.jsonl") + " contains no text");
  // Files of a folder are read as a file is; hidden folders are skipped.
  folder.write("books/.git/x.txt", "no");
  folder.write("books/a.txt", "x\n<|endoftext|>\ny");
  EXPECT_THAT(read(folder.path("books")), ElementsAre("x", "y"));
  config.separator = "none";
  EXPECT_EQ(read(folder.path("books")).size(), 1U);
  config.separator = "endoftext";
  EXPECT_THAT(read(folder.path("books")), ElementsAre("x", "y"));
  config.separator = "blank";
  EXPECT_THAT(read(folder.write("h.txt", "x\n\ny")), ElementsAre("x", "y"));
  folder.write("none/.hidden", "no");
  EXPECT_EQ(error_of(ErrorKind::no_input, [&] { read(folder.path("none")); }),
            "there is no file in " + folder.path("none"));
}

struct Stored {
  std::string name, dtype;
  std::vector<int64_t> shape;
  std::vector<uint8_t> bytes;
};

TEST(TokenFile, NamesTheTensorThatDoesNotFit) {
  const ScratchFolder folder;
  const std::string path = folder.path("t.safetensors");
  const auto integers = [](const char* name, std::vector<int64_t> values) {
    Stored out{name, "I64", {std::ssize(values)}, std::vector<uint8_t>(values.size() * 8)};
    for (size_t i = 0; i < values.size(); ++i) out.bytes[8 * i] = static_cast<uint8_t>(values[i]);
    return out;
  };
  const std::vector<Stored> good = {{"tokens", "U16", {2}, {1, 0, 8, 0}},
                                    integers("documents", {0, 2}),
                                    integers("bytes", {3}),
                                    integers("words", {1})};
  std::map<std::string, std::string> metadata = {{"format", "modewise tokens 1"}, {"vocabulary", "9"}};
  const auto write = [&](const std::vector<Stored>& stored) {
    std::vector<io::TensorView> tensors;
    for (const Stored& one : stored)
      tensors.push_back({one.name, one.dtype, one.shape, std::as_bytes(std::span(one.bytes))});
    io::write_safetensors(path, tensors, metadata);
  };
  const auto refused = [&](const std::vector<Stored>& stored) {
    write(stored);
    return error_of(ErrorKind::data, [&] { TokenFile{std::filesystem::path(path)}; });
  };
  write(good);
  EXPECT_EQ(TokenFile(path).documents()[0].bytes, 3);
  EXPECT_EQ(TokenFile(path).documents()[0].words, 1);
  EXPECT_EQ(TokenFile(path).tokens(), 2);
  EXPECT_TRUE(is_token_file(path));
  for (size_t i = 0; i < 4; ++i) {
    std::vector<Stored> less = good;
    less.erase(less.begin() + static_cast<int64_t>(i));
    EXPECT_EQ(refused(less),
              fmt::format("{} is not a token file: it has no tensor '{}'", path, good[i].name));
    EXPECT_EQ(is_token_file(path), i > 1);
    std::vector<Stored> flat = good;
    flat[i].shape.push_back(1);
    EXPECT_THAT(refused(flat), HasSubstr(fmt::format("'{}' must be ", good[i].name)));
    std::vector<Stored> typed = good;
    typed[i].dtype = i == 0 ? "I16" : "U64";
    EXPECT_THAT(refused(typed), HasSubstr(fmt::format("'{}' must be ", good[i].name)));
  }
  EXPECT_EQ(refused({good[0], good[1], good[2], integers("words", {1, 1})}),
            path + ": 'words' must be I64 of one dimension and 1 elements, got I64 of 1 dimensions");
  EXPECT_THAT(refused({good[0], integers("documents", {1, 2}), good[2], good[3]}),
              HasSubstr("'documents' must range from 0 to 2, the number of tokens"));
  EXPECT_THAT(refused({good[0], good[1], good[2], {"words", "I64", {1}, std::vector<uint8_t>(8, 255)}}),
              HasSubstr("document 0 has tokens 0 to 2, 3 bytes and -1 words"));
  EXPECT_THAT(
      refused({good[0], {"documents", "I64", {0}, {}}, {"bytes", "I64", {0}, {}}, {"words", "I64", {0}, {}}}),
      HasSubstr("'documents' must have at least one element"));
  for (const char* size : {"0", "-1", "9x", "", "2147483648"}) {
    metadata["vocabulary"] = size;
    EXPECT_EQ(refused(good),
              fmt::format("{}: the metadata's vocabulary must be a size, got '{}'", path, size));
  }
  metadata["vocabulary"] = "8";
  EXPECT_EQ(refused(good), path + ": token 1 is 8, but the vocabulary size is 8");
  metadata["vocabulary"] = "2147483647";
  write(good);
  EXPECT_NO_THROW(TokenFile{std::filesystem::path(path)});
  metadata.erase("format");
  EXPECT_EQ(refused(good), path + ": the metadata must have format = 'modewise tokens 1', got ''");
  EXPECT_FALSE(is_token_file(folder.path("")));
  EXPECT_FALSE(is_token_file(folder.write("t.txt", "x")));
}

TEST(TokenFile, IsBuiltOfDocuments) {
  TokenFileBuilder builder({"name", "hash", "path", 9}, "made");
  builder.begin_document(3, 2);
  builder.add(std::vector<int32_t>{1, 2});
  builder.add(std::vector<int32_t>{3});
  builder.begin_document(4, 1);
  builder.add(std::vector<int32_t>{8});
  const TokenFile file = builder.finish();
  ASSERT_EQ(file.documents().size(), 2U);
  EXPECT_EQ(file.documents()[1].begin, 3);
  EXPECT_EQ(file.documents()[1].end, 4);
  EXPECT_EQ(file.tokenizer().name, "name");
  EXPECT_EQ(file.tokenizer().hash, "hash");
  std::vector<int64_t> ids(2);
  file.read(2, 2, ids.data());
  EXPECT_THAT(ids, ElementsAre(3, 8));
  EXPECT_NO_THROW(file.read(4, 0, ids.data()));
  const std::pair<int64_t, int64_t> wrong[] = {{-1, 1}, {0, -1}, {3, 2}};
  for (const auto& one : wrong)
    EXPECT_EQ(error_of(ErrorKind::internal, [&] { file.read(one.first, one.second, ids.data()); }),
              fmt::format("tokens {} … {} of 4 requested", one.first, one.first + one.second));
  const ScratchFolder folder;
  file.write(folder.path("t.safetensors"));
  const io::SafetensorsFile stored(folder.path("t.safetensors"));
  EXPECT_EQ(stored.metadata(), (std::map<std::string, std::string>{{"format", "modewise tokens 1"},
                                                                   {"source", "made"},
                                                                   {"tokenizer", "name"},
                                                                   {"tokenizer_hash", "hash"},
                                                                   {"tokenizer_path", "path"},
                                                                   {"vocabulary", "9"}}));
  const TokenFile read(folder.path("t.safetensors"));
  EXPECT_EQ(read.documents()[0].words, 2);
  EXPECT_EQ(read.documents()[1].bytes, 4);
  EXPECT_EQ(read.tokenizer().hash, "hash");
  EXPECT_EQ(read.source(), folder.path("t.safetensors"));
  EXPECT_EQ(error_of(ErrorKind::internal,
                     [] {
                       TokenFileBuilder({"", "", "", 0}, "");
                     }),
            "a tokenizer without tokens");
}

TEST(TokenWindows, NeedATokenMoreThanTheirContext) {
  TokenFileBuilder builder({"", "", "", 9}, "made");
  builder.begin_document(0, 0);
  builder.add(std::vector<int32_t>{1, 2, 3});
  const auto file = std::make_shared<const TokenFile>(builder.finish());
  const TokenStream stream({file, file->documents()}, std::nullopt, std::nullopt);
  EXPECT_EQ(TokenWindows("training", stream, 2).size(), 1);
  EXPECT_EQ(error_of(ErrorKind::data, [&] { TokenWindows("training", stream, 3); }),
            "the training text has 3 tokens, but a window of 3 and its last target need 4");
  EXPECT_EQ(error_of(ErrorKind::config, [&] { TokenWindows("training", stream, 0); }),
            "a window must have at least one token, got 0");
  EXPECT_EQ(error_of(ErrorKind::internal, [&] { TokenWindows("training", stream, 2).last(); }),
            "the last window is whole");
  int64_t id = 0;
  EXPECT_EQ(error_of(ErrorKind::internal, [&] { TokenStream().read(0, 1, &id); }),
            "tokens of an empty stream requested");
  stream.read(7, 1, &id);
  EXPECT_EQ(id, 2);  // the stream wraps around
}

}  // namespace
}  // namespace modewise::data
