#include <array>

#include "modewise/io/gzip.h"
#include "tests/fuzz/fuzz.h"

using namespace modewise::io;

// Reading in small pieces must give the same content.
FUZZ_TARGET(gzip) {
  return survive([&] {
    const std::vector<std::byte> content = gunzip(input_bytes(data, size), "file", 1 << 20);
    expect(content.size() <= 1032 * size);
    GzipReader reader(input_bytes(data, size), "file");
    std::array<std::byte, 7> piece;
    size_t done = 0;
    while (const size_t got = reader.read(piece)) {
      expect(done + got <= content.size());
      for (size_t i = 0; i < got; ++i) expect(piece[i] == content[done + i]);
      done += got;
    }
    expect(done == content.size());
  });
}
