#include "modewise/io/arrays/npz.h"
#include "tests/fuzz/fuzz.h"

using namespace modewise::io;

FUZZ_TARGET(npz) {
  return survive([&] {
    const auto arrays = parse_npz(input_bytes(data, size), "file", 16 << 20);
    const std::string written = format_npz(arrays, true);
    const auto again = parse_npz(std::as_bytes(std::span(written)), "file");
    expect(again.size() == arrays.size());
    for (const auto& [name, array] : arrays) expect(again.at(name).bytes == array.bytes);
  });
}
