#pragma once
// A fresh folder for one test, removed with it; in memory where the system has such a place, since these
// tests sync hundreds of times.

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

namespace modewise::train {

class ScratchFolder {
 public:
  ScratchFolder() {
    const bool memory = std::filesystem::is_directory("/dev/shm") && std::getenv("TEST_TMPDIR") == nullptr;
    std::string name = (memory ? "/dev/shm/" : testing::TempDir()) + "modewise-train-XXXXXX";
    path_ = ::mkdtemp(name.data());
  }
  ~ScratchFolder() { std::filesystem::remove_all(path_); }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

}  // namespace modewise::train
