#include "modewise/data/numpy_shuffle.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "modewise/core/file.h"

namespace modewise::data {
namespace {

using Numbers = std::vector<int64_t>;

Numbers part(const Numbers& all, size_t begin, size_t count) {
  return {all.begin() + static_cast<int64_t>(begin), all.begin() + static_cast<int64_t>(begin + count)};
}

TEST(NumpyShuffle, GivesNumpysOrders) {
  const auto cases =
      nlohmann::json::parse(read_file(MODEWISE_SOURCE_DIR "/tests/data/vectors/numpy_shuffle.json"));
  for (const auto& one : cases) {
    const Numbers order = numpy_shuffled(one["n"].get<int64_t>(), one["seed"].get<uint32_t>());
    if (one.contains("order")) {
      EXPECT_EQ(order, one["order"].get<Numbers>()) << one["seed"] << " " << one["n"];
    } else {
      EXPECT_EQ(part(order, 0, 20), one["first"].get<Numbers>());
      EXPECT_EQ(part(order, 17500, 20), one["at_17500"].get<Numbers>());
      EXPECT_EQ(part(order, order.size() - 20, 20), one["last"].get<Numbers>());
    }
  }
  EXPECT_EQ(cases.size(), 10u);
}

}  // namespace
}  // namespace modewise::data
