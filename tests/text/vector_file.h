#pragma once
// Frozen test vectors of this folder, and the folder with data sets.

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "modewise/core/error.h"
#include "tests/data_folder.h"

namespace modewise::text {

inline nlohmann::json load_vectors(const std::string& name) {
  std::ifstream file(std::string(MODEWISE_SOURCE_DIR) + "/tests/text/vectors/" + name);
  return nlohmann::json::parse(file);
}

inline std::string from_hex(const std::string& hex) {
  std::string bytes(hex.size() / 2, '\0');
  for (size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = static_cast<char>(std::stoi(hex.substr(2 * i, 2), nullptr, 16));
  return bytes;
}

}  // namespace modewise::text
