#include "modewise/train/metric_log.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "modewise/core/error.h"

namespace modewise::train {
namespace {

std::string reason() {
  return std::strerror(errno);
}

}  // namespace

MetricLog::MetricLog(const std::filesystem::path& path, int64_t length) : path_(path), length_(length) {
  descriptor_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
  require(descriptor_ >= 0, ErrorKind::io, "cannot open {}: {}", path.string(), reason());
  if (::ftruncate(descriptor_, length) != 0 || ::lseek(descriptor_, length, SEEK_SET) != length) {
    const std::string why = reason();
    ::close(descriptor_);
    fail(ErrorKind::io, "cannot cut {} to {} bytes: {}", path.string(), length, why);
  }
}

MetricLog::~MetricLog() {
  ::close(descriptor_);
}

void MetricLog::append(const nlohmann::ordered_json& line) {
  const std::string text = line.dump() + "\n";
  size_t written = 0;
  while (written < text.size()) {
    const ssize_t n = ::write(descriptor_, text.data() + written, text.size() - written);
    if (n < 0 && errno == EINTR) continue;
    require(n >= 0, ErrorKind::io, "cannot write {}: {}", path_.string(), reason());
    written += static_cast<size_t>(n);
  }
  length_ += static_cast<int64_t>(text.size());
}

void MetricLog::sync() {
  require(::fsync(descriptor_) == 0, ErrorKind::io, "cannot sync {}: {}", path_.string(), reason());
}

}  // namespace modewise::train
