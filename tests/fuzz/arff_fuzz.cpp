#include "modewise/io/tables/arff.h"
#include "tests/fuzz/cases.h"
#include "tests/fuzz/fuzz.h"

using namespace modewise::io;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  return survive([&] { expect_whole(parse_arff(input_bytes(data, size), "file")); });
}
