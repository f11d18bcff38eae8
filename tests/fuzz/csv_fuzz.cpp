#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/table_fuzz.h"

using namespace modewise::io;

FUZZ_TARGET(csv) {
  return survive([&] { expect_whole(parse_csv(input_bytes(data, size), "file")); });
}
