#include "modewise/io/images/jpeg.h"
#include "tests/fuzz/image_fuzz.h"

using namespace modewise::io;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  return survive(
      [&] { expect_image(parse_jpeg(input_bytes(data, size), "file", {.height = 5, .width = 7})); });
}
