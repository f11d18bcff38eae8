// Recall samples computed from their random numbers.

#include <gmock/gmock.h>

#include <utility>

#include "modewise/core/random.h"
#include "modewise/data/language_modeling/key_value_recall.h"
#include "tests/data/scratch.h"

namespace modewise::data {
namespace {

using testing::ElementsAre;

TEST(KeyValueRecall, FollowsItsDrawsOneByOne) {
  RecallConfig config;
  config.pairs = {2, 5, 3};
  config.length = 40;
  config.distance = 3;
  config.vocabulary = 6;
  for (const bool repeated : {false, true})
    for (const uint64_t index : {uint64_t{0}, uint64_t{1}, uint64_t{7} << 32 | 2, uint64_t{3} << 32}) {
      config.repeated = repeated;
      config.questions = repeated ? 7 : 3;
      const RandomStream stream{11 ^ (index >> 32) * 0x9E3779B97F4A7C15, RandomSite::simulation,
                                index & 0xFFFFFFFF};
      uint64_t next = 0;
      const auto below = [&](int64_t n) {
        return static_cast<int64_t>(uint64_t{stream.word(next++)} * static_cast<uint64_t>(n) /
                                    (uint64_t{1} << 32));
      };
      const auto choose = [&](int64_t n, int64_t count) {  // the first ones of a shuffle
        std::vector<int64_t> all;
        for (int64_t i = 0; i < n; ++i) all.push_back(i);
        for (int64_t i = 0; i < count; ++i)
          std::swap(all[static_cast<size_t>(i)], all[static_cast<size_t>(i + below(n - i))]);
        return all;
      };
      const int64_t pairs = config.pairs[static_cast<size_t>(below(3))];
      const int64_t asked = repeated ? 7 : std::min<int64_t>(3, pairs), marker = 40 - 2 * asked - 1;
      std::vector<int64_t> tokens(40), values, questions, distances;
      for (int64_t i = 0; i < marker; ++i) tokens[static_cast<size_t>(i)] = 13 + below(6);
      const std::vector<int64_t> places = choose((marker - 3) / 2, pairs), keys = choose(6, pairs);
      std::vector<int64_t> last;
      for (size_t i = 0; i < static_cast<size_t>(pairs); ++i) {
        values.push_back(7 + below(6));
        last.push_back(2 * places[i] + 1);
        tokens[static_cast<size_t>(2 * places[i])] = 1 + keys[i];
        tokens[static_cast<size_t>(2 * places[i] + 1)] = values[i];
      }
      tokens[static_cast<size_t>(marker)] = 0;
      std::vector<int64_t> order;
      if (repeated)
        for (int64_t q = 0; q < asked; ++q) order.push_back(below(pairs));
      else
        order = choose(pairs, asked);
      for (int64_t q = 0; q < asked; ++q) {
        const auto pair = static_cast<size_t>(order[static_cast<size_t>(q)]);
        questions.push_back(marker + 1 + 2 * q);
        distances.push_back(questions.back() - last[pair]);
        last[pair] = questions.back() + 1;
        tokens[static_cast<size_t>(questions.back())] = 1 + keys[pair];
        tokens[static_cast<size_t>(questions.back() + 1)] = values[pair];
      }
      const RecallSample sample = make_recall_sample(config, 11, index);
      EXPECT_EQ(sample.tokens, tokens) << index;
      ASSERT_EQ(std::ssize(sample.questions), asked);
      for (size_t q = 0; q < sample.questions.size(); ++q) {
        EXPECT_EQ(sample.questions[q].position, questions[q]);
        EXPECT_EQ(sample.questions[q].distance, distances[q]);
        EXPECT_EQ(sample.questions[q].pairs, pairs);
      }
    }
}

TEST(KeyValueRecall, ABatchAsksForItsAnswersAlone) {
  const std::vector<RecallSample> samples = {{{5, 6, 7, 8}, {{2, 1, 1}}},
                                             {{1, 2, 3, 4}, {{0, 1, 1}, {2, 1, 1}}}};
  const TokenBatch batch = recall_batch(samples);
  const auto row = [](const at::Tensor& t, int64_t i) {
    const int64_t* data = t.const_data_ptr<int64_t>() + 4 * i;
    return std::vector<int64_t>(data, data + 4);
  };
  EXPECT_THAT(row(batch.inputs, 0), ElementsAre(5, 6, 7, 8));
  EXPECT_THAT(row(batch.inputs, 1), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(row(batch.targets, 0), ElementsAre(-1, -1, 8, -1));
  EXPECT_THAT(row(batch.targets, 1), ElementsAre(2, -1, 4, -1));
  EXPECT_EQ(error_of(ErrorKind::internal, [] { recall_batch({}); }), "an empty batch");
}

}  // namespace
}  // namespace modewise::data
