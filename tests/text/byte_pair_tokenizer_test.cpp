#include "modewise/text/byte_pair_tokenizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "tests/text/vector_file.h"

namespace modewise::text {
namespace {

using Ids = std::vector<Tokenizer::Id>;
using testing::HasSubstr;

BytePairTokenizer byte_pair_of(const nlohmann::json& json) {
  const std::string file = json.dump();
  return {io::parse_tokenizer_json(std::as_bytes(std::span(file)), "file"), "file", "", ""};
}

// The frozen GPT-2 tokenizer with another pattern.
nlohmann::json with_pattern(const std::string& pattern) {
  nlohmann::json json = load_vectors("byte_level.json")["llama3"]["file"];
  json["pre_tokenizer"]["pretokenizers"][0]["pattern"]["Regex"] = pattern;
  return json;
}

std::string error_of(const std::function<void()>& body) {
  try {
    body();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::data);
    EXPECT_THAT(error.what(), testing::StartsWith("file: "));
    return error.what();
  }
  return "";
}

TEST(BytePairTokenizer, AnswersAsTheReferenceDoes) {
  const nlohmann::json all = load_vectors("byte_level.json");
  for (const auto& [name, vectors] : all.items()) {
    const BytePairTokenizer tokenizer = byte_pair_of(vectors["file"]);
    EXPECT_EQ(tokenizer.begin_id(), 0);
    EXPECT_EQ(tokenizer.end_id(), 1);
    for (int repeat = 0; repeat < 2; ++repeat) {  // the second time words are cached
      for (const auto& one : vectors["cases"]) {
        const std::string text = from_hex(one["text"]);
        const Ids ids = tokenizer.encode(text);
        EXPECT_EQ(ids, one["ids"].get<Ids>()) << name << " " << text;
        EXPECT_EQ(tokenizer.decode(ids), from_hex(one["decoded"])) << name << " " << text;
      }
    }
  }
}

TEST(BytePairTokenizer, GivesAnyBytesBack) {
  for (const char* name : {"gpt2", "llama3"}) {
    const BytePairTokenizer tokenizer = byte_pair_of(load_vectors("byte_level.json")[name]["file"]);
    std::string every;
    for (int a = 0; a < 256; ++a) {
      for (int b = 0; b < 256; ++b) every += {static_cast<char>(a), static_cast<char>(b)};
    }
    for (const std::string& text :
         {every, std::string("\xFF<s>\xFE"), std::string("the\xE2\x82 the"), std::string("\xF0\x9F")})
      EXPECT_EQ(tokenizer.decode(tokenizer.encode(text)), text);
  }
}

TEST(BytePairTokenizer, TakesAMegabyteWithoutASpaceInGoodTime) {
  const BytePairTokenizer tokenizer = byte_pair_of(load_vectors("byte_level.json")["llama3"]["file"]);
  for (const std::string piece : {"the", " ", "z", "\n", "é", "\xFF"}) {
    std::string text;
    while (text.size() < (1 << 20)) text += piece;
    EXPECT_EQ(tokenizer.decode(tokenizer.encode(text)), text);
  }
}

TEST(BytePairTokenizer, IsTheSameFromSeveralThreads) {
  const BytePairTokenizer tokenizer = byte_pair_of(load_vectors("byte_level.json")["gpt2"]["file"]);
  std::string text;
  for (int i = 0; i < 3000; ++i) text += " word" + std::to_string(i * 7919 % 1000);
  const Ids ids = tokenizer.encode(text);
  std::vector<std::thread> threads;
  std::vector<int> equal(4);
  for (size_t t = 0; t < equal.size(); ++t)
    threads.emplace_back([&, t] { equal[t] = tokenizer.encode(text) == ids; });
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(equal, testing::Each(1));
}

TEST(BytePairTokenizer, RefusesPatternsThatItCannotUse) {
  const std::vector<std::pair<std::string, std::string>> cases = {{"(", "does not compile"},
                                                                  {"\\p{L}+|(?i:x", "does not compile"},
                                                                  {"\\p{Nonsense}", "does not compile"},
                                                                  {"a**", "does not compile"},
                                                                  {"\\p{N}{1,3}+", "interpret differently"},
                                                                  {"[a[bc]]", "a nested class"},
                                                                  {"[a&&b]", "intersection"},
                                                                  {"\\bword", "\\b"},
                                                                  {"[\\W]", "\\W in a class"},
                                                                  {"(?<name>x)", "group of an unknown kind"},
                                                                  {"(*ACCEPT)", "verb"},
                                                                  {"a{x}", "'{'"},
                                                                  {"a\\", "a '\\' at the end"},
                                                                  {"\\u12", "hexadecimal"}};
  for (const auto& [pattern, message] : cases) {
    const std::string error = error_of([&, one = pattern] { byte_pair_of(with_pattern(one)); });
    EXPECT_THAT(error, HasSubstr(message)) << pattern;
  }
}

TEST(BytePairTokenizer, StopsPatternsThatBacktrackWithoutEnd) {
  const BytePairTokenizer tokenizer = byte_pair_of(with_pattern("(?:a|aa|a{3})+c"));
  EXPECT_THAT(error_of([&] { tokenizer.encode(std::string(100, 'a') + " c"); }),
              HasSubstr("gives up on the text from byte 0"));
  // And patterns that need much memory for backtracking.
  const BytePairTokenizer deep = byte_pair_of(with_pattern("(?:(?:ab?)+c?)+d|x"));
  EXPECT_THAT(error_of([&] { deep.encode(std::string(5 << 20, 'a')); }), HasSubstr("gives up on the text"));
}

// Steps are counted, not seconds: any pattern takes at most a multiple of the bytes.
TEST(SplitPattern, TakesStepsInProportionToTheText) {
  using Workspace = SplitPattern::Workspace;
  for (const char* pattern :
       {"(?:ab?)*(?:ab?)*[0-9]", "a*b|a", "(?:a|aa|a{3})+[0-9]", "(?:a(?=a*b))|a", "a+?[0-9]|a",
        "(?:a|a)(?:a|a)(?:a|a)(?:a|a)(?:a|a)(?:a|a)(?:a|a)(?:a|a)(?:a|a)(?:a|a)[0-9]|a"}) {
    const SplitPattern one(pattern, false, "file");
    const std::string text(3000, 'a');
    Workspace workspace;
    workspace.announce(text.size());
    size_t from = 0;
    const std::string error = error_of([&] {
      while (const auto match = one.find(text, from, workspace)) from = std::max(match->end, from + 1);
    });
    EXPECT_THAT(error, HasSubstr("gives up on the text from byte")) << pattern;
    EXPECT_THAT(error, HasSubstr(fmt::format("{} per byte", Workspace::kStepsPerByte)));
    // The last step passes a repeat, at most as long as the text.
    EXPECT_LE(workspace.steps(),
              Workspace::kStepsAtLeast + (Workspace::kStepsPerByte + 1) * (text.size() + 1))
        << pattern;
  }
}

TEST(SplitPattern, TakesFewStepsOnTheSplitsInUse) {
  for (
      const char* pattern :
      {R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)",
       R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)"}) {
    const SplitPattern one(pattern, false, "file");
    for (const std::string piece : {"the ", " ", "\n", "z", "12.5, ", "é", "don't "}) {
      std::string text;
      while (text.size() < 10'000) text += piece;
      text += "x";
      SplitPattern::Workspace workspace;
      workspace.announce(text.size());
      for (size_t from = 0; from < text.size();) from = one.find(text, from, workspace).value().end;
      EXPECT_LE(workspace.steps(), 8 * text.size()) << pattern << piece;
    }
  }
}

// The matches of Split(Regex(pattern), "removed", invert=True) of tokenizers 0.23.3.
TEST(SplitPattern, MatchesAsOniguruma) {
  const std::pair<const char*, std::vector<std::string>> cases[] = {
      {"a{,2}", {"aa", "aa", "a"}},
      {"a{2,}", {"aaaaa"}},
      {"a{2}", {"aa", "aa"}},
      {"a{1,3}?", {"a", "a", "a", "a", "a"}},
      {"\\d{,1}b", {"b", "b"}},
      {"[^a\\d]{2,3}", {" \u00E9.", "\nb\u00E9", "\u00E9\x0B"}},
      {"\\D+", {"aaaaab", " \u00E9.\nb\u00E9\u00E9\x0B", "c"}},
      {"\\W+", {" ", ".\n", "\x0B"}},
      {"\\v", {"\x0B"}},
      {"\\x{e9}+", {"\u00E9", "\u00E9\u00E9"}},
      {"\\x62", {"b", "b"}},
      {"\\u00e9", {"\u00E9", "\u00E9", "\u00E9"}},
      {"\\S",
       {"a", "a", "a", "a", "a", "b", "1", "2", "\u00E9", ".", "b", "\u00E9", "\u00E9", "\u0663", "c"}},
  };
  const std::string text =
      "aaaaab12 \u00E9.\nb\u00E9\u00E9\x0B\u0663"
      "c";
  for (const auto& [pattern, expected] : cases) {
    const SplitPattern one(pattern, false, "file");
    SplitPattern::Workspace workspace;
    workspace.announce(text.size());
    std::vector<std::string> found;
    for (size_t from = 0; from < text.size();) {
      const auto match = one.find(text, from, workspace);
      if (!match) break;
      if (match->end > match->begin) found.push_back(text.substr(match->begin, match->end - match->begin));
      from = std::max(match->end, from + 1);
      while (from < text.size() && (static_cast<unsigned char>(text[from]) & 0xC0) == 0x80) ++from;
    }
    EXPECT_EQ(found, expected) << pattern;
  }
}

TEST(BytePairTokenizer, SplitsByPatternsThatMatchNothing) {
  const BytePairTokenizer tokenizer = byte_pair_of(with_pattern("(?=the)|x*"));
  EXPECT_EQ(tokenizer.decode(tokenizer.encode("onethe twothe")), "onethe twothe");
}

}  // namespace
}  // namespace modewise::text
