#include "modewise/io/images/png.h"

#include "modewise/core/file.h"
#include "tests/error_of.h"
#include "tests/io/images/image_files.h"
#include "tests/scratch_folder.h"

namespace modewise::io {
namespace {

using testing::HasSubstr;

void try_png(std::span<const std::byte> bytes) {
  parse_png(bytes, "file");
}

TEST(Png, ReadsEveryKindOfPixels) {
  const auto cases = frozen_images("png");
  EXPECT_GT(cases.size(), 45U);
  for (const ImageCase& test : cases) {
    const Image image = parse_png(to_bytes(test.file), test.name);
    EXPECT_EQ(image.height, test.image.height) << test.name;
    EXPECT_EQ(image.channels, test.image.channels) << test.name;
    EXPECT_EQ(image, test.image) << test.name;
  }
}

TEST(Png, RefusesEveryTruncation) {
  for (const char* name : {"grey 8", "colors alpha 16 interlaced", "palette 4 transparent", "described"})
    expect_every_truncation_fails(try_png, frozen_file("png", name));
}

TEST(Png, RefusesEveryFlippedBit) {
  // Every chunk has a checksum, so flips of any bit must be detected, also of sizes and names.
  const std::string valid = frozen_file("png", "palette 2");
  for (size_t at = 0; at < valid.size(); ++at) {
    std::string content = valid;
    content[at] = static_cast<char>(content[at] ^ 16);
    EXPECT_NE(message_of(try_png, content), "") << at;
  }
  for (const char* name : {"grey 1 interlaced", "colors 16", "orientation 6"})
    expect_flips_are_clean(try_png, frozen_file("png", name));
}

TEST(Png, SaysWhatIsWrongWithAFile) {
  const PngBuilder good;
  EXPECT_EQ(message_of(try_png, good.text()), "");
  PngBuilder filter = good, unknown = good, short_rows = good, no_end = good, twice = good, empty = good,
             depth = good, type = good, no_palette = good;
  filter.rows[10] = 9;
  unknown.before = png_chunk("ABCD", "critical");
  short_rows.rows.resize(19);
  no_end.end = "";
  twice.before = png_chunk("IHDR", std::string(13, '\1'));
  empty.width = 0;
  depth.depth = 3;
  type.color_type = 5;
  no_palette.color_type = 3;
  std::string checksum = good.text();
  checksum[checksum.size() - 1] ^= 1;
  std::string pixels = good.text();
  pixels[pixels.size() - 12 - 1] ^= 1;  // the end chunk has 12 bytes
  expect_refused(
      try_png,
      {{"no picture", "GIF89a, or so",
        "file: expected a PNG image; the 13 bytes do not begin with its signature"},
       {"nothing", "", "file: expected a PNG image; the 0 bytes do not begin with its signature"},
       {"header alone", good.text().substr(0, 33),
        "file: cannot decode the PNG image: the file ends in the middle"},
       {"filter", filter.text(), "file: cannot decode the PNG image (row 1 of 2): bad adaptive filter value"},
       {"unknown chunk", unknown.text(), "file: cannot decode the PNG image: ABCD: unhandled critical chunk"},
       {"missing pixels", short_rows.text(),
        "file: cannot decode the PNG image (row 1 of 2): Not enough image data"},
       {"no end", no_end.text(),
        "file: cannot decode the PNG image (row 2 of 2): the file ends in the middle"},
       {"two headers", twice.text(), "file: cannot decode the PNG image: IHDR: out of place"},
       {"no width", empty.text(), "file: cannot decode the PNG image: Invalid IHDR data"},
       {"bits", depth.text(), "file: cannot decode the PNG image: Invalid IHDR data"},
       {"type", type.text(), "file: cannot decode the PNG image: Invalid IHDR data"},
       {"no palette", no_palette.text(), "file: cannot decode the PNG image: IDAT: Missing PLTE before IDAT"},
       {"checksum of the end", checksum, "file: cannot decode the PNG image (row 2 of 2): IEND: CRC error"},
       {"checksum of pixels", pixels, "file: cannot decode the PNG image (row 1 of 2): IDAT: CRC error"}});
}

TEST(Png, PassesOverWhatDescribesAImage) {
  const PngBuilder plain;
  const Image expected = parse_png(to_bytes(plain.text()), "file");
  PngBuilder described = plain;
  described.before = png_chunk("iCCP", "name\0\0broken") + png_chunk("gAMA", "bad") + png_chunk("tIME", "7");
  described.after = png_chunk("tEXt", "Comment");
  EXPECT_EQ(parse_png(to_bytes(described.text() + "what follows"), "file"), expected);
  // A wrong checksum of such a chunk is ignored, as browsers do.
  described.after[described.after.size() - 1] ^= 1;
  described.before[described.before.size() - 1] ^= 1;
  EXPECT_EQ(parse_png(to_bytes(described.text()), "file"), expected);
  // A damaged Exif block is ignored.
  for (const std::string_view block : {"", "II", "II*\0\xff\xff\xff\xff", "MM\0*\0\0\0\x08\xff\xff"}) {
    PngBuilder exif = plain;
    exif.before = png_chunk("eXIf", block);
    EXPECT_EQ(parse_png(to_bytes(exif.text()), "file"), expected);
  }
  PngBuilder late = plain;
  late.after =
      png_chunk("eXIf", std::string_view("MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x08\0\0", 22));
  EXPECT_EQ(parse_png(to_bytes(late.text()), "file").height, 3);
}

TEST(Png, IsWrittenAsItIsRead) {
  const ScratchFolder scratch;
  for (const auto& [height, width, channels] :
       std::vector<std::array<int64_t, 3>>{{1, 1, 1}, {1, 1, 3}, {3, 5, 1}, {17, 31, 3}, {65, 2, 3}}) {
    const Image image = speckled(height, width, channels);
    EXPECT_EQ(read_image(scratch.write("a.png", format_png(image))), image);
  }
  EXPECT_EQ(error_of(ErrorKind::internal,
                     [&] {
                       format_png({2, 3, 3, std::vector<uint8_t>(17)});
                     }),
            "format_png: 17 bytes are not an image of 2 x 3 pixels of 3 channels");
  EXPECT_EQ(error_of(ErrorKind::internal,
                     [&] {
                       format_png({2, 3, 2, std::vector<uint8_t>(12)});
                     }),
            "format_png: 12 bytes are not an image of 2 x 3 pixels of 2 channels");
}

std::string unfiltered_rows(const Image& image) {
  std::string rows;
  const int64_t row_bytes = image.width * image.channels;
  for (int64_t y = 0; y < image.height; ++y) {
    rows += '\0';
    rows.append(image.pixels.begin() + y * row_bytes, image.pixels.begin() + (y + 1) * row_bytes);
  }
  return rows;
}

// Reports are compared byte by byte.
TEST(Png, IsWrittenWithoutFiltersAtTheHighestLevel) {
  for (const int64_t channels : {1, 3}) {
    const Image image = speckled(17, 31, channels);
    PngBuilder expected{.width = 31, .height = 17};
    expected.color_type = channels == 1 ? 0 : 2;
    expected.rows = unfiltered_rows(image);
    EXPECT_EQ(format_png(image), expected.text());
  }
}

TEST(Png, IsWrittenWithAPalette) {
  const Image indices{2, 3, 1, {0, 1, 2, 2, 1, 0}};
  const std::vector<uint8_t> palette = {1, 2, 3, 40, 50, 60, 255, 0, 7};
  PngBuilder expected;
  expected.color_type = 3;
  expected.before = png_chunk("PLTE", {reinterpret_cast<const char*>(palette.data()), palette.size()});
  expected.rows = unfiltered_rows(indices);
  EXPECT_EQ(format_palette_png(indices, palette), expected.text());
  expected.before += png_chunk("tRNS", std::string_view("\xff\0", 2));
  const std::string transparent = format_palette_png(indices, palette, 1);
  EXPECT_EQ(transparent, expected.text());
  const Image read{2, 3, 3, {1, 2, 3, 40, 50, 60, 255, 0, 7, 255, 0, 7, 40, 50, 60, 1, 2, 3}};
  EXPECT_EQ(parse_png(as_bytes(transparent), "file"), read);
}

TEST(Png, RefusesPalettesThatDoNotFit) {
  const auto refusal = [](const Image& indices, size_t bytes, int transparent = -1) {
    return error_of(ErrorKind::internal,
                    [&] { format_palette_png(indices, std::vector<uint8_t>(bytes), transparent); });
  };
  const Image indices{1, 2, 1, {0, 2}};
  EXPECT_EQ(refusal(indices, 6), "format_palette_png: index 2 is beyond the palette of 2 colours");
  EXPECT_EQ(refusal(indices, 0), "format_palette_png: 0 bytes are not a palette");
  EXPECT_EQ(refusal(indices, 10), "format_palette_png: 10 bytes are not a palette");
  EXPECT_EQ(refusal(indices, 771), "format_palette_png: 771 bytes are not a palette");
  EXPECT_EQ(refusal(indices, 9, 3),
            "format_palette_png: the transparent colour 3 is not in the palette of 3 colours");
  EXPECT_EQ(refusal({1, 1, 3, {0, 0, 0}}, 3), "format_palette_png: 3 channels are not indices");
}

TEST(Image, IsKnownByItsFirstBytes) {
  const auto refuse = [](std::span<const std::byte> bytes) { parse_image(bytes, "file"); };
  EXPECT_THAT(message_of(refuse, "name,class\na,b\n"),
              HasSubstr("expected a PNG or JPEG image; the 15 bytes"));
  EXPECT_THAT(message_of(refuse, ""), HasSubstr("this is an empty file"));
  try {
    read_image("/nowhere/a.png");
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::no_input);
  }
}

}  // namespace
}  // namespace modewise::io
