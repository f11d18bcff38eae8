// Memory of image decoding: at most twice the file's size plus 64 MiB, whatever the file declares.
// Allocations by `new` are metered; libjpeg allocates elsewhere, so the process's size is measured too.

#include <malloc.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <new>

#include "modewise/io/images/jpeg.h"
#include "modewise/io/images/png.h"
#include "tests/io/allocation_meter.h"
#include "tests/io/images/image_files.h"

namespace modewise::io {
namespace {

constexpr ImageReadOptions kSmall{.height = 32, .width = 32};

int64_t peak_of(const ImageReadOptions& options, const std::string& content) {
  const std::vector<std::byte> bytes = to_bytes(content);
  const AllocationMeter meter;
  try {
    parse_image(bytes, "file", options);
  } catch (const Error&) {
  }
  return meter.peak();
}

/// Growth of a separate process while it reads `content`, all memory included.
int64_t growth_of(const ImageReadOptions& options, const std::string& content) {
  const std::vector<std::byte> bytes = to_bytes(content);
  const auto max_resident = [&](bool reads) {
    malloc_trim(0);
    const pid_t child = fork();
    if (child == 0) {
      try {
        if (reads) parse_image(bytes, "file", options);
      } catch (const Error&) {
      }
      _exit(0);
    }
    rusage usage{};
    int status = 0;
    EXPECT_EQ(wait4(child, &status, 0, &usage), child);
    EXPECT_EQ(status, 0);
    return static_cast<int64_t>(usage.ru_maxrss) * 1024;
  };
  const int64_t before = max_resident(false);
  return max_resident(true) - before;
}

void expect_bounded(const ImageReadOptions& options, const std::string& content, const std::string& what) {
  const int64_t limit = 2 * static_cast<int64_t>(content.size()) + 64 * kMiB;
  EXPECT_LE(peak_of(options, content), limit) << what;
#if !defined(__SANITIZE_ADDRESS__)
  EXPECT_LE(growth_of(options, content), limit) << what;
#endif
}

/// A PNG with rows of zeros, compressed to a thousandth.
std::string flat_png(uint32_t height, uint32_t width, uint8_t depth, uint8_t color_type,
                     uint8_t interlace = 0) {
  PngBuilder png{
      .width = width, .height = height, .depth = depth, .color_type = color_type, .interlace = interlace};
  const size_t samples = color_type == 2 ? 3 : color_type == 6 ? 4 : 1;
  png.rows.assign(height * (1 + (width * samples * depth + 7) / 8), '\0');
  return png.text();
}

TEST(ImageMemory, IsBoundedForPng) {
  const std::string fits = flat_png(4000, 5000, 8, 2), large = flat_png(5000, 7001, 8, 2);
  EXPECT_GT(peak_of({}, fits), 57 * kMiB);
  expect_bounded({}, fits, "60 MB of pixels");
  EXPECT_LT(peak_of({}, large), kMiB);
  expect_bounded(kSmall, large, "105 MB, read at half its size");
  EXPECT_GT(peak_of(kSmall, large), 25 * kMiB);
  EXPECT_EQ(parse_png(to_bytes(large), "file", kSmall).width, 3501);
  EXPECT_EQ(parse_png(to_bytes(large), "file", {.allow_size = true}).width, 7001);
  expect_bounded(kSmall, flat_png(3, 3000001, 16, 6), "long rows");
  EXPECT_LT(peak_of(kSmall, flat_png(2000, 20000, 8, 2, 1)), kMiB);
  expect_bounded({}, flat_png(2000, 9000, 8, 2, 1), "interlaced");
}

TEST(ImageMemory, IsBoundedForHeadersAlone) {
  PngBuilder png{.width = 30000, .height = 30000};
  EXPECT_LT(peak_of({}, png.text()), kMiB);
  expect_bounded(kSmall, png.text(), "30,000 square");
  png.interlace = 1;
  EXPECT_LT(peak_of(kSmall, png.text()), kMiB);
  png = {.width = 0x7FFFFFFF, .height = 0x7FFFFFFF, .depth = 16, .color_type = 6};
  EXPECT_LT(peak_of(kSmall, png.text()), kMiB);
  const std::string jpeg = frozen_file("jpeg", "colors 4:2:0"),
                    progressive = frozen_file("jpeg", "colors 4:2:0 progressive");
  for (const std::string& file : {jpeg, progressive}) {
    for (const uint32_t size :
         {30000U << 16 | 30000U, 65500U << 16 | 65500U, 1U << 16 | 65500U, 4500U << 16 | 4500U}) {
      std::string declared = file;
      const size_t frame = file.find(file == jpeg ? "\xFF\xC0" : "\xFF\xC2");
      declared.replace(frame + 5, 4, big_endian_text(size));
      expect_bounded({}, declared, "declared");
      expect_bounded(kSmall, declared, "declared, another size wanted");
    }
  }
}

TEST(ImageMemory, IsBoundedForChunksThatArePacked) {
  PngBuilder png;
  png.before = png_chunk("zTXt", std::string("a\0\0", 3) + zlib_of(std::string(size_t{64} << 20, ' ')));
  EXPECT_LT(peak_of({}, png.text()), kMiB);
  png.before = png_chunk("iCCP", std::string("a\0\0", 3) + zlib_of(std::string(size_t{64} << 20, ' ')));
  EXPECT_LT(peak_of({}, png.text()), kMiB);
}

TEST(ImageMemory, IsBoundedForJpeg) {
  Image image = ramp(4001, 5003, 3);
  const std::string file = format_jpeg(image, 60);
  image = {};
  expect_bounded({}, file, "60 MB of pixels");
  EXPECT_EQ(parse_jpeg(to_bytes(file), "file").width, 5003);
}

TEST(ImageMemory, MayRunOut) {
  for (const char* format : {"png", "jpeg"}) {
    for (const ImageCase& test : frozen_images(format)) {
      const std::vector<std::byte> bytes = to_bytes(test.file);
      int64_t allocations = 0;
      for (;; ++allocations) {
        bool thrown = false, happened = false;
        {
          AllocationFailure failure(allocations);
          try {
            EXPECT_EQ(parse_image(bytes, "file"), test.image);
          } catch (const std::bad_alloc&) {
            thrown = true;
          }
          happened = failure.happened();
        }
        EXPECT_EQ(thrown, happened) << test.name << " allocation " << allocations;
        if (!happened) break;
      }
      EXPECT_GE(allocations, 2) << test.name;
    }
  }
}

}  // namespace
}  // namespace modewise::io
