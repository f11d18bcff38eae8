#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>

#include "modewise/core/file.h"
#include "modewise/core/parse_json.h"

namespace modewise::sweep {

inline nlohmann::ordered_json read_json(const std::filesystem::path& file) {
  return parse_json(read_file(file), file.string());
}

}  // namespace modewise::sweep
