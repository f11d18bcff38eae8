#include "modewise/io/images/png.h"
#include "tests/fuzz/image_fuzz.h"

using namespace modewise::io;

FUZZ_TARGET(png) {
  return survive([&] {
    for (const PngPalette palette : {PngPalette::colors, PngPalette::indices}) {
      const PngNumbers image = parse_png_numbers(input_bytes(data, size), "file", palette);
      expect(image.height > 0 && image.width > 0 && image.channels >= 1 && image.channels <= 4);
      expect(std::ssize(image.bytes) == image.height * image.width * image.channels * image.number_bytes);
    }
    expect_image(parse_png(input_bytes(data, size), "file", {.height = 5, .width = 7}));
  });
}
