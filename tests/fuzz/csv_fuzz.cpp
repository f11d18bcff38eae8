#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/table_fuzz.h"

using namespace modewise::io;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  return survive([&] { expect_whole(parse_csv(input_bytes(data, size), "file")); });
}
