#include "modewise/io/arrays/npy.h"
#include "tests/fuzz/fuzz.h"

using namespace modewise::io;

FUZZ_TARGET(npy) {
  return survive([&] {
    const Array array = parse_npy(input_bytes(data, size), "file");
    expect(array.bytes.size() <= size);
    expect(to_doubles(array).size() == static_cast<size_t>(array.size()));
    const std::string written = format_npy(array);
    const Array again = parse_npy(std::as_bytes(std::span(written)), "file");
    expect(again.dtype == array.dtype && again.shape == array.shape && again.bytes == array.bytes);
  });
}
