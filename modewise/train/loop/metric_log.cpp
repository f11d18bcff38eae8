#include "modewise/train/loop/metric_log.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "modewise/core/claims.h"
#include "modewise/core/file.h"
#include "modewise/core/output_file.h"
#include "modewise/core/system_call.h"

namespace modewise::train {

MetricLog::MetricLog(const std::filesystem::path& path, int64_t length) : path_(path), length_(length) {
  require_own_claim();
  descriptor_ = open_file(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
  require_call(descriptor_ >= 0, ErrorKind::io, "cannot open", path_.native());
  try {
    int cut = -1;
    do {
      cut = ::ftruncate(descriptor_, length);
    } while (cut != 0 && errno == EINTR);
    require_call(cut == 0 && ::lseek(descriptor_, length, SEEK_SET) == length, ErrorKind::io,
                 "cannot truncate to its recorded length", path_.native());
    sync();
    sync_directory(path_.parent_path());
  } catch (...) {
    ::close(descriptor_);
    throw;
  }
}

MetricLog::~MetricLog() {
  ::close(descriptor_);
}

void MetricLog::append(const nlohmann::ordered_json& line) {
  require_own_claim();
  const std::string text = line.dump() + "\n";
  write_all(descriptor_, as_bytes(text), path_.native());
  length_ += static_cast<int64_t>(text.size());
}

void MetricLog::sync() {
  sync_file(descriptor_, path_.native());
}

}  // namespace modewise::train
