#include "modewise/io/images/png.h"
#include "tests/fuzz/image_fuzz.h"

using namespace modewise::io;

FUZZ_TARGET(png) {
  return survive(
      [&] { expect_image(parse_png(input_bytes(data, size), "file", {.height = 5, .width = 7})); });
}
