#include "modewise/io/numeric_text.h"
#include "tests/fuzz/fuzz.h"

using namespace modewise::io;

FUZZ_TARGET(numeric_text) {
  return survive([&] {
    const NumericText matrix = parse_numeric_text(input_bytes(data, size), "file");
    expect(matrix.rows > 0 && matrix.columns > 0);
    expect(matrix.values.size() == static_cast<size_t>(matrix.rows * matrix.columns));
  });
}
