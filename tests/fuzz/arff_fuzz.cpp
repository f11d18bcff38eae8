#include "modewise/io/tables/arff.h"
#include "tests/fuzz/cases.h"
#include "tests/fuzz/fuzz.h"

using namespace modewise::io;

FUZZ_TARGET(arff) {
  return survive([&] { expect_whole(parse_arff(input_bytes(data, size), "file")); });
}
