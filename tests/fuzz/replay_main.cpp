// replay_<layer> TARGET FOLDER: runs a fuzz target on the files of the folder, each complete and truncated at
// every length up to 4 KiB, as a regression test without libFuzzer.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

#include "tests/fuzz/fuzz.h"

namespace {

void replay(modewise::io::FuzzTarget target, const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  const std::vector<uint8_t> content{std::istreambuf_iterator<char>(stream),
                                     std::istreambuf_iterator<char>()};
  target(content.data(), content.size());
  for (size_t length = 0; length < std::min<size_t>(content.size(), 4096); ++length) {
    // A separate block, so that AddressSanitizer detects reads beyond its end.
    const std::vector<uint8_t> cut(content.begin(), content.begin() + static_cast<std::ptrdiff_t>(length));
    target(cut.data(), cut.size());
  }
}

}  // namespace

int main(int argc, char** argv) {
  const auto found = modewise::io::fuzz_targets().find(argc == 3 ? argv[1] : "");
  if (found == modewise::io::fuzz_targets().end()) {
    std::fprintf(stderr, "usage: replay_<layer> TARGET FOLDER\n");
    return 2;
  }
  int files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(argv[2])) {
    if (!entry.is_regular_file()) continue;
    replay(found->second, entry.path());
    ++files;
  }
  std::printf("%d files replayed\n", files);
  return files > 0 ? 0 : 1;
}
