// BERT's vocabularies, as vocab.txt and in tokenizer.json, on damaged and hostile files.

#include "modewise/io/tokenizers/word_piece_vocabulary.h"
#include "tests/io/allocation_meter.h"
#include "tests/io/damage.h"
#include "tests/io/vector_file.h"

namespace modewise::io {
namespace {

using Json = nlohmann::json;

void parse_vocabulary(std::span<const std::byte> bytes) {
  parse_word_piece_vocabulary(bytes, "file", {});
}
void parse_config(std::span<const std::byte> bytes) {
  parse_bert_tokenizer_config(to_text(bytes), "file");
}
void parse_json_file(std::span<const std::byte> bytes) {
  parse_tokenizer_json(bytes, "file");
}

const std::string kVocabulary = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\n##b\né\n";

Json word_piece_json() {
  return {{"added_tokens", {{{"id", 3}, {"content", "[SEP]"}, {"special", true}}}},
          {"normalizer", {{"type", "BertNormalizer"}, {"lowercase", false}, {"strip_accents", nullptr}}},
          {"pre_tokenizer", {{"type", "BertPreTokenizer"}}},
          {"post_processor", {{"type", "BertProcessing"}, {"cls", {"[CLS]", 2}}, {"sep", {"[SEP]", 3}}}},
          {"decoder", {{"type", "WordPiece"}, {"prefix", "##"}}},
          {"model",
           {{"type", "WordPiece"},
            {"unk_token", "[UNK]"},
            {"continuing_subword_prefix", "@@"},
            {"max_input_chars_per_word", 7},
            {"vocab", {{"[UNK]", 1}, {"[CLS]", 2}, {"[SEP]", 3}, {"a", 5}, {"@@b", 6}}}}}};
}

std::string changed_vocabulary(const std::function<void(Json&)>& change) {
  Json json = word_piece_json();
  change(json);
  return json.dump();
}

TEST(WordPieceVocabulary, IsATokenALine) {
  for (const std::string_view end : {"\n", "\r\n"}) {
    std::string file = kVocabulary;
    for (size_t at = 0; (at = file.find('\n', at)) != std::string::npos; at += end.size())
      file.replace(at, 1, end);
    const TokenizerJson tokenizer = parse_word_piece_vocabulary(to_bytes(file), "file", {});
    EXPECT_EQ(tokenizer.size, 8);
    EXPECT_EQ(tokenizer.vocabulary[6], "##b");
    EXPECT_EQ(tokenizer.vocabulary[7], "é");
    EXPECT_EQ(tokenizer.word_piece->unknown, 1);
    EXPECT_EQ(tokenizer.begin, 2);
    EXPECT_EQ(tokenizer.end, 3);
    ASSERT_EQ(tokenizer.added.size(), 5);
    EXPECT_EQ(tokenizer.added[4].content, "[MASK]");
    ASSERT_EQ(tokenizer.around.pair.size(), 5u);
    EXPECT_EQ(tokenizer.around.pair[4].mark, 3);
    EXPECT_EQ(tokenizer.around.pair[4].type, 1);
  }
}

TEST(WordPieceVocabulary, RefusesWhatIsWrong) {
  expect_refused(
      parse_vocabulary,
      {{"twice", "[UNK]\na\nb\na\n", "file, line 4: the token 'a' is a duplicate of line 2"},
       {"empty line", "[UNK]\n\nb", "file, line 2: expected a token, got an empty line"},
       {"no unknown", "a\nb\n", "file: none of the 2 tokens is '[UNK]', the token for unknown words"}});
  // A truncated file is a valid shorter vocabulary if it has the token for unknown words.
  for (size_t length = 0; length < kVocabulary.size(); ++length) {
    const std::string_view cut = std::string_view(kVocabulary).substr(0, length);
    const bool half = cut.ends_with("\xC3");  // of é
    const bool whole = length >= std::string_view("[PAD]\n[UNK]").size() && !half;
    EXPECT_EQ(message_of(parse_vocabulary, cut).empty(), whole) << length;
  }
  expect_flips_are_clean(parse_vocabulary, kVocabulary);
}

TEST(BertTokenizerConfig, SaysHowTextsChange) {
  const BertTokenizerConfig config = parse_bert_tokenizer_config(
      R"({"do_lower_case": false, "tokenize_chinese_chars": false, "mask_token": {"content": "<mask>"},
          "pad_token": "<pad>", "cls_token": "<s>", "sep_token": {"content": "</s>"}, "unk_token": null, "chat": [{"x": 1}]})",
      "file");
  EXPECT_FALSE(config.normalizing.lower_case);
  EXPECT_FALSE(config.normalizing.strip_accents);
  EXPECT_FALSE(config.normalizing.space_chinese);
  EXPECT_EQ(config.mask, "<mask>");
  EXPECT_EQ(config.padding, "<pad>");
  EXPECT_EQ(config.opening, "<s>");
  EXPECT_EQ(config.closing, "</s>");
  EXPECT_EQ(config.unknown, "[UNK]");
  EXPECT_TRUE(parse_bert_tokenizer_config(R"({"do_lower_case": false, "strip_accents": true})", "file")
                  .normalizing.strip_accents);
}

TEST(BertTokenizerConfig, RefusesWhatIsWrong) {
  const std::string file =
      R"({"do_lower_case": true, "mask_token": {"content": "[MASK]"}, "do_basic_tokenize": true})";
  expect_every_truncation_fails(parse_config, file);
  expect_flips_are_clean(parse_config, file);
  expect_refused(parse_config, {{"basic", R"({"do_basic_tokenize": false})",
                                 "file: the tokenizer_config.json is wrong at byte 22: do_basic_tokenize is "
                                 "false, which is not supported"},
                                {"bytes", "{\"\xFF\":1}", "file: not UTF-8 at byte 2"}});
}

TEST(WordPieceJson, IsReadWhole) {
  const TokenizerJson tokenizer = parse_tokenizer_json(to_bytes(word_piece_json().dump()), "file");
  ASSERT_TRUE(tokenizer.word_piece);
  EXPECT_EQ(tokenizer.size, 7);
  EXPECT_EQ(tokenizer.word_piece->continuing, "@@");
  EXPECT_EQ(tokenizer.word_piece->longest_word, 7);
  EXPECT_FALSE(tokenizer.word_piece->normalizing->lower_case);
  EXPECT_FALSE(tokenizer.word_piece->normalizing->strip_accents);
  EXPECT_TRUE(tokenizer.word_piece->normalizing->space_chinese);
  EXPECT_EQ(tokenizer.begin, 2);
  EXPECT_EQ(tokenizer.around.single.size(), 3u);
}

TEST(WordPieceJson, WithoutTemplateHasBertsMarksIfItsAddedTokensAre) {
  const auto marked = [](const std::string& closing, bool special) {
    const std::string file = changed_vocabulary([&](Json& json) {
      json["post_processor"] = nullptr;
      json["model"]["vocab"] = {{"[UNK]", 1}, {"[CLS]", 2}, {closing, 3}};
      json["added_tokens"] = {{{"id", 3}, {"content", closing}, {"special", special}},
                              {{"id", 2}, {"content", "[CLS]"}, {"special", true}}};
    });
    return parse_tokenizer_json(to_bytes(file), "file");
  };
  const TokenizerJson tokenizer = marked("[SEP]", true);
  EXPECT_EQ(tokenizer.begin, 2);
  EXPECT_EQ(tokenizer.end, 3);
  ASSERT_EQ(tokenizer.around.pair.size(), 5u);
  EXPECT_EQ(tokenizer.around.pair[0].mark, 2);
  EXPECT_EQ(tokenizer.around.pair[4].mark, 3);
  EXPECT_EQ(tokenizer.around.pair[4].type, 1);
  EXPECT_TRUE(marked("[SEP]", false).around.single.empty());
  EXPECT_FALSE(marked("[END]", true).begin);
}

TEST(WordPieceJson, RefusesWhatIsWrong) {
  const std::string file = word_piece_json().dump();
  expect_every_truncation_fails(parse_json_file, file);
  expect_flips_are_clean(parse_json_file, file);
  expect_refused(
      parse_json_file,
      {{"unknown", changed_vocabulary([](Json& json) { json["model"]["unk_token"] = "<unk>"; }),
        "file: the tokenizer.json is wrong at byte 207: the vocabulary has no token '<unk>' for unknown "
        "words"},
       {"longest", changed_vocabulary([](Json& json) { json["model"]["max_input_chars_per_word"] = 100000; }),
        "file: the tokenizer.json is wrong at byte 174: max_input_chars_per_word is 100000; expected 1 to "
        "1000"},
       {"normalizer", changed_vocabulary([](Json& json) { json["normalizer"]["type"] = "NFC"; }),
        "file: the tokenizer.json is wrong at byte 283: unsupported normalizer 'NFC'"},
       {"pre_tokenizer", changed_vocabulary([](Json& json) { json["pre_tokenizer"]["type"] = "Whitespace"; }),
        "file: the tokenizer.json is wrong at byte 443: unsupported pre_tokenizer 'Whitespace'"},
       {"none", changed_vocabulary([](Json& json) { json["pre_tokenizer"] = nullptr; }),
        "file: the tokenizer.json is wrong at byte 447: WordPiece needs the pre_tokenizer "
        "'BertPreTokenizer'"},
       {"no cls", changed_vocabulary([](Json& json) { json["post_processor"].erase("cls"); }),
        "file: the tokenizer.json is wrong at byte 408: the post_processor BertProcessing that ends here "
        "needs cls and sep"},
       {"mark", changed_vocabulary([](Json& json) {
          json["post_processor"] = {{"type", "TemplateProcessing"},
                                    {"single", {{{"SpecialToken", {{"id", "[X]"}, {"type_id", 0}}}}}}};
        }),
        "file: the tokenizer.json is wrong at byte 447: the template above has the special token '[X]', "
        "which is not in its special_tokens"},
       {"type", changed_vocabulary([](Json& json) {
          json["post_processor"] = {{"type", "TemplateProcessing"},
                                    {"single", {{{"Sequence", {{"id", "A"}, {"type_id", -1}}}}}}};
        }),
        "file: the tokenizer.json is wrong at byte 408: type_id -1 is outside 0 to 65535"}});
}

TEST(WordPieceFiles, TakeLittleMemory) {
  const auto peak = [](const Parse& parse, const std::string& before,
                       const std::function<std::string(int)>& one, const std::string& after) {
    std::string content = before;
    for (int i = 0; content.size() < kLarge / 4; ++i) content += one(i);
    content += after;
    const std::vector<std::byte> bytes = to_bytes(content);
    const AllocationMeter meter;
    try {
      parse(bytes);
    } catch (const Error&) {
    }
    EXPECT_LE(meter.peak(), 2 * static_cast<int64_t>(content.size()) + (int64_t{64} << 20));
  };
  const auto token = [](int i) { return fmt::format("{:x}\n", i); };
  peak(parse_vocabulary, "[UNK]\n", token, "");
  peak(
      parse_vocabulary, "[UNK]\n", [](int) { return "\n"; }, "");
  peak(
      parse_config, "{\"x\":[0", [](int) { return ",0"; }, "]}");
  peak(
      parse_json_file,
      "{\"pre_tokenizer\":{\"type\":\"BertPreTokenizer\"},\"model\":{\"type\":\"WordPiece\",\"vocab\":{\"["
      "UNK]\":0",
      [](int i) { return fmt::format(",\"{:x}g\":{}", i, i + 1); }, "}}}");
  peak(
      parse_json_file,
      "{\"model\":{\"type\":\"WordPiece\",\"vocab\":{\"[UNK]\":0}},\"post_processor\":{\"type\":"
      "\"TemplateProcessing\",\"special_tokens\":{\"a\":{}",
      [](int i) { return fmt::format(",\"{:x}\":{{\"ids\":[0]}}", i); }, "}}}");
}

}  // namespace
}  // namespace modewise::io
