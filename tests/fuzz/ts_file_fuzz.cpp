#include "modewise/io/tables/ts_file.h"
#include "tests/fuzz/cases.h"
#include "tests/fuzz/fuzz.h"

using namespace modewise::io;

FUZZ_TARGET(ts_file) {
  return survive([&] { expect_whole(parse_ts(input_bytes(data, size), "file")); });
}
