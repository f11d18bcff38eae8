// Documents, token files, packed windows, and recall samples.

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "modewise/core/file.h"
#include "modewise/data/language_modeling/key_value_recall.h"
#include "modewise/data/text_documents.h"
#include "modewise/data/token_file.h"
#include "modewise/data/token_set.h"
#include "modewise/data/token_windows.h"
#include "modewise/io/arrays/safetensors.h"
#include "modewise/text/load_tokenizer.h"
#include "tests/data/scratch.h"

namespace modewise::data {
namespace {

std::vector<std::string> documents_of(const std::string& path, const std::string& separator = "auto") {
  TextConfig config;
  config.separator = separator;
  std::vector<std::string> all, notes;
  for_each_document(
      config, path, [&](std::string_view text) { all.emplace_back(text); }, notes);
  return all;
}

using Texts = std::vector<std::string>;

TEST(TextDocuments, AFileIsOneUnlessItHasEndOfTextLines) {
  const ScratchFolder folder;
  EXPECT_EQ(documents_of(folder.write("a.txt", "one\n\ntwo\n")), Texts{"one\n\ntwo\n"});
  EXPECT_EQ(documents_of(folder.write("b.txt", "one\n<|endoftext|>\ntwo\nmore\n<|endoftext|>\n")),
            (Texts{"one", "two\nmore"}));
  // Within a line it is ordinary text.
  EXPECT_EQ(documents_of(folder.write("c.txt", "one <|endoftext|> two")), Texts{"one <|endoftext|> two"});
  EXPECT_EQ(documents_of(folder.path("b.txt"), "none").size(), 1u);
}

TEST(TextDocuments, BlankLinesSeparateWhenAsked) {
  const ScratchFolder folder;
  EXPECT_EQ(documents_of(folder.write("a.txt", "\n\none\r\nmore\r\n \t\r\n\ntwo"), "blank"),
            (Texts{"one\r\nmore", "two"}));
}

TEST(TextDocuments, FoldersInOrderOfNamesAndJsonLines) {
  const ScratchFolder folder;
  folder.write("books/b.txt", "second");
  folder.write("books/a/z.txt", "first");
  folder.write("books/.hidden", "no");
  folder.write("books/c.jsonl",
               "{\"text\": \"third\"}\n\n{\"text\": \"f\\u00f6urth\", \"x\": 1}\n{\"text\": \"\"}\n");
  EXPECT_EQ(documents_of(folder.path("books")), (Texts{"first", "second", "third", "f\u00f6urth"}));
}

TEST(TextDocuments, SaysWhatIsWrong) {
  const ScratchFolder folder;
  EXPECT_NE(error_of(ErrorKind::no_input, [&] { documents_of(folder.path("none.txt")); }).find("none.txt"),
            std::string::npos);
  const std::string broken = folder.write("x.jsonl", "{\"text\": \"a\"}\n{\"text\": 3}\n");
  EXPECT_NE(error_of(ErrorKind::data, [&] { documents_of(broken); }).find("x.jsonl:2"), std::string::npos);
  const std::string cut = folder.write("y.jsonl", "{\"text\": \"a\"\n");
  EXPECT_NE(error_of(ErrorKind::data, [&] { documents_of(cut); }).find("y.jsonl:1"), std::string::npos);
  error_of(ErrorKind::data, [&] { documents_of(folder.write("empty.txt", " \n")); });
}

TEST(TextDocuments, RefusesOtherFilesByTheirContent) {
  const ScratchFolder folder;
  const auto refusal = [&](const std::string& name, const std::string& content) {
    const std::string path = folder.write(name, content);
    return error_of(ErrorKind::data, [&] { documents_of(path); });
  };
  const auto expect_words = [](const std::string& message, const std::string& words) {
    EXPECT_NE(message.find(words), std::string::npos) << message;
  };
  expect_words(refusal("a.txt", "\x89PNG\r\n"), "a.txt: expected text, got a PNG image; extract its text");
  expect_words(refusal("b.jsonl", "\x1F\x8B text"), "got a gzip file");
  expect_words(refusal("c.txt", std::string("text\0", 5)), "c.txt: NUL at byte 4: not a text file");
  expect_words(refusal("d.txt", std::string("t\0e\0x\0t\0", 8)), "UTF-16 without a byte order mark");
  expect_words(refusal("e.txt", "text\x01"), "more than 5 % of it are control characters");
  expect_words(refusal("f.json", " [{\"text\": \"a\"}]\n"), "got a JSON list");
  TextConfig config;
  config.allow_binary = true;
  std::vector<std::string> notes;
  int documents = 0;
  for_each_document(
      config, folder.path("c.txt"), [&](std::string_view text) { documents += text.size() == 5 ? 1 : 0; },
      notes);
  EXPECT_EQ(documents, 1);
  // UTF-16 with a mark, JSON lines under another name.
  EXPECT_EQ(documents_of(folder.write("g.txt", std::string("\xFF\xFEt\0\xE9\0", 6))), Texts{"t\u00e9"});
  EXPECT_EQ(documents_of(folder.write("h.txt", "{\"text\": \"a\"}\n{\"text\": \"b\"}\n")), (Texts{"a", "b"}));
}

// len(re.split(r"\s+", text)) of Python 3.12.
TEST(CountWords, AsPythonSplits) {
  const std::map<std::string, int64_t> wanted = {{"", 1},
                                                 {"a", 1},
                                                 {" a", 2},
                                                 {"a b  c\n", 4},
                                                 {"a\u00a0b", 2},
                                                 {"a\u2003\u3000b", 2},
                                                 {"a\x1c"
                                                  "b",
                                                  2},
                                                 {"a\u200bb", 1},
                                                 {"\u00e9t\u00e9 \u4e2d\u6587", 2}};
  for (const auto& [text, count] : wanted) EXPECT_EQ(count_words(text), count) << text;
}

TokenFile three_documents(int64_t vocabulary) {
  TokenFileBuilder builder({"test", "0123", "/where/it/was", vocabulary}, "made");
  const std::vector<std::vector<int32_t>> documents = {{1, 2, 3}, {}, {4, 5}};
  for (const auto& ids : documents) {
    builder.begin_document(10, 2);
    builder.add(ids);
  }
  return builder.finish();
}

TEST(TokenFile, ComesBackFromDisk) {
  const ScratchFolder folder;
  for (const int64_t vocabulary : {int64_t{6}, int64_t{65536}, int64_t{65537}}) {
    const TokenFile made = three_documents(vocabulary);
    made.write(folder.path("t.safetensors"));
    EXPECT_TRUE(is_token_file(folder.path("t.safetensors")));
    const TokenFile read(folder.path("t.safetensors"));
    EXPECT_EQ(read.hash(), made.hash());
    EXPECT_EQ(made.source(), "made");
    EXPECT_EQ(read.tokenizer().path, "/where/it/was");
    EXPECT_EQ(read.tokenizer().vocabulary, vocabulary);
    ASSERT_EQ(read.documents().size(), 3u);
    EXPECT_EQ(read.documents()[2].begin, 3);
    EXPECT_EQ(read.documents()[2].bytes, 10);
    std::vector<int64_t> ids(5);
    read.read(0, 5, ids.data());
    EXPECT_EQ(ids, (std::vector<int64_t>{1, 2, 3, 4, 5}));
    const io::SafetensorsFile file(folder.path("t.safetensors"));
    EXPECT_EQ(file.find("tokens")->dtype, vocabulary <= 65536 ? "U16" : "U32");
  }
}

TEST(TokenFile, RefusesWhatDoesNotFit) {
  const ScratchFolder folder;
  const std::vector<uint16_t> tokens = {1, 2, 9};
  const std::map<std::string, std::string> metadata = {{"format", "modewise tokens 1"}, {"vocabulary", "9"}};
  const auto write = [&](std::vector<int64_t> documents, std::vector<int64_t> sizes, auto meta,
                         std::span<const uint16_t> ids) {
    const auto n = std::ssize(sizes);
    const std::vector<io::TensorView> tensors = {
        {"tokens", "U16", {std::ssize(ids)}, std::as_bytes(ids)},
        {"documents", "I64", {std::ssize(documents)}, std::as_bytes(std::span<const int64_t>(documents))},
        {"bytes", "I64", {n}, std::as_bytes(std::span<const int64_t>(sizes))},
        {"words", "I64", {n}, std::as_bytes(std::span<const int64_t>(sizes))}};
    io::write_safetensors(folder.path("t.safetensors"), tensors, meta);
    return error_of(ErrorKind::data, [&] { TokenFile(folder.path("t.safetensors")); });
  };
  const std::span<const uint16_t> all(tokens), good = all.first(2);
  EXPECT_NE(write({0, 3}, {1}, metadata, all).find("token 2 is 9, but the vocabulary size is 9"),
            std::string::npos);
  EXPECT_NE(write({0, 1}, {1}, metadata, good).find("from 0 to 2"), std::string::npos);
  EXPECT_NE(write({0, 2, 1, 2}, {1, 1, 1}, metadata, good).find("document 1"), std::string::npos);
  EXPECT_NE(write({0, 9, 2}, {1, 1}, metadata, good).find("document 0"), std::string::npos);
  EXPECT_NE(write({0, 2}, {-1}, metadata, good).find("document 0"), std::string::npos);
  EXPECT_NE(write({}, {}, metadata, good).find("documents"), std::string::npos);
  EXPECT_NE(write({0, 2}, {1, 1}, metadata, good).find("bytes"), std::string::npos);
  auto other = metadata;
  other["vocabulary"] = "99999999999999999999";
  EXPECT_NE(write({0, 2}, {1}, other, good).find("vocabulary"), std::string::npos);
  other["format"] = "something else";
  EXPECT_NE(write({0, 2}, {1}, other, good).find("format"), std::string::npos);
}

std::vector<int64_t> values_of(const at::Tensor& tensor) {
  const int64_t* data = tensor.const_data_ptr<int64_t>();
  return {data, data + tensor.numel()};
}

TokenPart part_of(TokenFile file) {
  auto shared = std::make_shared<const TokenFile>(std::move(file));
  return {shared, shared->documents()};
}

TEST(TokenStream, PutsTokensAroundDocumentsAndGoesRound) {
  const TokenStream stream(part_of(three_documents(10)), 8, 9);
  const std::vector<int64_t> wanted = {8, 1, 2, 3, 9, 8, 9, 8, 4, 5, 9};
  ASSERT_EQ(stream.size(), std::ssize(wanted));
  for (int64_t at = 0; at < stream.size(); ++at)
    for (const int64_t count : {1, 2, 5, 11, 25}) {
      std::vector<int64_t> read(static_cast<size_t>(count)), expected;
      stream.read(at, count, read.data());
      for (int64_t i = 0; i < count; ++i)
        expected.push_back(wanted[static_cast<size_t>((at + i) % stream.size())]);
      ASSERT_EQ(read, expected) << at << " " << count;
    }
  EXPECT_EQ(TokenStream(part_of(three_documents(10)), std::nullopt, std::nullopt).size(), 5);
}

TEST(TokenWindows, EveryTokenButTheFirstIsATargetOnce) {
  const TokenStream stream(part_of(three_documents(10)), 8, 9);
  for (const int64_t context : {1, 3, 4, 10}) {
    const TokenWindows windows("training", stream, context);
    std::vector<int64_t> targets;
    for (int64_t w = 0; w < windows.size(); ++w)
      for (const int64_t id : values_of(windows.gather(std::vector<int64_t>{w}).targets))
        targets.push_back(id);
    if (windows.rest() > 0)
      for (const int64_t id : values_of(windows.last().targets)) targets.push_back(id);
    EXPECT_EQ(targets, (std::vector<int64_t>{1, 2, 3, 9, 8, 9, 8, 4, 5, 9})) << context;
  }
  EXPECT_NE(error_of(ErrorKind::data, [&] { TokenWindows("validation", stream, 11); }).find("validation"),
            std::string::npos);
  const TokenWindows windows("training", stream, 4);
  const TokenBatch shifted = windows.gather(std::vector<int64_t>{1, 0}, 3);
  EXPECT_EQ(values_of(shifted.inputs), (std::vector<int64_t>{8, 4, 5, 9, 3, 9, 8, 9}));
  EXPECT_EQ(values_of(shifted.targets), (std::vector<int64_t>{4, 5, 9, 8, 9, 8, 9, 8}));
}

std::string text_of(const TokenPart& part, const text::Tokenizer& tokenizer) {
  std::string text;
  for (const TokenSpan& span : part.spans) {
    std::vector<int64_t> ids(static_cast<size_t>(span.size()));
    part.file->read(span.begin, span.size(), ids.data());
    text += tokenizer.decode(std::vector<int32_t>(ids.begin(), ids.end())) + "|";
  }
  return text;
}

TEST(TokenSet, DealsDocumentsOnce) {
  const ScratchFolder folder;
  std::string lines;
  for (int i = 0; i < 40; ++i) lines += fmt::format("{{\"text\": \"document {}\"}}\n", i);
  TextConfig config;
  config.path = folder.write("a.jsonl", lines);
  config.split_ratios = {0.8, 0.1, 0.1};
  const auto tokenizer = text::load_tokenizer("bytes");
  const TokenSet set = load_token_set(config, *tokenizer, "bytes");
  EXPECT_EQ(set.train.spans.size(), 32u);
  EXPECT_EQ(set.validation.spans.size(), 4u);
  EXPECT_EQ(set.test.spans.size(), 4u);
  std::set<int64_t> begins;
  for (const TokenPart* part : {&set.train, &set.validation, &set.test})
    for (const TokenSpan& span : part->spans) EXPECT_TRUE(begins.insert(span.begin).second);
  EXPECT_EQ(begins.size(), 40u);
  EXPECT_EQ(set.part("all").bytes(), set.train.bytes() + set.validation.bytes() + set.test.bytes());
  EXPECT_EQ(load_token_set(config, *tokenizer, "bytes").test.spans.front().begin,
            set.test.spans.front().begin);
  config.split_seed = 2;
  EXPECT_NE(text_of(load_token_set(config, *tokenizer, "bytes").test, *tokenizer),
            text_of(set.test, *tokenizer));
}

TEST(TokenSet, CutsOneDocumentAndSaysSo) {
  const ScratchFolder folder;
  TextConfig config;
  config.path = folder.write("a.txt", "0123456789 1234 6789");
  config.split_ratios = {0.5, 0.25, 0.25};
  const auto tokenizer = text::load_tokenizer("bytes");
  const TokenSet set = load_token_set(config, *tokenizer, "bytes");
  EXPECT_EQ(text_of(set.train, *tokenizer), "0123456789|");
  EXPECT_EQ(text_of(set.validation, *tokenizer), " 1234|");
  EXPECT_EQ(text_of(set.test, *tokenizer), " 6789|");
  EXPECT_EQ(set.validation.bytes(), 5);
  EXPECT_EQ(set.validation.words(), 2);
  ASSERT_EQ(set.notes.size(), 1u);
  EXPECT_NE(set.notes.front().find("one document"), std::string::npos);
  // Fractions of splits with their own files go to training.
  config.validation = folder.write("b.txt", "other");
  const TokenSet other = load_token_set(config, *tokenizer, "bytes");
  EXPECT_EQ(text_of(other.train, *tokenizer), "0123456789 1234|");
  EXPECT_EQ(text_of(other.validation, *tokenizer), "other|");
  EXPECT_NE(other.hash, set.hash);
}

TEST(TokenSet, MapsTokenFilesOfItsTokenizerAlone) {
  const ScratchFolder folder;
  const auto tokenizer = text::load_tokenizer("bytes");
  TextConfig config;
  config.path = folder.write("a.txt", "some text\n<|endoftext|>\nmore\n<|endoftext|>\nand more");
  std::vector<std::string> notes;
  const TokenFile made = tokenize(config, config.path, *tokenizer, "bytes", notes);
  EXPECT_EQ(made.documents().size(), 3u);
  made.write(folder.path("a.safetensors"));
  TextConfig mapped = config;
  mapped.path = folder.path("a.safetensors");
  EXPECT_EQ(load_token_set(mapped, *tokenizer, "bytes").hash,
            load_token_set(config, *tokenizer, "bytes").hash);
  three_documents(6).write(folder.path("b.safetensors"));
  mapped.path = folder.path("b.safetensors");
  EXPECT_NE(error_of(ErrorKind::data, [&] { load_token_set(mapped, *tokenizer, "bytes"); }).find("'test'"),
            std::string::npos);
}

TEST(KeyValueRecall, QuestionsFollowFromThePairs) {
  RecallConfig config;
  config.pairs = {1, 3, 8};
  config.length = 64;
  config.distance = 10;
  config.vocabulary = 9;
  std::set<int64_t> counts;
  for (uint64_t index = 0; index < 200; ++index) {
    const RecallSample sample = make_recall_sample(config, 5, index);
    ASSERT_EQ(sample.tokens.size(), 64u);
    std::map<int64_t, int64_t> value_of;  // of a key, in the part before the marker
    const auto marker = std::find(sample.tokens.begin(), sample.tokens.end(), 0);
    ASSERT_NE(marker, sample.tokens.end());
    for (auto at = sample.tokens.begin(); at < marker; ++at)
      if (*at <= 9) {
        ASSERT_EQ(value_of.count(*at), 0u);
        value_of[*at] = at[1];
        ASSERT_GE(marker - at, 12);
      }
    for (const RecallQuestion& question : sample.questions) {
      const auto at = static_cast<size_t>(question.position);
      ASSERT_EQ(value_of.at(sample.tokens[at]), sample.tokens[at + 1]);
      ASSERT_EQ(sample.tokens[at - static_cast<size_t>(question.distance)], sample.tokens[at + 1]);
      ASSERT_EQ(question.pairs, std::ssize(value_of));
    }
    ASSERT_EQ(sample.questions.size(), value_of.size());
    counts.insert(std::ssize(value_of));
    const TokenBatch batch = recall_batch(std::span(&sample, 1));
    int64_t asked = 0;
    const std::vector<int64_t> targets = values_of(batch.targets);
    for (size_t i = 0; i < targets.size(); ++i)
      if (targets[i] >= 0) {
        ++asked;
        ASSERT_EQ(targets[i], sample.tokens[i + 1]);
      }
    ASSERT_EQ(asked, std::ssize(sample.questions));
  }
  EXPECT_EQ(counts, (std::set<int64_t>{1, 3, 8}));
  EXPECT_EQ(make_recall_sample(config, 5, 7).tokens, make_recall_sample(config, 5, 7).tokens);
  EXPECT_NE(make_recall_sample(config, 5, 7).tokens, make_recall_sample(config, 6, 7).tokens);
}

TEST(KeyValueRecall, RepeatedQuestionsAreAnsweredByTheNearestPlace) {
  RecallConfig config;
  config.pairs = {2, 3};
  config.length = 32;
  config.questions = 9;
  config.vocabulary = 5;
  EXPECT_EQ(config.asked(2), 2);
  config.repeated = true;
  EXPECT_EQ(config.asked(2), 9);
  std::set<size_t> asked_again;
  for (uint64_t index = 0; index < 50; ++index) {
    const RecallSample sample = make_recall_sample(config, 3, index);
    ASSERT_EQ(sample.questions.size(), 9u);
    std::set<int64_t> keys;
    for (const RecallQuestion& question : sample.questions) {
      const auto at = static_cast<size_t>(question.position);
      size_t before = at;  // the nearest position of the same key
      do --before;
      while (sample.tokens[before] != sample.tokens[at]);
      ASSERT_EQ(question.distance, static_cast<int64_t>(at - before - 1));
      ASSERT_EQ(sample.tokens[before + 1], sample.tokens[at + 1]);
      keys.insert(sample.tokens[at]);
    }
    asked_again.insert(keys.size());
  }
  EXPECT_LE(*asked_again.rbegin(), 3u);
}

TEST(TextConfig, SaysWhatDoesNotFit) {
  TextConfig config;
  config.path = "recall";
  config.recall.length = 60;
  EXPECT_NE(error_of(ErrorKind::config, [&] { config.validate("x.toml"); }).find("need 65 tokens"),
            std::string::npos);
  config.recall.pairs = {100};
  EXPECT_NE(error_of(ErrorKind::config, [&] { config.validate("x.toml"); }).find("vocabulary is 64"),
            std::string::npos);
  config.split_ratios = {0.5, 0.5, 0.5};
  error_of(ErrorKind::config, [&] { config.validate("x.toml"); });
}

}  // namespace
}  // namespace modewise::data
