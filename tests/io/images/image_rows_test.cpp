#include "modewise/io/images/image_rows.h"

#include <algorithm>
#include <array>

#include "tests/io/images/image_files.h"

namespace modewise::io {
namespace {

/// Row and column in the stored image of `height` × `width` of the upright pixel (y, x).
std::array<int64_t, 2> stored_place(int orientation, int64_t height, int64_t width, int64_t y, int64_t x) {
  switch (orientation) {
    case 1:
      return {y, x};
    case 2:
      return {y, width - 1 - x};
    case 3:
      return {height - 1 - y, width - 1 - x};
    case 4:
      return {height - 1 - y, x};
    case 5:
      return {x, y};
    case 6:
      return {height - 1 - x, y};
    case 7:
      return {height - 1 - x, width - 1 - y};
    default:
      return {x, width - 1 - y};
  }
}

TEST(ImageRows, AverageDownAndTurn) {
  const int64_t height = 7, width = 5, channels = 3;
  const Image from = speckled(height, width, channels);
  for (const int64_t by : {1, 2, 3, 7, 9}) {
    const int64_t rows = (height + by - 1) / by, columns = (width + by - 1) / by;
    for (int orientation = 1; orientation <= 8; ++orientation) {
      ImageRows sink({height, width, channels}, by, orientation);
      for (int64_t y = 0; y < height; ++y)
        sink.add(std::span(from.pixels).subspan(static_cast<size_t>(y * width * channels), width * channels));
      const Image out = sink.take();
      ASSERT_EQ(out.height, orientation < 5 ? rows : columns);
      ASSERT_EQ(out.width, orientation < 5 ? columns : rows);
      for (int64_t y = 0; y < out.height; ++y)
        for (int64_t x = 0; x < out.width; ++x) {
          const auto [row, column] = stored_place(orientation, rows, columns, y, x);
          for (int64_t c = 0; c < channels; ++c) {
            double sum = 0, count = 0;
            for (int64_t i = row * by; i < std::min(height, (row + 1) * by); ++i)
              for (int64_t j = column * by; j < std::min(width, (column + 1) * by); ++j, ++count)
                sum += from.pixels[static_cast<size_t>((i * width + j) * channels + c)];
            EXPECT_EQ(out.pixels[static_cast<size_t>((y * out.width + x) * channels + c)],
                      static_cast<int>(sum / count + 0.5))
                << by << " " << orientation;
          }
        }
    }
  }
}

TEST(ImageRows, DivideByAsLittleAsTheMemoryAsks) {
  constexpr uint64_t mib = uint64_t{1} << 20;
  const ImageReadOptions small{32, 32, false}, none, any{0, 0, true};
  const DecodingMemory plain{1000, 0, true, ""};
  // The limit is 62 MiB and 2,000 bytes, a grey image of as many pixels; the sums of a row count too.
  ASSERT_EQ(decoding_limit(1000), 62 * mib + 2000);
  const StoredSize fits{62, mib, 1}, more{62 * 1024, 1025, 1}, large{30000, 30000, 3};
  EXPECT_EQ(choose_reduction(fits, plain, none, "file"), 1);
  EXPECT_EQ(choose_reduction(more, plain, small, "file"), 2);
  EXPECT_EQ(choose_reduction(large, plain, small, "file"), 7);  // 4,286² · 3 = 55 MB; by 6 it is 75 MB
  EXPECT_EQ(choose_reduction(more, plain, any, "file"), 1);
  const auto refusal = [&](const StoredSize& size, const DecodingMemory& memory,
                           const ImageReadOptions& options) {
    return message_of([&](std::span<const std::byte>) { choose_reduction(size, memory, options, "file"); },
                      "");
  };
  for (const ImageReadOptions& unknown :
       {none, ImageReadOptions{32, 0, false}, ImageReadOptions{0, 32, false}})
    EXPECT_NE(refusal(more, plain, unknown), "");
  EXPECT_THAT(refusal(fits, {1000, 2001, false, "interlaced"}, small),
              testing::EndsWith("64 MiB: interlaced; --allow-size reads it anyway"));
  EXPECT_EQ(refusal(fits, {1000, 2000, false, ""}, small), "");
  EXPECT_THAT(refusal({int64_t{1} << 31, int64_t{1} << 31, 3}, plain, any), testing::HasSubstr("are free"));
}

}  // namespace
}  // namespace modewise::io
