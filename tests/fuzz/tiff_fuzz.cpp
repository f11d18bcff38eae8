#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "modewise/io/images/tiff.h"
#include "tests/fuzz/fuzz.h"

using namespace modewise::io;

// A window near the last pixel must equal that part of a larger window.
FUZZ_TARGET(tiff) {
  return survive([&] {
    const TiffReader reader(input_bytes(data, size), "file");
    const TiffInfo& info = reader.info();
    const auto side = static_cast<int64_t>(std::sqrt(1e5 / static_cast<double>(info.bands))) + 1;
    const int64_t height = std::min(side, info.height), width = std::min(side, info.width);
    const int64_t top = info.height - height, left = info.width - width;
    reader.read(0, 0, height, width);
    const std::vector<float> all = reader.read(top, left, height, width);
    const int64_t row = height / 2, column = width / 3;
    const std::vector<float> part = reader.read(top + row, left + column, height - row, width - column);
    const auto count = static_cast<size_t>((width - column) * info.bands);
    for (int64_t r = row; r < height; ++r) {
      const float* expected = all.data() + (r * width + column) * info.bands;
      expect(std::memcmp(part.data() + static_cast<size_t>(r - row) * count, expected,
                         count * sizeof(float)) == 0);
    }
    if (info.geo) {
      info.geo->transform();
      info.geo->crs_text();
    }
  });
}
