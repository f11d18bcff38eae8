#include "modewise/core/parse_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "modewise/core/error.h"

namespace modewise {
namespace {

using testing::HasSubstr;

std::string json_error(const std::string& text) {
  try {
    parse_json(text, "a.json");
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::data);
    return error.what();
  }
  return "";
}

TEST(ParseJson, BoundsTheLevels) {
  const auto nested = [](size_t levels) {
    return "{\"x\":" + std::string(levels - 1, '[') + "7" + std::string(levels - 1, ']') + "}";
  };
  EXPECT_EQ(parse_json(nested(100), "a.json").dump(), nested(100));
  EXPECT_EQ(json_error(nested(101)), "a.json: nested deeper than 100 levels");
  EXPECT_EQ(json_error(nested(200'000)), "a.json: nested deeper than 100 levels");
  EXPECT_EQ(json_error(std::string(200'000, '[')), "a.json: nested deeper than 100 levels");
  EXPECT_THAT(json_error("{\"x\": "), HasSubstr("a.json: not JSON: "));
  EXPECT_THAT(json_error(""), HasSubstr("a.json: not JSON: "));
}

TEST(ParseJson, BoundsTheMembersOfOrderedObjects) {
  const auto object = [](size_t members) {
    std::string text;
    for (size_t i = 0; i < members; ++i) text += (i == 0 ? "{\"" : ",\"") + std::to_string(i) + "\":0";
    return text + "}";
  };
  EXPECT_EQ(parse_json("[" + object(16384) + "," + object(16384) + "]", "a.json").size(), 2U);
  EXPECT_EQ(parse_json("{\"x\":" + object(16384) + ",\"y\":" + object(16384) + "}", "a.json").size(), 2U)
      << "each object has members of its own";
  EXPECT_EQ(json_error(object(16385)), "a.json: an object has more than 16384 members");
  EXPECT_EQ(json_error("{\"x\":[" + object(1'000'000) + "]}"),
            "a.json: an object has more than 16384 members");
  EXPECT_EQ(parse_json<nlohmann::json>(object(1'000'000), "a.json").size(), 1'000'000U);
}

}  // namespace
}  // namespace modewise
