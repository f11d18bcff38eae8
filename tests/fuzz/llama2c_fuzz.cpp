#include "modewise/io/arrays/llama2c_checkpoint.h"
#include "tests/fuzz/fuzz.h"

using namespace modewise::io;

FUZZ_TARGET(llama2c) {
  return survive([&] {
    const auto bytes = input_bytes(data, size);
    const Llama2cCheckpoint read = parse_llama2c(bytes, "file");
    const std::string written = format_llama2c(read);
    expect(written.size() == size);
    const Llama2cCheckpoint again = parse_llama2c(std::as_bytes(std::span(written)), "file");
    expect(again.header.tied == read.header.tied && again.header.version == read.header.version);
    expect(std::equal(again.weights.down.begin(), again.weights.down.end(), read.weights.down.begin(),
                      read.weights.down.end()));
  });
}
