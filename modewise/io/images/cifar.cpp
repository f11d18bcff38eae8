#include "modewise/io/images/cifar.h"

#include "modewise/core/error.h"
#include "modewise/io/mapped_file.h"

namespace modewise::io {

CifarBatch parse_cifar(std::span<const std::byte> bytes, const std::string& source) {
  constexpr size_t record = kCifarRecord, plane = kCifarSide * kCifarSide;
  const size_t count = bytes.size() / record, rest = bytes.size() % record;
  require(count > 0 || rest > 0, ErrorKind::data, "{}: expected records of {} bytes, the file is empty",
          source, record);
  require(rest == 0, ErrorKind::data,
          "{}: {} bytes are not a multiple of the record size {}: record {} has {}, so the file is truncated "
          "or not a CIFAR-10 batch",
          source, bytes.size(), record, count, rest);
  CifarBatch batch;
  batch.labels.resize(count);
  batch.pixels.resize(count * 3 * plane);
  for (size_t n = 0; n < count; ++n) {
    const auto values = bytes.subspan(n * record, record);
    const auto label = std::to_integer<uint8_t>(values[0]);
    require(label < kCifarClasses, ErrorKind::data,
            "{}: record {} (byte {}) has label {}, but CIFAR-10 has the labels 0 to {}", source, n,
            n * record, label, kCifarClasses - 1);
    batch.labels[n] = label;
    uint8_t* pixels = batch.pixels.data() + n * 3 * plane;
    for (size_t c = 0; c < 3; ++c)
      for (size_t i = 0; i < plane; ++i)
        pixels[3 * i + c] = std::to_integer<uint8_t>(values[1 + c * plane + i]);
  }
  return batch;
}

CifarBatch read_cifar(const std::filesystem::path& path) {
  const MappedFile file(path);
  return parse_cifar(file.bytes(), path.string());
}

}  // namespace modewise::io
