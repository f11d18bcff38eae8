#include "modewise/io/images/cifar.h"
#include "tests/fuzz/fuzz.h"

using namespace modewise::io;

// Every byte of a record must be in the batch, and every label one of a class.
FUZZ_TARGET(cifar) {
  return survive([&] {
    const CifarBatch batch = parse_cifar(input_bytes(data, size), "file");
    expect(batch.labels.size() * kCifarRecord == size && batch.labels.size() + batch.pixels.size() == size);
    uint64_t before = 0, after = 0;
    for (size_t i = 0; i < size; ++i) before += data[i];
    for (const uint8_t label : batch.labels) {
      expect(label < kCifarClasses);
      after += label;
    }
    for (const uint8_t value : batch.pixels) after += value;
    expect(before == after);
  });
}
