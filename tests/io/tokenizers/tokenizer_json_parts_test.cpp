// Components of a tokenizer.json: each form that is read, each that is refused.

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "modewise/io/tokenizers/tokenizer_json.h"
#include "tests/io/damage.h"
#include "tests/io/vector_file.h"

namespace modewise::io {
namespace {

using Json = nlohmann::json;

TokenizerJson parse(const Json& json) {
  return parse_tokenizer_json(to_bytes(json.dump()), "file");
}
void parse_bytes(std::span<const std::byte> bytes) {
  parse_tokenizer_json(bytes, "file");
}

struct Change {
  std::string part, value;
  std::string message;  // its end
};

/// Each change of the file alone is refused.
void expect_parts_refused(const Json& file, const std::vector<Change>& changes) {
  for (const auto& [part, value, message] : changes) {
    Json json = file;
    json[part] = Json::parse(value);
    expect_refused(parse_bytes, {{value, json.dump(), "…" + message}});
  }
}

/// `inner` in Sequences, one in the other.
std::string nested(const std::string& list, int levels, const std::string& inner = "null") {
  std::string text = inner;
  for (int i = 0; i < levels; ++i) text = fmt::format(R"({{"type":"Sequence","{}":[{}]}})", list, text);
  return text;
}

/// Byte-level BPE, as of GPT-2.
Json byte_level_file() {
  return load_vectors("../../text/vectors/byte_level.json")["gpt2"]["file"];
}

TEST(TokenizerJsonParts, OfByteLevelModelsAreRead) {
  Json json = byte_level_file();
  json["decoder"] = Json::parse(nested("decoders", 2, R"({"type":"ByteLevel"})"));
  json["post_processor"] =
      Json::parse(R"({"type":"Sequence","extra":1,"processors":[null,{"type":"ByteLevel"},
      {"type":"RobertaProcessing","sep":["</s>",1],"cls":["<s>",0],"trim_offsets":true}]})");
  const TokenizerJson roberta = parse(json);
  EXPECT_EQ(roberta.begin, 0);
  EXPECT_EQ(roberta.end, 1);
  using Kind = TemplateItem::Kind;
  const auto expect_items = [](const std::vector<TemplateItem>& items,
                               const std::vector<std::tuple<Kind, int, int>>& expected) {
    ASSERT_EQ(items.size(), expected.size());
    for (size_t i = 0; i < items.size(); ++i)
      EXPECT_EQ(std::tuple(items[i].kind, items[i].mark, items[i].type), expected[i]) << i;
  };
  // <s> A </s> </s> B </s>, all of type 0; BERT has the second text as type 1 and one mark between them.
  expect_items(roberta.around.single, {{Kind::mark, 0, 0}, {Kind::first, 0, 0}, {Kind::mark, 1, 0}});
  expect_items(roberta.around.pair, {{Kind::mark, 0, 0},
                                     {Kind::first, 0, 0},
                                     {Kind::mark, 1, 0},
                                     {Kind::mark, 1, 0},
                                     {Kind::second, 0, 0},
                                     {Kind::mark, 1, 0}});
  json["post_processor"] = Json::parse(R"({"type":"BertProcessing","sep":["</s>",1],"cls":["<s>",0]})");
  expect_items(parse(json).around.pair, {{Kind::mark, 0, 0},
                                         {Kind::first, 0, 0},
                                         {Kind::mark, 1, 0},
                                         {Kind::second, 0, 1},
                                         {Kind::mark, 1, 1}});

  const char* steps = R"({"type":"Sequence","pretokenizers":[
      {"type":"Split","pattern":{"String":"x"},"behavior":"Removed","invert":true,"extra":1},
      {"type":"ByteLevel","add_prefix_space":false}]})";
  json["pre_tokenizer"] = Json::parse(steps);
  const TokenizerJson split = parse(json);
  ASSERT_EQ(split.steps.size(), 2u);
  EXPECT_TRUE(split.steps[0].literal && split.steps[0].invert);
  EXPECT_EQ(split.steps[0].behavior, TokenizerJson::Step::Behavior::removed);
  EXPECT_EQ(split.steps[0].pattern, "x");
}

TEST(TokenizerJsonParts, OfByteLevelModelsAreRefused) {
  const std::string long_pattern(65'537, 'x');
  const std::string split = R"({"type":"Split","pattern":{"String":"x"},"behavior":"Isolated"},)";
  std::string many = R"({"type":"Sequence","pretokenizers":[)", items = "[";
  for (int i = 0; i < 64; ++i) many += split;
  for (int i = 0; i < 65; ++i) items += R"({"Sequence":{"id":"A"}},)";
  const std::string too_many = many + R"({"type":"ByteLevel"}]})",
                    longest = fmt::format(R"({{"type":"Split","pattern":{{"Regex":"{}"}}}})", long_pattern),
                    long_template = fmt::format(R"({{"type":"TemplateProcessing","single":{}null]}})", items);
  expect_parts_refused(
      byte_level_file(),
      {{"decoder", nested("decoders", 18), "Sequences are nested deeper than 16"},
       {"pre_tokenizer", nested("pretokenizers", 18), "Sequences are nested deeper than 16"},
       {"post_processor", nested("processors", 18), "Sequences are nested deeper than 16"},
       {"pre_tokenizer", too_many, "the pre_tokenizer has more than 64 steps"},
       {"pre_tokenizer", longest, "the pattern has 65537 bytes; expected 1 to 65536"},
       {"pre_tokenizer", R"({"type":"Split","pattern":{"Regex":""}})",
        "the pattern has 0 bytes; expected 1 to 65536"},
       {"pre_tokenizer", R"({"type":"Split","pattern":{"Glob":"x"}})",
        "unknown pattern 'Glob', expected Regex or String"},
       {"pre_tokenizer", R"({"type":"Split"})", "the Split that ends here has no pattern"},
       {"pre_tokenizer", R"({"type":"Split","behavior":"Odd"})", "unknown behavior 'Odd'"},
       {"post_processor", R"({"type":"RobertaProcessing","cls":["<s>",0]})",
        "the post_processor RobertaProcessing that ends here needs cls and sep"},
       {"post_processor", R"({"type":"BertProcessing","sep":["<s>",0]})",
        "the post_processor BertProcessing that ends here needs cls and sep"},
       {"post_processor", R"({"type":"BertProcessing","sep":["<s>",-1]})",
        "id -1 is outside the vocabulary of 360 ids"},
       {"post_processor", R"({"type":"BertProcessing","sep":["<s>",360]})",
        "id 360 is outside the vocabulary of 360 ids"},
       {"post_processor", long_template, "a template has more than 64 items"},
       {"post_processor",
        R"({"type":"TemplateProcessing","single":[{"SpecialToken":{"id":"<s>","type_id":-1}}]})",
        "type_id -1 is outside 0 to 65535"},
       {"post_processor",
        R"({"type":"TemplateProcessing","single":[{"SpecialToken":{"id":"<s>","type_id":65536}}]})",
        "type_id 65536 is outside 0 to 65535"},
       {"post_processor",
        R"({"type":"TemplateProcessing","single":[{"SpecialToken":{"id":"<x>","type_id":0}}],"special_tokens":{}})",
        "the template above has the special token '<x>', which is not in its special_tokens"}});
}

/// BPE with byte fallback, as converted from sentencepiece.
Json metaspace_file() {
  Json json = {
      {"added_tokens", Json::array()},
      {"model",
       {{"type", "BPE"}, {"byte_fallback", true}, {"unk_token", "<unk>"}, {"merges", Json::array()}}}};
  Json& vocabulary = json["model"]["vocab"];
  vocabulary["<unk>"] = 0;
  for (int i = 0; i < 256; ++i) vocabulary[fmt::format("<0x{:02X}>", i)] = 1 + i;
  vocabulary["▁"] = 257;
  json["normalizer"] = Json::parse(R"({"type":"Sequence","normalizers":[{"type":"Prepend","prepend":"▁"},
      {"type":"Replace","pattern":{"String":" "},"content":"▁"}]})");
  json["decoder"] =
      Json::parse(R"({"type":"Sequence","decoders":[{"type":"Replace","pattern":{"String":"▁"},"content":" "},
      {"type":"ByteFallback"},{"type":"Fuse"},{"type":"Strip","content":" ","start":1,"stop":0}]})");
  return json;
}

TEST(TokenizerJsonParts, OfConvertedModelsAreRead) {
  using Prepend = MetaspaceRules::Prepend;
  const TokenizerJson older = parse(metaspace_file());
  ASSERT_TRUE(older.metaspace);
  EXPECT_TRUE(older.metaspace->prepend == Prepend::always && older.metaspace->normalizes &&
              older.metaspace->strip_space);
  for (const auto& [members, prepend, splits] : std::initializer_list<std::tuple<const char*, Prepend, bool>>{
           {R"("prepend_scheme":"always")", Prepend::missing, true},
           {R"("prepend_scheme":"first","split":false)", Prepend::first, false},
           {R"("prepend_scheme":"never","split":true)", Prepend::none, true},
           {R"("add_prefix_space":true,"str_rep":"▁")", Prepend::missing, true},
           {R"("add_prefix_space":false)", Prepend::none, true}}) {
    const std::string part = fmt::format(R"({{"type":"Metaspace","replacement":"▁",{}}})", members);
    Json json = metaspace_file();
    json["normalizer"] = nullptr;
    json["pre_tokenizer"] = Json::parse(nested("pretokenizers", 2, part));
    json["decoder"] = Json::parse(part);
    const TokenizerJson newer = parse(json);
    ASSERT_TRUE(newer.metaspace) << members;
    EXPECT_EQ(newer.metaspace->prepend, prepend) << members;
    EXPECT_EQ(newer.metaspace->split, splits) << members;
    EXPECT_EQ(newer.metaspace->strip_space, prepend != Prepend::none) << members;
    EXPECT_FALSE(newer.metaspace->normalizes) << members;
  }
}

TEST(TokenizerJsonParts, OfConvertedModelsAreRefused) {
  const char *
      two =
         R"({"type":"Sequence","normalizers":[{"type":"Prepend","prepend":"▁"},{"type":"Prepend","prepend":"▁"}]})",
     *replace = R"({"type":"Replace","pattern":{"String":" "},"content":"_"})",
     *twice = R"({"type":"Metaspace","replacement":"▁","prepend_scheme":"always"})";
  expect_parts_refused(
      metaspace_file(),
      {{"normalizer", two, "two normalizers prepend a space"},
       {"normalizer", R"({"type":"Prepend","prepend":"_"})", "expected Prepend of '▁'"},
       {"normalizer", R"({"type":"Prepend","append":"▁"})", "expected Prepend of '▁'"},
       {"normalizer", R"({"type":"NFKC"})", "unsupported normalizer 'NFKC'"},
       {"normalizer", replace, "Replace of ' ' by '_' is not supported, only of ' ' by '▁'"},
       {"normalizer", R"({"type":"Replace","pattern":{"Regex":" "},"content":"▁"})",
        "expected the pattern of Replace to be a String"},
       {"normalizer", nested("normalizers", 18), "Sequences are nested deeper than 16"},
       {"pre_tokenizer", nested("pretokenizers", 18), "Sequences are nested deeper than 16"},
       {"pre_tokenizer", twice,
        "a space is prepended twice, by the pre_tokenizer that ends here and before it"},
       {"pre_tokenizer", R"({"type":"Metaspace","replacement":"_"})",
        "expected the replacement of Metaspace to be '▁'"},
       {"pre_tokenizer", R"({"type":"Metaspace","prepend_scheme":"often"})",
        "unknown prepend_scheme 'often'"},
       {"pre_tokenizer", R"({"type":"Digits"})", "unsupported pre_tokenizer 'Digits'"},
       {"decoder", nested("decoders", 18), "Sequences are nested deeper than 16"},
       {"decoder", R"({"type":"Strip","stop":1})", "only Strip of spaces at the start is supported"},
       {"decoder", R"({"type":"Strip","content":"x"})", "only Strip of spaces at the start is supported"},
       {"decoder", R"({"type":"CTC"})", "unsupported decoder 'CTC'"}});
}

}  // namespace
}  // namespace modewise::io
