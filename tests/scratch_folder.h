#pragma once
// Temporary folder of one test; in memory (tmpfs) if possible, since some tests sync hundreds of times.

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace modewise {

class ScratchFolder {
 public:
  ScratchFolder() {
    const bool memory = std::filesystem::is_directory("/dev/shm") && std::getenv("TEST_TMPDIR") == nullptr;
    std::string name = (memory ? "/dev/shm/" : testing::TempDir()) + "modewise-test-XXXXXX";
    path_ = ::mkdtemp(name.data());
  }
  ~ScratchFolder() { std::filesystem::remove_all(path_); }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }
  std::string path(const std::string& name) const { return (path_ / name).string(); }
  /// Writes `text` to a file and returns its path.
  std::string write(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories((path_ / name).parent_path());
    std::ofstream(path_ / name, std::ios::binary) << text;
    return path(name);
  }

 private:
  std::filesystem::path path_;
};

}  // namespace modewise
