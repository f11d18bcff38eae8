#pragma once
// The folder with real data sets: MODEWISE_DATA, or shared/data next to the repository.

#include <cstdlib>
#include <filesystem>
#include <string>

namespace modewise {

inline std::filesystem::path data_folder() {
  const char* folder = std::getenv("MODEWISE_DATA");
  return folder != nullptr ? folder : std::string(MODEWISE_SOURCE_DIR) + "/../shared/data";
}

}  // namespace modewise
