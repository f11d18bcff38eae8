// The three readers of tokenizers on damaged and hostile files.

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <tuple>

#include "modewise/io/tokenizers/character_map.h"
#include "modewise/io/tokenizers/llama2c_tokenizer.h"
#include "modewise/io/tokenizers/sentencepiece_model.h"
#include "modewise/io/tokenizers/tokenizer_json.h"
#include "tests/io/allocation_meter.h"
#include "tests/io/damage.h"
#include "tests/io/vector_file.h"

namespace modewise::io {
namespace {

void parse_llama2c(std::span<const std::byte> bytes) {
  parse_llama2c_tokenizer(bytes, "file");
}
void parse_model(std::span<const std::byte> bytes) {
  parse_sentencepiece_model(bytes, "file");
}
void parse_json(std::span<const std::byte> bytes) {
  parse_tokenizer_json(bytes, "file");
}

nlohmann::json vectors(const std::string& name) {
  return load_vectors("../../text/vectors/" + name);
}
std::string llama2c_file() {
  return to_text(from_hex(vectors("llama2c.json")["small"]["file"]));
}
std::string model_file(const std::string& name) {
  return to_text(from_hex(vectors("sentencepiece.json")[name]["file"]));
}
nlohmann::json json_file() {
  return vectors("byte_level.json")["gpt2"]["file"];
}

template <class T>
std::string replaced(std::string file, size_t at, T value) {
  std::memcpy(file.data() + at, &value, sizeof(T));
  return file;
}

/// Pieces "0", "1" … in hexadecimal digits, all with score 0.
std::string many_pieces(int32_t count) {
  std::string file("\10\0\0\0", 4);
  for (int32_t id = 0; id < count; ++id) {
    const std::string text = fmt::format("{:x}", id);
    file += std::string(4, '\0') + static_cast<char>(text.size()) + std::string(3, '\0') + text;
  }
  return file;
}

TEST(Llama2cTokenizer, BoundsTheNumberOfPieces) {
  expect_refused(parse_llama2c, {{"2^21 + 1", many_pieces((1 << 21) + 1), "file: more than 2097152 pieces"}});
}

TEST(Llama2cTokenizer, RefusesWhatIsWrong) {
  const std::string file = llama2c_file();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  std::string twice = file + std::string("\0\0\0\0\1\0\0\0a", 9);
  expect_refused(
      parse_llama2c,
      {{"empty", "", "file: the tokenizer ends at byte 0, within the longest piece's length (piece 0)"},
       {"no length", replaced<int32_t>(file, 0, 0),
        "file: not a llama2.c tokenizer: the longest piece is declared to have 0 bytes; expected 1 to 4096"},
       {"negative longest", replaced<int32_t>(file, 0, -1),
        "file: not a llama2.c tokenizer: the longest piece is declared to have -1 bytes; expected 1 to 4096"},
       {"huge longest", replaced<int32_t>(file, 0, 1 << 30),
        "file: not a llama2.c tokenizer: the longest piece is declared to have 1073741824 bytes; expected 1 "
        "to 4096"},
       {"other longest", replaced<int32_t>(file, 0, 100),
        "file: the longest piece is declared to have 100 bytes, but it has 6: the file is truncated or "
        "damaged"},
       {"NaN", replaced(file, 4, nan), "file: piece 0 at byte 4 has the score nan; expected a finite number"},
       {"infinity", replaced(file, 4, HUGE_VALF),
        "file: piece 0 at byte 4 has the score inf; expected a finite number"},
       {"negative length", replaced<int32_t>(file, 8, -5),
        "file: piece 0 at byte 4 is declared to have -5 bytes; expected 1 to 6, the declared maximum"},
       {"no bytes", replaced<int32_t>(file, 8, 0),
        "file: piece 0 at byte 4 is declared to have 0 bytes; expected 1 to 6, the declared maximum"},
       {"longer than all", replaced<int32_t>(file, 8, 7),
        "file: piece 0 at byte 4 is declared to have 7 bytes; expected 1 to 6, the declared maximum"},
       {"twice", twice, "file: piece 280 at byte 3846, 'a', is a duplicate of piece 260"},
       {"bytes elsewhere", replaced(file, file.find("<0x00>") + 4, 'G'),
        "file: piece 3 must be <0x00> (llama2.c writes the bytes there), but it is '<0x0G>'"}});
  // A file may end after any complete piece, but not before the longest piece and the byte pieces.
  for (size_t length = 0; length < 3500; ++length)
    EXPECT_NE(message_of(parse_llama2c, std::string_view(file).substr(0, length)), "") << length;
  EXPECT_EQ(message_of(parse_llama2c, file), "");
  expect_flips_are_clean(parse_llama2c, file);
}

// The wire format, written by hand.
std::string varint(uint64_t value) {
  std::string out;
  for (; value >= 0x80; value >>= 7) out += static_cast<char>(0x80 | (value & 0x7F));
  return out + static_cast<char>(value);
}
std::string field(int number, const std::string& bytes) {
  return varint(static_cast<uint64_t>(number) << 3 | 2) + varint(bytes.size()) + bytes;
}
std::string field(int number, uint64_t value) {
  return varint(static_cast<uint64_t>(number) << 3) + varint(value);
}
std::string score(float value) {
  return varint(2 << 3 | 5) + std::string(reinterpret_cast<const char*>(&value), 4);
}
std::string piece(const std::string& text, uint64_t type = 1) {
  return field(1, field(1, text) + score(-1) + field(3, type));
}

TEST(SentencePieceModel, ReadsPiecesAndSettings) {
  const SentencePieceModel model = parse_sentencepiece_model(to_bytes(model_file("bpe")), "file");
  EXPECT_EQ(model.algorithm, SentencePieceModel::Algorithm::bpe);
  EXPECT_TRUE(model.byte_fallback && model.add_dummy_prefix && model.escape_whitespaces);
  EXPECT_FALSE(model.remove_extra_whitespaces || model.whitespace_as_suffix);
  EXPECT_EQ(model.pieces[0], "<unk>");
  EXPECT_EQ(model.begin, 1);
  EXPECT_EQ(model.end, 2);
  EXPECT_EQ(model.pad, -1);
  EXPECT_EQ(model.normalizer, "identity");
  EXPECT_EQ(model.types[static_cast<size_t>(*model.pieces.find("ab"))],
            SentencePieceModel::Type::user_defined);
  EXPECT_GT(parse_sentencepiece_model(to_bytes(model_file("unigram")), "file").character_map.size(), 100u);
}

TEST(SentencePieceModel, ReadsNamesOfItsMarks) {
  const std::string pieces =
      piece("<unk>", 2) + piece("[CLS]", 3) + piece("[SEP]", 3) + piece("[PAD]", 3) + piece("<s>");
  const std::string settings = field(24, 1) + field(44, " ? ") + field(46, "[CLS]") + field(47, "[SEP]") +
                               field(48, "[PAD]") + field(53, "");
  const std::string normalizer =
      field(3, field(1, "x") + field(3, 0) + field(4, 0) + field(5, 0) + field(6, "unknown field"));
  const SentencePieceModel model =
      parse_sentencepiece_model(to_bytes(pieces + field(2, settings) + normalizer + field(5, "")), "file");
  EXPECT_EQ(model.algorithm, SentencePieceModel::Algorithm::unigram);
  EXPECT_EQ(model.unknown_text, " ? ");
  EXPECT_EQ(std::tuple(model.begin, model.end, model.pad), std::tuple(1, 2, 3));
  EXPECT_TRUE(model.whitespace_as_suffix);
  EXPECT_FALSE(model.add_dummy_prefix || model.remove_extra_whitespaces || model.escape_whitespaces);
  EXPECT_EQ(parse_sentencepiece_model(to_bytes(pieces + field(2, "") + field(3, "")), "file").begin, -1)
      << "<s> is no control piece";
}

TEST(SentencePieceModel, RefusesWhatIsWrong) {
  const std::string unknown = piece("<unk>", 2), a = piece("a"), trainer = field(2, field(3, 2)),
                    normalizer = field(3, "");
  const std::string end = trainer + normalizer, fallback = field(2, field(35, 1)) + normalizer;
  EXPECT_EQ(message_of(parse_model, unknown + a + end), "");
  const std::string nan = field(1, field(1, "x") + score(NAN));
  expect_refused(
      parse_model,
      {{"empty", "", "file: not a sentencepiece model, or truncated: it has no trainer_spec"},
       {"no normaliser", unknown + trainer,
        "file: not a sentencepiece model, or truncated: it has no normalizer_spec"},
       {"no unknown", a + end, "file: no piece is of the type unknown; expected one"},
       {"two unknown", unknown + piece("b", 2) + end,
        "file: pieces 0 and 1 are both of the type unknown; expected one"},
       {"twice", unknown + a + a + end,
        "file: not a readable model: at byte 28, piece 2 'a' is a duplicate of piece 1"},
       {"no text", unknown + field(1, score(1)) + end,
        "file: not a readable model: at byte 16, piece 1 has no text"},
       {"long", unknown + piece(std::string(5000, 'x')) + end,
        "file: not a readable model: at byte 16, piece 1 has 5000 bytes; the limit is 4096"},
       {"NaN", unknown + nan + end,
        "file: not a readable model: at byte 16, piece 1 has the score nan; expected a finite number"},
       {"type", unknown + piece("b", 7) + end,
        "file: not a readable model: at byte 16, piece 1 has the unknown type 7; expected 1 to 6"},
       {"unused", unknown + piece("b", 5) + end,
        "file: piece 1, 'b', is of the type unused, which is supported in unigram models only"},
       {"not UTF-8", unknown + piece("\xFF") + end,
        "file: not a readable model: at byte 20, the text of field 1 is not UTF-8"},
       {"bytes without fallback", unknown + piece("<0x00>", 6) + end,
        "file: piece 1 is of the type byte, but byte_fallback is off"},
       {"no bytes", unknown + fallback,
        "file: the model has byte_fallback, but only 0 of the 256 byte pieces"},
       {"bad byte", unknown + piece("<0xGG>", 6) + fallback,
        "file: piece 1, '<0xGG>', is of the type byte, which must be written as <0x00> to <0xFF>"},
       {"small letters", unknown + piece("<0x0a>", 6) + fallback,
        "file: piece 1, '<0x0a>', is of the type byte, which must be written as <0x00> to <0xFF>"},
       {"word", unknown + field(2, field(3, 3)) + normalizer,
        "file: not a readable model: at byte 18, the model is of type 3 word; unigram (1) and bpe (2) are "
        "supported"},
       {"another type", unknown + field(2, field(3, 9)) + normalizer,
        "file: not a readable model: at byte 18, the model is of type 9; unigram (1) and bpe (2) are "
        "supported"},
       {"delimiter", unknown + field(2, field(53, "|")) + normalizer,
        "file: not a readable model: at byte 18, the model was trained with a custom delimiter, which is not "
        "supported"},
       {"another file", "\x89PNG\r\n\x1A\n", "file: expected a sentencepiece model, got a PNG image"},
       {"twice trained", unknown + trainer + end,
        "file: not a readable model: at byte 20, duplicate field trainer_spec"},
       {"denormaliser", unknown + end + field(5, field(2, "x")),
        "file: not a readable model: at byte 24, the model changes text after decoding (denormalizer_spec), "
        "which is not supported"},
       {"small map", unknown + trainer + field(3, field(2, "abc")),
        "file: the normaliser's character map has 3 bytes; expected more than 4"},
       {"lying map", unknown + trainer + field(3, field(2, std::string("\xFF\xFF\xFF\x7F", 4) + "abcd")),
        "file: the normaliser's character map declares a trie of 2147483647 bytes; expected a multiple of 4 "
        "below 4"},
       {"map without end", unknown + trainer + field(3, field(2, std::string("\4\0\0\0aaaax", 9))),
        "file: the normaliser's character map must end with a zero byte, which ends its last replacement"},
       {"map points out", unknown + trainer + field(3, field(2, std::string("\4\0\0\0\xFF\0\0\x80x\0", 10))),
        "file: the normaliser's character map points to byte 255 of 2 bytes of replacements (at byte 4)"},
       {"long replacement",
        unknown + trainer +
            field(3, field(2, std::string("\4\0\0\0aaaa", 8) + std::string(2000, 'x') + '\0')),
        "file: the normaliser's character map has a replacement of 2000 bytes; the limit is 1024"},
       {"length lies", unknown + varint(1 << 3 | 2) + varint(1u << 30),
        "file: not a readable model: at byte 16, field 1 declares 1073741824 bytes, but only 0 "
        "follow"},
       {"group", unknown + varint(9 << 3 | 3),
        "file: not a readable model: at byte 16, field 9 has the unknown wire type 3"},
       {"field 0", unknown + std::string("\0\0", 2),
        "file: not a readable model: at byte 16, a field has the number 0"},
       {"endless number", std::string(11, '\xFF'),
        "file: not a readable model: at byte 0, a number takes more than 64 bits"},
       {"text as number", unknown + field(1, field(1, 5)) + end,
        "file: not a readable model: at byte 18, field 1 must be a text, but has the wire type 0"}});
  for (const char* name : {"bpe", "unigram"}) {
    const std::string file = model_file(name);
    for (size_t length = 0; length + 8 < file.size(); ++length)
      EXPECT_NE(message_of(parse_model, std::string_view(file).substr(0, length)), "") << length;
    expect_flips_are_clean(parse_model, file);
  }
}

std::string changed_file(const std::function<void(nlohmann::json&)>& change) {
  nlohmann::json json = json_file();
  change(json);
  return json.dump();
}

TEST(TokenizerJsonFile, RefusesWhatIsWrong) {
  using Json = nlohmann::json;
  EXPECT_EQ(message_of(parse_json, json_file().dump()), "");
  const auto in_order = [](bool digits_first) {
    return changed_file([&](Json& json) {
      const Json digits = {{"type", "Digits"}, {"individual_digits", true}}, bytes = json["pre_tokenizer"];
      json["pre_tokenizer"] = {
          {"type", "Sequence"},
          {"pretokenizers", digits_first ? Json::array({digits, bytes}) : Json::array({bytes, digits})}};
    });
  };
  EXPECT_EQ(message_of(parse_json, in_order(true)), "");
  EXPECT_EQ(message_of(parse_json, in_order(false)),
            "file: the tokenizer.json is wrong at byte 5494: the pre_tokenizer 'Digits' follows ByteLevel, "
            "which must be the last");
  const std::string deep(100'000, '[');
  expect_refused(
      parse_json,
      {{"empty", "", "file: the tokenizer.json is wrong at byte 0: '{' expected at the start"},
       {"nothing", "{}",
        "file: the tokenizer.json is wrong at byte 2: the file has no \"model\": it is not a tokenizer.json"},
       {"deep", "{\"x\":" + deep,
        "file: the tokenizer.json is wrong at byte 517: values are nested deeper than 512"},
       {"deep in the model", "{\"model\":{\"vocab\":" + deep + "}}",
        "file: the tokenizer.json is wrong at byte 529: values are nested deeper than 512"},
       {"not UTF-8", "{\"\xFF\":1}", "file: the tokenizer.json is not UTF-8 at byte 2"},
       {"half a pair", changed_file([](Json& json) { json["x"] = 1; }).insert(1, "\"\\ud800\":1,"),
        "file: the tokenizer.json is wrong at byte 7: a high surrogate without its low one"},
       {"more behind", json_file().dump() + "{}",
        "file: the tokenizer.json is wrong at byte 5510: unexpected text after the end"},
       {"twice", "{\"model\":{},\"model\":{}}",
        "file: the tokenizer.json is wrong at byte 20: duplicate key 'model'"},
       {"Unigram", changed_file([](Json& json) { json["model"]["type"] = "Unigram"; }),
        "file: the tokenizer.json is wrong at byte 1752: unsupported model 'Unigram'; BPE and WordPiece are "
        "supported"},
       {"byte_fallback", changed_file([](Json& json) { json["model"]["byte_fallback"] = true; }),
        "file: the tokenizer.json is wrong at byte 4967: byte_fallback is on, but the vocabulary has no "
        "token "
        "<0x00>"},
       {"dropout", changed_file([](Json& json) { json["model"]["dropout"] = 0.1; }),
        "file: the tokenizer.json is wrong at byte 519: the model has dropout, which is not supported"},
       {"suffix", changed_file([](Json& json) { json["model"]["end_of_word_suffix"] = "</w>"; }),
        "file: the tokenizer.json is wrong at byte 548: the model has end_of_word_suffix, which is not "
        "supported"},
       {"no vocabulary", changed_file([](Json& json) { json["model"].erase("vocab"); }),
        "file: the tokenizer.json is wrong at byte 585: the model has no \"vocab\""},
       {"empty vocabulary", changed_file([](Json& json) { json["model"]["vocab"] = Json::object(); }),
        "file: the tokenizer.json is wrong at byte 1785: the vocabulary is empty"},
       {"same id",
        changed_file([](Json& json) { json["model"]["vocab"]["a"] = json["model"]["vocab"]["b"]; }),
        "file: the tokenizer.json is wrong at byte 2410: token 68, 'b', has the same id as 'a'"},
       {"same token",
        changed_file([](Json&) {}).insert(json_file().dump().find("\"vocab\":{") + 9, "\"a\":5000,"),
        "file: the tokenizer.json is wrong at byte 2366: token 67, 'a', is a duplicate of token 5000"},
       {"negative id", changed_file([](Json& json) { json["model"]["vocab"]["a"] = -1; }),
        "file: the tokenizer.json is wrong at byte 2361: the id of a token is -1; expected 0 to 2097151"},
       {"huge id", changed_file([](Json& json) { json["model"]["vocab"]["a"] = 2000000000; }),
        "file: the tokenizer.json is wrong at byte 2361: the id of a token is 2000000000; expected 0 to "
        "2097151"},
       {"half id", changed_file([](Json& json) { json["model"]["vocab"]["a"] = 1.5; }),
        "file: the tokenizer.json is wrong at byte 2361: the id of a token must be an integer"},
       {"empty token", changed_file([](Json& json) { json["model"]["vocab"][""] = 999; }),
        "file: the tokenizer.json is wrong at byte 1784: token 999, '', is empty"},
       {"no byte", changed_file([](Json& json) { json["model"]["vocab"].erase("Ā"); }),
        "file: the tokenizer.json is wrong at byte 4959: the vocabulary has no token for the byte 0 ('Ā'), "
        "so it cannot encode every text"},
       {"outside", changed_file([](Json& json) { json["model"]["vocab"]["日"] = 999; }),
        "file: the tokenizer.json is wrong at byte 4968: token 999, '日', has a character outside the "
        "byte-level alphabet"},
       {"missing part", changed_file([](Json& json) {
          json["model"]["merges"][0] = {"qqq", "a"};
        }),
        "file: the tokenizer.json is wrong at byte 596: merge 0 needs the token 'qqq', which is not in the "
        "vocabulary"},
       {"missing result", changed_file([](Json& json) {
          json["model"]["merges"][0] = {"q", "q"};
        }),
        "file: the tokenizer.json is wrong at byte 596: merge 0 needs the token 'qq', which is not in the "
        "vocabulary"},
       {"empty part", changed_file([](Json& json) {
          json["model"]["merges"][0] = {"", "a"};
        }),
        "file: the tokenizer.json is wrong at byte 596: merge 0 needs the token '', which is not in the "
        "vocabulary"},
       {"one part", changed_file([](Json& json) { json["model"]["merges"][0] = "ab"; }),
        "file: the tokenizer.json is wrong at byte 596: merge 0, 'ab', must be two parts separated by a "
        "space"},
       {"three parts", changed_file([](Json& json) { json["model"]["merges"][0] = "a b c"; }),
        "file: the tokenizer.json is wrong at byte 596: merge 0, 'a b c', must be two parts separated by a "
        "space"},
       {"normalizer", changed_file([](Json& json) {
          json["normalizer"] = {{"type", "NFC"}};
        }),
        "file: the tokenizer.json is wrong at byte 4983: the normalizer 'NFC' changes text before it is "
        "split, which is not supported"},
       {"pre_tokenizer", changed_file([](Json& json) {
          json["pre_tokenizer"] = {{"type", "Metaspace"}};
        }),
        "file: the tokenizer.json is wrong at byte 5393: unsupported pre_tokenizer 'Metaspace'"},
       {"no pre_tokenizer", changed_file([](Json& json) { json["pre_tokenizer"] = nullptr; }),
        "file: the tokenizer.json is wrong at byte 5376: the pre_tokenizer does not end with ByteLevel; only "
        "byte-level BPE is supported"},
       {"decoder", changed_file([](Json& json) {
          json["decoder"] = {{"type", "WordPiece"}};
        }),
        "file: the tokenizer.json is wrong at byte 360: unsupported decoder 'WordPiece'"},
       {"post", changed_file([](Json& json) {
          json["post_processor"] = {{"type", "Odd"}};
        }),
        "file: the tokenizer.json is wrong at byte 5020: unsupported post_processor 'Odd'"},
       {"mark",
        changed_file([](Json& json) { json["post_processor"]["special_tokens"]["<s>"]["ids"] = {100000}; }),
        "file: the tokenizer.json is wrong at byte 5326: id 100000 is outside the vocabulary of 360 ids"},
       {"added twice", changed_file([](Json& json) { json["added_tokens"][1]["content"] = "<s>"; }),
        "file: the tokenizer.json is wrong at byte 126: two added tokens have the same content ('<s>', id "
        "1)"},
       {"added id twice", changed_file([](Json& json) { json["added_tokens"][1]["id"] = 0; }),
        "file: the tokenizer.json is wrong at byte 126: two added tokens have the same id ('</s>', id 0)"},
       {"added elsewhere", changed_file([](Json& json) { json["added_tokens"][1]["id"] = 5000; }),
        "file: the tokenizer.json is wrong at byte 126: the added token '</s>' has the id 5000, but the "
        "vocabulary gives it 1"},
       {"single word", changed_file([](Json& json) { json["added_tokens"][1]["single_word"] = true; }),
        "file: the tokenizer.json is wrong at byte 126: added tokens with single_word are not supported"}});
  const std::string file = json_file().dump();
  for (size_t length = 0; length < file.size(); length += length < 400 ? 1 : 7)
    EXPECT_NE(message_of(parse_json, std::string_view(file).substr(0, length)), "") << length;
}

std::string many(const std::string& before, const std::function<std::string(int)>& one,
                 const std::string& after) {
  std::string text = before;
  for (int i = 0; text.size() < kLarge / 4; ++i) text += one(i);
  return text + after;
}

TEST(TokenizerFiles, TakeLittleMemory) {
  const auto peak = [](const Parse& parse, const std::string& content) {
    const std::vector<std::byte> bytes = to_bytes(content);
    const AllocationMeter meter;
    try {
      parse(bytes);
    } catch (const Error&) {
    }
    EXPECT_LE(meter.peak(), 2 * static_cast<int64_t>(content.size()) + (int64_t{64} << 20));
  };
  peak(parse_model, many(
                        "", [](int i) { return field(1, field(1, fmt::format("{:x}", i))); }, ""));
  peak(parse_model, many(
                        "", [](int) { return field(1, ""); }, ""));
  peak(parse_llama2c, many(
                          std::string("\x07\0\0\0", 4),
                          [](int i) {
                            const std::string text = fmt::format("{:x}", i);
                            return std::string(4, '\0') + static_cast<char>(text.size()) +
                                   std::string(3, '\0') + text;
                          },
                          ""));
  peak(parse_json, many(
                       "{\"model\":{\"merges\":[],\"vocab\":{\"a\":0",
                       [](int i) { return fmt::format(",\"{:x}g\":{}", i, i + 1); }, "}}}"));
  peak(parse_json,
       many(
           "{\"model\":{\"vocab\":{\"a\":0},\"merges\":[\"a a\"", [](int) { return ",\"a a\""; }, "]}}"));
  peak(parse_json, many(
                       "{\"model\":{},\"added_tokens\":[{}",
                       [](int i) { return fmt::format(",{{\"id\":{},\"content\":\"{}\"}}", i, i); }, "]}"));
  peak(parse_json, many(
                       "{\"model\":[0", [](int) { return ",0"; }, "]}"));
}

}  // namespace
}  // namespace modewise::io
