#include "modewise/io/arrays/safetensors.h"
#include "tests/fuzz/fuzz.h"

using namespace modewise::io;

FUZZ_TARGET(safetensors) {
  return survive([&] {
    const SafetensorsIndex index(input_bytes(data, size), "file");
    const auto tensors = index.tensors();
    for (const TensorView& tensor : tensors)
      expect(index.find(tensor.name)->bytes.data() == tensor.bytes.data());
    const std::string written = format_safetensors(tensors, index.metadata());
    const SafetensorsIndex again(std::as_bytes(std::span(written)), "file");
    expect(again.size() == tensors.size() && again.metadata() == index.metadata());
    for (const TensorView& tensor : tensors) {
      const auto found = again.find(tensor.name);
      expect(found && found->shape == tensor.shape && found->dtype == tensor.dtype);
      expect(std::equal(found->bytes.begin(), found->bytes.end(), tensor.bytes.begin(), tensor.bytes.end()));
    }
  });
}
