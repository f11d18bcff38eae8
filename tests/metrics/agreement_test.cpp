// GLUE metrics against scikit-learn and SciPy (vectors/make_agreement.py).

#include "modewise/metrics/agreement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "modewise/core/file.h"

namespace modewise::metrics {
namespace {

using Numbers = std::vector<double>;

const nlohmann::json& agreement_vectors() {
  static const auto json =
      nlohmann::json::parse(read_file(MODEWISE_SOURCE_DIR "/tests/metrics/vectors/agreement.json"));
  return json;
}

TEST(Agreement, MatthewsAndF1AreScikitLearns) {
  int undefined = 0;
  for (const auto& wanted : agreement_vectors()["labels"]) {
    const auto confusion = wanted["confusion"].get<std::vector<int64_t>>();
    const auto classes = wanted["classes"].get<int64_t>();
    EXPECT_NEAR(matthews(confusion, classes), wanted["matthews"].get<double>(), 1e-12);
    undefined += wanted["matthews"] == 0.0;
    for (int64_t k = 0; k < classes; ++k)
      EXPECT_DOUBLE_EQ(f1(confusion, classes, k), wanted["f1"][static_cast<size_t>(k)].get<double>());
  }
  EXPECT_EQ(agreement_vectors()["labels"].size(), 120U);
  EXPECT_GT(undefined, 20);
}

TEST(Agreement, CorrelationsAreScipys) {
  int undefined = 0;
  for (const auto& wanted : agreement_vectors()["values"]) {
    const auto x = wanted["x"].get<Numbers>(), y = wanted["y"].get<Numbers>();
    for (const auto& [name, found] : {std::pair("pearson", pearson(x, y)), {"spearman", spearman(x, y)}}) {
      EXPECT_EQ(std::isnan(found), wanted[name].is_null()) << name << " of " << x.size();
      if (wanted[name].is_null())
        ++undefined;
      else
        EXPECT_NEAR(found, wanted[name].get<double>(), 1e-12) << name << " of " << x.size();
    }
  }
  EXPECT_EQ(agreement_vectors()["values"].size(), 66U);
  EXPECT_GT(undefined, 20);
}

TEST(Agreement, TiedValuesShareTheMeanOfTheirRanks) {
  EXPECT_EQ(average_ranks(Numbers{3, 1, 3, 2, 3}), (Numbers{4, 1, 4, 2, 4}));
  EXPECT_EQ(average_ranks(Numbers{}), Numbers{});
  EXPECT_THAT(average_ranks(Numbers{1, std::nan(""), 0}), testing::Each(testing::IsNan()));
  EXPECT_TRUE(std::isnan(spearman(Numbers{1, std::nan(""), 0}, Numbers{1, 2, 3})));
}

TEST(Agreement, OneValueCorrelatesWithNothing) {
  EXPECT_TRUE(std::isnan(pearson(Numbers{1}, Numbers{2})));
  EXPECT_DOUBLE_EQ(pearson(Numbers{1, 2}, Numbers{9, 7}), -1.0);
}

}  // namespace
}  // namespace modewise::metrics
