#include "modewise/text/prefix_index.h"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <string>

namespace modewise::text {
namespace {

using Found = std::vector<std::pair<size_t, int32_t>>;

TEST(PrefixIndex, FindsWhatALookAtEveryTextFinds) {
  std::mt19937 random(7);
  const auto draw = [&](size_t longest) {
    std::string text(1 + random() % longest, ' ');
    for (char& c : text) c = "ab\xC3"[random() % 3];
    return text;
  };
  std::set<std::string> distinct;
  while (distinct.size() < 150) distinct.insert(draw(7));
  const std::vector<std::string> texts(distinct.begin(), distinct.end());
  std::vector<int32_t> ids(texts.size());
  for (size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<int32_t>((i * 77) % ids.size());
  const auto text_of = [&](int32_t id) { return std::string_view(texts[static_cast<size_t>(id)]); };
  const PrefixIndex index(ids, text_of);
  for (int trial = 0; trial < 500; ++trial) {
    const std::string text = draw(12);
    Found expected, found;
    for (size_t length = 1; length <= text.size(); ++length)
      for (size_t id = 0; id < texts.size(); ++id)
        if (texts[id] == text.substr(0, length)) expected.emplace_back(length, static_cast<int32_t>(id));
    index.visit(text, text_of, [&](size_t length, int32_t id) { found.emplace_back(length, id); });
    EXPECT_EQ(found, expected) << text;
  }
  index.visit("", text_of, [](size_t, int32_t) { ADD_FAILURE(); });
  EXPECT_TRUE(PrefixIndex().empty());
}

TEST(PrefixIndex, LooksAtALongTextAFewTimesWhateverAlmostFits) {
  const std::vector<std::string> texts = {std::string(4095, 'a') + "b", std::string(4000, 'a') + "c", "x"};
  int64_t looks = 0;
  const auto text_of = [&](int32_t id) {
    ++looks;
    return std::string_view(texts[static_cast<size_t>(id)]);
  };
  const PrefixIndex index({0, 1, 2}, text_of);
  const std::string text = std::string(5000, 'a') + "b";
  looks = 0;
  Found found;
  for (size_t at = 0; at < text.size(); ++at)
    index.visit(std::string_view(text).substr(at), text_of,
                [&](size_t, int32_t id) { found.emplace_back(at, id); });
  EXPECT_EQ(found, (Found{{905, 0}}));
  EXPECT_LE(looks, 16 * static_cast<int64_t>(text.size()));
}

}  // namespace
}  // namespace modewise::text
