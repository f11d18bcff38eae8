#include "modewise/io/byte_source.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "modewise/core/system_call.h"

namespace modewise::io {

size_t MemorySource::read(uint64_t offset, std::span<std::byte> out) const {
  if (offset >= bytes_.size()) return 0;
  const size_t count = std::min<uint64_t>(out.size(), bytes_.size() - offset);
  std::copy_n(bytes_.begin() + static_cast<std::ptrdiff_t>(offset), count, out.begin());
  return count;
}

size_t FileSource::read(uint64_t offset, std::span<std::byte> out) const {
  if (offset >= file_.size()) return 0;
  size_t done = 0;
  while (done < out.size()) {
    const ssize_t count =
        ::pread(file_.descriptor(), out.data() + done, out.size() - done, static_cast<off_t>(offset + done));
    if (count < 0 && errno == EINTR) continue;
    require_call(count >= 0, ErrorKind::io, "cannot read", path_.native());
    if (count == 0) break;
    done += static_cast<size_t>(count);
  }
  return done;
}

}  // namespace modewise::io
