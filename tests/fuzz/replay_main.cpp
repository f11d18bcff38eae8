// Runs a fuzz target on the files of the given folders, each complete and truncated at every length up to 4
// KiB, as a regression test without libFuzzer.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

void replay(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  const std::vector<uint8_t> content{std::istreambuf_iterator<char>(stream),
                                     std::istreambuf_iterator<char>()};
  LLVMFuzzerTestOneInput(content.data(), content.size());
  for (size_t length = 0; length < std::min<size_t>(content.size(), 4096); ++length) {
    // A separate block, so that AddressSanitizer detects reads beyond its end.
    const std::vector<uint8_t> cut(content.begin(), content.begin() + static_cast<std::ptrdiff_t>(length));
    LLVMFuzzerTestOneInput(cut.data(), cut.size());
  }
}

}  // namespace

int main(int argc, char** argv) {
  int files = 0;
  for (int i = 1; i < argc; ++i) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(argv[i])) {
      if (!entry.is_regular_file()) continue;
      replay(entry.path());
      ++files;
    }
  }
  std::printf("%d files replayed\n", files);
  return files > 0 ? 0 : 1;
}
