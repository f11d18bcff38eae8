// The two BPE merge loops against one on the words' texts.

#include "modewise/text/pair_merging.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>

namespace modewise::text {
namespace {

/// Text of a merged symbol -> its rank, which is also its id.
using Ranks = std::map<std::string, int32_t>;

/// By definition: merges the adjacent pair with the smallest rank first, the leftmost of equals.
std::vector<std::string> merged_by_text(const std::string& word, const Ranks& ranks) {
  std::vector<std::string> parts;
  for (const char c : word) parts.emplace_back(1, c);
  while (true) {
    int32_t lowest = INT32_MAX;
    size_t at = 0;
    for (size_t i = 0; i + 1 < parts.size(); ++i) {
      const auto found = ranks.find(parts[i] + parts[i + 1]);
      if (found != ranks.end() && found->second < lowest) {
        lowest = found->second;
        at = i;
      }
    }
    if (lowest == INT32_MAX) return parts;
    parts[at] += parts[at + 1];
    parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(at) + 1);
  }
}

TEST(PairMerging, TakesTheLowestPairsByScanningAndByHeap) {
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    // Parts of random words, so that merges combine merged symbols.
    Ranks ranks;
    while (ranks.size() < 30) {
      std::string text;
      for (size_t length = 2 + random() % 3; length > 0; --length) text += "abc"[random() % 3];
      ranks.emplace(text, static_cast<int32_t>(random() % 20));  // some ranks are equal
    }
    std::string word;
    for (size_t length = 1 + random() % 200; length > 0; --length) word += "abc"[random() % 3];
    const auto find = [&](const Symbol& left, const Symbol& right) -> std::optional<Merge<int32_t>> {
      const auto found = ranks.find(word.substr(left.begin, left.length + right.length));
      if (found == ranks.end()) return std::nullopt;
      return Merge<int32_t>{found->second, found->second};
    };
    std::vector<Symbol> few;
    for (uint32_t i = 0; i < word.size(); ++i) few.push_back({-1, i, 1});
    std::vector<Symbol> many = few;
    std::vector<std::optional<Merge<int32_t>>> merges;
    merge_few<int32_t>(few, merges, find);
    merge_many<int32_t>(many, find);
    const std::vector<std::string> wanted = merged_by_text(word, ranks);
    ASSERT_EQ(few.size(), wanted.size()) << word;
    ASSERT_EQ(many.size(), wanted.size()) << word;
    for (size_t i = 0; i < wanted.size(); ++i) {
      EXPECT_EQ(word.substr(few[i].begin, few[i].length), wanted[i]);
      EXPECT_EQ(word.substr(many[i].begin, many[i].length), wanted[i]);
      EXPECT_EQ(few[i].id, wanted[i].size() == 1 ? -1 : ranks.at(wanted[i]));
      EXPECT_EQ(many[i].id, few[i].id);
    }
  }
}

}  // namespace
}  // namespace modewise::text
