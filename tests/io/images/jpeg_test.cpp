#include "modewise/io/images/jpeg.h"

#include <algorithm>

#include "modewise/core/file.h"
#include "tests/error_of.h"
#include "tests/io/images/image_files.h"
#include "tests/scratch_folder.h"

namespace modewise::io {
namespace {

using testing::HasSubstr;

void try_jpeg(std::span<const std::byte> bytes) {
  parse_jpeg(bytes, "file");
}

int largest_difference(const Image& a, const Image& b) {
  if (a.pixels.size() != b.pixels.size()) return 999;
  int largest = 0;
  for (size_t i = 0; i < a.pixels.size(); ++i)
    largest = std::max(largest, std::abs(static_cast<int>(a.pixels[i]) - static_cast<int>(b.pixels[i])));
  return largest;
}

/// Offset of a marker's segment.
size_t segment(const std::string& file, uint8_t marker) {
  return file.find(std::string("\xFF") + static_cast<char>(marker));
}

/// The file with another height and width in its frame header.
std::string with_size(std::string file, uint32_t height, uint32_t width, uint8_t frame = 0xC0) {
  const size_t at = segment(file, frame) + 5;
  file.replace(at, 4, big_endian_text(height << 16 | width));
  return file;
}

TEST(Jpeg, ReadsEveryKindOfPixels) {
  const auto cases = frozen_images("jpeg");
  EXPECT_GT(cases.size(), 18U);
  for (const ImageCase& test : cases) {
    const Image image = parse_jpeg(to_bytes(test.file), test.name);
    EXPECT_EQ(image.height, test.image.height) << test.name;
    EXPECT_EQ(image.width, test.image.width) << test.name;
    EXPECT_EQ(image.channels, test.image.channels) << test.name;
    EXPECT_EQ(largest_difference(image, test.image), 0) << test.name;
  }
}

TEST(Jpeg, RefusesEveryTruncationThatLosesPixels) {
  for (const char* name : {"grey", "colors 4:2:0", "colors 4:2:0 progressive", "grey progressive", "inks",
                           "restarts", "orientation 6"}) {
    const std::string good = frozen_file("jpeg", name);
    const Image expected = parse_jpeg(to_bytes(good), "file");
    const size_t pixels_end = good.size() - 2;  // before the end marker
    ASSERT_EQ(good.substr(pixels_end), "\xFF\xD9") << name;
    for (size_t length = 0; length < pixels_end; ++length)
      EXPECT_NE(message_of(try_jpeg, good.substr(0, length)), "")
          << name << ": the first " << length << " bytes";
    for (const size_t length : {pixels_end, pixels_end + 1, good.size()}) {
      std::string remark;
      ImageReadOptions options;
      options.remark = &remark;
      EXPECT_EQ(parse_jpeg(to_bytes(good.substr(0, length)), "file", options), expected) << name << length;
      EXPECT_EQ(remark, length == good.size() ? "" : "no end marker, but all pixels");
    }
  }
}

TEST(Jpeg, RefusesAProgressiveFileWithoutItsLastScans) {
  const std::string good = frozen_file("jpeg", "colors 4:2:0 progressive");
  size_t scans = 0;
  for (size_t at = good.find("\xFF\xDA"); at != std::string::npos; at = good.find("\xFF\xDA", at + 2)) {
    if (scans++ == 0) continue;  // no pixels at all
    EXPECT_THAT(message_of(try_jpeg, good.substr(0, at)), HasSubstr("the file ends before its last scan"));
  }
  EXPECT_GT(scans, 3U);
}

TEST(Jpeg, SurvivesEveryFlippedBit) {
  for (const char* name : {"one pixel", "grey progressive"})
    expect_flips_are_clean(try_jpeg, frozen_file("jpeg", name));
}

TEST(Jpeg, SaysWhatIsWrongWithAFile) {
  const std::string good = frozen_file("jpeg", "colors 4:2:0");
  const size_t scan = segment(good, 0xDA);
  std::string cut = good.substr(0, good.size() - 60) + "\xFF\xD9", no_tables = good, frame = good,
              twelve = good;
  no_tables.erase(segment(good, 0xDB), 2 + 67);
  frame[segment(good, 0xC0) + 1] = '\xC7';
  twelve[segment(good, 0xC0) + 4] = 12;
  std::string two = good;
  two[segment(good, 0xC0) + 9] = 2;
  expect_refused(
      try_jpeg,
      {{"no picture", "BM, or so",
        "file: expected a JPEG image; the 9 bytes do not begin with its signature"},
       {"begin alone", "\xFF\xD8\xFF", "file: cannot decode the JPEG image: the file ends in the middle"},
       {"header alone", good.substr(0, scan),
        "file: cannot decode the JPEG image: the file ends in the middle"},
       {"no pixels", good.substr(0, scan + 16),
        "file: cannot decode the JPEG image (row 0 of 19): the file ends in the middle"},
       {"fewer pixels", cut,
        "file: cannot decode the JPEG image (row 0 of 19): Corrupt JPEG data: premature end of data "
        "segment"},
       {"no tables", no_tables,
        "file: cannot decode the JPEG image: Quantization table 0x00 was not defined"},
       {"differential frame", frame,
        "file: cannot decode the JPEG image: Unsupported JPEG process: SOF type 0xc7"},
       {"12 bits", twelve, "file: cannot decode the JPEG image: Unsupported JPEG data precision 12"},
       {"components", two, "file: cannot decode the JPEG image: Bogus marker length"},
       {"no rows", with_size(good, 0, 21),
        "file: cannot decode the JPEG image: Empty JPEG image (DNL not supported)"},
       {"more rows", with_size(good, 190, 21),
        "file: cannot decode the JPEG image (row 30 of 190): Corrupt JPEG data: premature end of data "
        "segment"}});
}

TEST(Jpeg, TakesWhatDoesNotTouchThePixels) {
  const std::string good = frozen_file("jpeg", "colors 4:2:0");
  const Image expected = parse_jpeg(to_bytes(good), "file");
  std::string padded = good;
  padded.insert(good.size() - 2, "filler");
  EXPECT_EQ(parse_jpeg(to_bytes(padded), "file"), expected);
  EXPECT_EQ(parse_jpeg(to_bytes(good + "what follows"), "file"), expected);
  std::string commented = good;
  commented.insert(2, std::string("\xFF\xFE\0\x07hello", 9));
  EXPECT_EQ(parse_jpeg(to_bytes(commented), "file"), expected);
  // Truncated or foreign Exif data is ignored; the first valid block is used.
  const std::string rotated = frozen_file("jpeg", "orientation 8");
  for (const std::string_view block : {std::string_view("Exif\0\0", 6), std::string_view("Exif\0\0II*\0", 10),
                                       std::string_view("http://ns.adobe.com/xap/1.0/\0", 29)}) {
    std::string file = good;
    const std::string length = big_endian_text(static_cast<uint32_t>(block.size() + 2)).substr(2);
    file.insert(2, "\xFF\xE1" + length + std::string(block));
    EXPECT_EQ(parse_jpeg(to_bytes(file), "file"), expected);
  }
  EXPECT_EQ(parse_jpeg(to_bytes(rotated), "file").height, 9);
}

TEST(Jpeg, IsReadAtTheSizeThatFits) {
  // 6,000 × 8,000 pixels of one colour take 144 MB as they are.
  Image large{6000, 8000, 3, {}};
  large.pixels.assign(6000 * 8000 * 3, 90);
  const std::vector<std::byte> file = to_bytes(format_jpeg(large, 50));
  large = {};
  const Parse whole = [](std::span<const std::byte> bytes) { parse_jpeg(bytes, "file"); };
  EXPECT_THAT(message_of(whole, to_text(file)),
              testing::AllOf(HasSubstr("an image of 6000 x 8000 pixels (height x width) takes 13"),
                             HasSubstr("more than twice the file's"), HasSubstr("--allow-size reads it")));
  const Image half = parse_jpeg(file, "file", {.height = 32, .width = 32});
  EXPECT_EQ(half.height, 3000);
  EXPECT_EQ(half.width, 4000);
  EXPECT_EQ(half.pixels, std::vector<uint8_t>(3000 * 4000 * 3, 90));
}

TEST(Jpeg, OfThirtyThousandSquareIsRefusedByItsHeader) {
  const std::string sequential = frozen_file("jpeg", "colors 4:2:0"),
                    progressive = frozen_file("jpeg", "colors 4:2:0 progressive");
  EXPECT_THAT(message_of(try_jpeg, with_size(sequential, 30000, 30000)), HasSubstr("--allow-size"));
  EXPECT_THAT(message_of(try_jpeg, with_size(progressive, 30000, 30000, 0xC2)),
              HasSubstr("the coefficients of all its scans are kept"));
  const Parse scaled = [](std::span<const std::byte> bytes) {
    parse_jpeg(bytes, "file", {.height = 32, .width = 32});
  };
  EXPECT_THAT(message_of(scaled, with_size(sequential, 30000, 30000)),
              HasSubstr("cannot decode the JPEG image (row"));
  EXPECT_THAT(message_of(scaled, with_size(progressive, 30000, 30000, 0xC2)),
              HasSubstr("the coefficients of all its scans are kept"));
}

TEST(Jpeg, OfCountlessScansIsRefused) {
  // After the first scan of a progressive file, empty refinement scans of one coefficient each: a few bytes,
  // but each is a pass over the whole image.
  const std::string file = frozen_file("jpeg", "grey progressive");
  const std::string begin = file.substr(0, file.find("\xFF\xC4", segment(file, 0xDA)));
  const auto with_scans = [&](int scans) {
    // A Huffman table whose only code, of one bit, means end of block; used for six blocks.
    std::string text = begin + std::string("\xFF\xC4\0\x14\x10\x01", 6) + std::string(16, '\0');
    for (int i = 0; i + 1 < scans; ++i) {
      const auto coefficient = static_cast<char>(i % 63 + 1), bits = static_cast<char>(i < 63 ? 0x01 : 0x10);
      text += std::string("\xFF\xDA\0\x08\x01\x01\0", 7) + coefficient + coefficient + bits + '\x03';
    }
    return text + "\xFF\xD9";
  };
  EXPECT_EQ(message_of(try_jpeg, with_scans(kMaxJpegScans)), "");
  EXPECT_THAT(message_of(try_jpeg, with_scans(kMaxJpegScans + 1)), HasSubstr("it has more than 100 scans"));
}

TEST(Jpeg, IsWrittenAsItIsRead) {
  for (const auto& [height, width, channels] :
       std::vector<std::array<int64_t, 3>>{{1, 1, 1}, {1, 1, 3}, {7, 17, 1}, {33, 31, 3}}) {
    const Image image = ramp(height, width, channels);
    const std::string fine = format_jpeg(image, 100), coarse = format_jpeg(image, 5);
    const Image read = parse_jpeg(to_bytes(fine), "file");
    EXPECT_EQ(read.height, height);
    EXPECT_EQ(read.width, width);
    EXPECT_EQ(read.channels, channels);
    EXPECT_LE(largest_difference(read, image), channels == 1 ? 1 : 6);
    EXPECT_EQ(parse_image(to_bytes(fine), "file"), read);
    if (height > 1) {
      EXPECT_LT(coarse.size(), fine.size());
      EXPECT_GT(largest_difference(parse_jpeg(to_bytes(coarse), "file"), image), 6);
    }
  }
  EXPECT_EQ(error_of(ErrorKind::internal, [&] { format_jpeg(ramp(2, 2, 1), 0); }),
            "format_jpeg: quality must be 1 to 100, got 0");
  EXPECT_EQ(error_of(ErrorKind::internal, [&] { format_jpeg(ramp(2, 2, 1), 101); }),
            "format_jpeg: quality must be 1 to 100, got 101");
}

}  // namespace
}  // namespace modewise::io
