#pragma once
// metrics.jsonl: one JSON object per line, without wall times, so that a resumed run writes the same bytes as
// an uninterrupted one.

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>

namespace modewise::train {

class MetricLog {
 public:
  /// Opens (or creates) the file and truncates it to `length` bytes (the checkpoint's record, 0 for a new
  /// run), then syncs the file and its folder.
  MetricLog(const std::filesystem::path& path, int64_t length);
  ~MetricLog();
  MetricLog(const MetricLog&) = delete;
  MetricLog& operator=(const MetricLog&) = delete;

  void append(const nlohmann::ordered_json& line);
  /// Syncs the lines to disk; called before a checkpoint records length().
  void sync();
  int64_t length() const { return length_; }

 private:
  std::filesystem::path path_;
  int descriptor_ = -1;
  int64_t length_ = 0;
};

}  // namespace modewise::train
