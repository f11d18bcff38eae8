#pragma once
// Test vectors, written by the scripts next to them.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "modewise/core/file.h"

namespace modewise::models {

inline nlohmann::json read_vectors(const std::string& name) {
  return nlohmann::json::parse(read_file(std::string(MODEWISE_SOURCE_DIR) + "/tests/models/vectors/" + name));
}

inline std::vector<double> numbers(const nlohmann::json& json) {
  return json.get<std::vector<double>>();
}

/// Expects equal sizes and differences within `relative` of the largest expected value.
inline void expect_near(const std::vector<double>& got, const std::vector<double>& wanted, double relative,
                        const std::string& what) {
  ASSERT_EQ(got.size(), wanted.size()) << what;
  double largest = 0;
  for (const double value : wanted) largest = std::max(largest, std::abs(value));
  for (size_t i = 0; i < got.size(); ++i)
    EXPECT_NEAR(got[i], wanted[i], relative * largest) << what << ", number " << i;
}

}  // namespace modewise::models
