#pragma once
// Frozen test vectors of this folder, and the folder with data sets.

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/data_folder.h"

namespace modewise::io {

inline nlohmann::json load_vectors(const std::string& name) {
  std::ifstream file(std::string(MODEWISE_SOURCE_DIR) + "/tests/io/vectors/" + name);
  return nlohmann::json::parse(file);
}

inline std::vector<std::byte> from_hex(const std::string& hex) {
  std::vector<std::byte> bytes(hex.size() / 2);
  for (size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = static_cast<std::byte>(std::stoi(hex.substr(2 * i, 2), nullptr, 16));
  return bytes;
}

inline double from_hex_float(const std::string& text) {
  return std::strtod(text.c_str(), nullptr);
}

inline std::vector<float> from_hex_floats(const nlohmann::json& texts) {
  std::vector<float> values;
  for (const auto& text : texts) values.push_back(static_cast<float>(from_hex_float(text)));
  return values;
}

}  // namespace modewise::io
