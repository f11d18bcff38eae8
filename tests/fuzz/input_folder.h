#pragma once
// Folder for readers that take a path; in memory (tmpfs) if possible.

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "modewise/core/file.h"

namespace modewise::io {

class InputFolder {
 public:
  /// Creates the folder with copies of files of the corpora: {{"images/1.png", "png/colors_8"}, …}.
  explicit InputFolder(std::initializer_list<std::pair<const char*, const char*>> copies = {}) {
    const std::filesystem::path memory = "/dev/shm";
    const auto parent =
        std::filesystem::is_directory(memory) ? memory : std::filesystem::temp_directory_path();
    std::string name = parent / "modewise-fuzz-XXXXXX";
    path_ = ::mkdtemp(name.data());
    for (const auto& [copy, file] : copies)
      write(copy, read_file(std::filesystem::path(MODEWISE_SOURCE_DIR "/tests/fuzz/corpus") / file));
  }
  ~InputFolder() { std::filesystem::remove_all(path_); }
  InputFolder(const InputFolder&) = delete;
  InputFolder& operator=(const InputFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  /// Writes a file, which replaces that of the case before, and returns its path.
  std::string write(const std::string& name, std::string_view content) const {
    const std::filesystem::path file = path_ / name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary).write(content.data(), static_cast<std::streamsize>(content.size()));
    return file.string();
  }

 private:
  std::filesystem::path path_;
};

}  // namespace modewise::io
