// The three readers of tokenizers on damaged and hostile files.

#include <cmath>
#include <cstring>
#include <limits>

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

TEST(Llama2cTokenizer, RefusesWhatIsWrong) {
  const std::string file = llama2c_file();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  std::string twice = file + std::string("\0\0\0\0\1\0\0\0a", 9);
  expect_refused(parse_llama2c,
                 {{"empty", "", "ends at byte 0"},
                  {"no length", replaced<int32_t>(file, 0, 0), "0 bytes; 1 to 4096"},
                  {"negative longest", replaced<int32_t>(file, 0, -1), "-1 bytes"},
                  {"huge longest", replaced<int32_t>(file, 0, 1 << 30), "1073741824 bytes"},
                  {"other longest", replaced<int32_t>(file, 0, 100), "longest piece is declared to have 100"},
                  {"NaN", replaced(file, 4, nan), "score nan"},
                  {"infinity", replaced(file, 4, HUGE_VALF), "score inf"},
                  {"negative length", replaced<int32_t>(file, 8, -5), "-5 bytes"},
                  {"no bytes", replaced<int32_t>(file, 8, 0), "0 bytes"},
                  {"longer than all", replaced<int32_t>(file, 8, 7), "7 bytes"},
                  {"twice", twice, "stands there twice"},
                  {"bytes elsewhere", replaced(file, file.find("<0x00>") + 4, 'G'), "must be <0x00>"}});
  // A file may end after any whole piece, but not before the longest and the bytes are there.
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

TEST(SentencePieceModel, RefusesWhatIsWrong) {
  const std::string unknown = piece("<unk>", 2), a = piece("a"), trainer = field(2, field(3, 2)),
                    normalizer = field(3, "");
  const std::string end = trainer + normalizer, fallback = field(2, field(35, 1)) + normalizer;
  EXPECT_EQ(message_of(parse_model, unknown + a + end), "");
  const std::string nan = field(1, field(1, "x") + score(NAN));
  expect_refused(
      parse_model,
      {{"empty", "", "nothing about how it was trained"},
       {"no normaliser", unknown + trainer, "nothing about how text is normalised"},
       {"no unknown", a + end, "no piece is of the type unknown"},
       {"two unknown", unknown + piece("b", 2) + end, "both of the type unknown"},
       {"twice", unknown + a + a + end, "stands there twice: it is piece 1"},
       {"no text", unknown + field(1, score(1)) + end, "has no text"},
       {"long", unknown + piece(std::string(5000, 'x')) + end, "5000 bytes"},
       {"NaN", unknown + nan + end, "score nan"},
       {"type", unknown + piece("b", 7) + end, "type 7"},
       {"unused", unknown + piece("b", 5) + end, "unused"},
       {"not UTF-8", unknown + piece("\xFF") + end, "not UTF-8"},
       {"bytes without fallback", unknown + piece("<0x00>", 6) + end, "byte_fallback is off"},
       {"no bytes", unknown + fallback, "only 0 of the 256"},
       {"bad byte", unknown + piece("<0xGG>", 6) + fallback, "<0x00> to <0xFF>"},
       {"word", unknown + field(2, field(3, 3)) + normalizer, "type 3 word"},
       {"twice trained", unknown + trainer + end, "says twice how it was trained"},
       {"denormaliser", unknown + end + field(5, field(2, "x")), "denormalizer"},
       {"small map", unknown + trainer + field(3, field(2, "abc")), "character map has 3 bytes"},
       {"lying map", unknown + trainer + field(3, field(2, std::string("\xFF\xFF\xFF\x7F", 4) + "abcd")),
        "declares a trie"},
       {"map without end", unknown + trainer + field(3, field(2, std::string("\4\0\0\0aaaax", 9))),
        "zero byte"},
       {"map points out", unknown + trainer + field(3, field(2, std::string("\4\0\0\0\xFF\0\0\x80x\0", 10))),
        "points to byte 255"},
       {"long replacement",
        unknown + trainer +
            field(3, field(2, std::string("\4\0\0\0aaaa", 8) + std::string(2000, 'x') + '\0')),
        "replacement of 2000 bytes"},
       {"length lies", unknown + varint(1 << 3 | 2) + varint(1u << 30), "declares 1073741824 bytes"},
       {"group", unknown + varint(9 << 3 | 3), "wire type 3"},
       {"field 0", unknown + std::string("\0\0", 2), "number 0"},
       {"endless number", std::string(11, '\xFF'), "more than 64 bits"},
       {"text as number", unknown + field(1, field(1, 5)) + end, "must be a text"}});
  for (const char* name : {"bpe", "unigram"}) {
    const std::string file = model_file(name);
    for (size_t length = 0; length + 8 < file.size(); ++length)
      EXPECT_NE(message_of(parse_model, std::string_view(file).substr(0, length)), "") << length;
    expect_flips_are_clean(parse_model, file);
  }
}

std::string changed(const std::function<void(nlohmann::json&)>& change) {
  nlohmann::json json = json_file();
  change(json);
  return json.dump();
}

TEST(TokenizerJsonFile, RefusesWhatIsWrong) {
  using Json = nlohmann::json;
  EXPECT_EQ(message_of(parse_json, json_file().dump()), "");
  const std::string deep(100'000, '[');
  expect_refused(
      parse_json,
      {{"empty", "", "'{' expected"},
       {"nothing", "{}", "no \"model\""},
       {"deep", "{\"x\":" + deep, "nested deeper"},
       {"deep in the model", "{\"model\":{\"vocab\":" + deep + "}}", "nested deeper"},
       {"not UTF-8", "{\"\xFF\":1}", "not UTF-8"},
       {"half a pair", changed([](Json& json) { json["x"] = 1; }).insert(1, "\"\\ud800\":1,"), "surrogate"},
       {"more behind", json_file().dump() + "{}", "follows the end"},
       {"twice", "{\"model\":{},\"model\":{}}", "stands there twice"},
       {"WordPiece", changed([](Json& json) { json["model"]["type"] = "WordPiece"; }),
        "'WordPiece' cannot be read"},
       {"byte_fallback", changed([](Json& json) { json["model"]["byte_fallback"] = true; }),
        "tokenizer.model"},
       {"dropout", changed([](Json& json) { json["model"]["dropout"] = 0.1; }), "dropout"},
       {"suffix", changed([](Json& json) { json["model"]["end_of_word_suffix"] = "</w>"; }),
        "end_of_word_suffix"},
       {"no vocabulary", changed([](Json& json) { json["model"].erase("vocab"); }), "no \"vocab\""},
       {"empty vocabulary", changed([](Json& json) { json["model"]["vocab"] = Json::object(); }), "is empty"},
       {"same id", changed([](Json& json) { json["model"]["vocab"]["a"] = json["model"]["vocab"]["b"]; }),
        "has the id of"},
       {"same token", changed([](Json&) {}).insert(json_file().dump().find("\"vocab\":{") + 9, "\"a\":5000,"),
        "stands there twice"},
       {"negative id", changed([](Json& json) { json["model"]["vocab"]["a"] = -1; }), "is -1"},
       {"huge id", changed([](Json& json) { json["model"]["vocab"]["a"] = 2000000000; }), "is 2000000000"},
       {"half id", changed([](Json& json) { json["model"]["vocab"]["a"] = 1.5; }), "whole number"},
       {"empty token", changed([](Json& json) { json["model"]["vocab"][""] = 999; }), "is empty"},
       {"no byte", changed([](Json& json) { json["model"]["vocab"].erase("Ā"); }), "no token for the byte 0"},
       {"outside", changed([](Json& json) { json["model"]["vocab"]["日"] = 999; }),
        "outside of the byte-level alphabet"},
       {"missing part", changed([](Json& json) {
          json["model"]["merges"][0] = {"qqq", "a"};
        }),
        "merge 0 needs the token 'qqq'"},
       {"missing result", changed([](Json& json) {
          json["model"]["merges"][0] = {"q", "q"};
        }),
        "needs the token 'qq'"},
       {"empty part", changed([](Json& json) {
          json["model"]["merges"][0] = {"", "a"};
        }),
        "needs the token ''"},
       {"one part", changed([](Json& json) { json["model"]["merges"][0] = "ab"; }), "two parts"},
       {"three parts", changed([](Json& json) { json["model"]["merges"][0] = "a b c"; }), "two parts"},
       {"normalizer", changed([](Json& json) {
          json["normalizer"] = {{"type", "NFC"}};
        }),
        "normalizer 'NFC'"},
       {"pre_tokenizer", changed([](Json& json) {
          json["pre_tokenizer"] = {{"type", "Metaspace"}};
        }),
        "'Metaspace' cannot be read"},
       {"no pre_tokenizer", changed([](Json& json) { json["pre_tokenizer"] = nullptr; }),
        "does not end with ByteLevel"},
       {"decoder", changed([](Json& json) {
          json["decoder"] = {{"type", "WordPiece"}};
        }),
        "decoder 'WordPiece'"},
       {"post", changed([](Json& json) {
          json["post_processor"] = {{"type", "Odd"}};
        }),
        "post_processor 'Odd'"},
       {"mark",
        changed([](Json& json) { json["post_processor"]["special_tokens"]["<s>"]["ids"] = {100000}; }),
        "none of the"},
       {"added twice", changed([](Json& json) { json["added_tokens"][1]["content"] = "<s>"; }),
        "same content"},
       {"added id twice", changed([](Json& json) { json["added_tokens"][1]["id"] = 0; }), "same id"},
       {"added elsewhere", changed([](Json& json) { json["added_tokens"][1]["id"] = 5000; }),
        "the vocabulary gives it 1"},
       {"single word", changed([](Json& json) { json["added_tokens"][1]["single_word"] = true; }),
        "single_word"}});
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
