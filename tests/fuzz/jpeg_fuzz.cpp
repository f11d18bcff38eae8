#include "modewise/io/images/jpeg.h"
#include "tests/fuzz/image_fuzz.h"

using namespace modewise::io;

FUZZ_TARGET(jpeg) {
  return survive(
      [&] { expect_image(parse_jpeg(input_bytes(data, size), "file", {.height = 5, .width = 7})); });
}
