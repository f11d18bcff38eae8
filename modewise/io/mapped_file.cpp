#include "modewise/io/mapped_file.h"

#include <sys/mman.h>

#include <utility>

#include "modewise/core/system_call.h"
#include "modewise/io/regular_file.h"

namespace modewise::io {
namespace {

void unmap(std::span<const std::byte> bytes) {
  if (!bytes.empty()) ::munmap(const_cast<std::byte*>(bytes.data()), bytes.size());
}

}  // namespace

MappedFile::MappedFile(const std::filesystem::path& path) {
  const RegularFile file(path);
  if (file.size() == 0) return;
  void* address = ::mmap(nullptr, file.size(), PROT_READ, MAP_PRIVATE, file.descriptor(), 0);
  require_call(address != MAP_FAILED, ErrorKind::no_input, "cannot map", path.native());
  bytes_ = {static_cast<const std::byte*>(address), file.size()};
}

MappedFile::~MappedFile() {
  unmap(bytes_);
}

MappedFile::MappedFile(MappedFile&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  if (this != &other) {
    unmap(bytes_);
    bytes_ = std::exchange(other.bytes_, {});
  }
  return *this;
}

}  // namespace modewise::io
