#include "modewise/io/tables/ts_file.h"
#include "tests/fuzz/cases.h"
#include "tests/fuzz/fuzz.h"

using namespace modewise::io;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  return survive([&] { expect_whole(parse_ts(input_bytes(data, size), "file")); });
}
