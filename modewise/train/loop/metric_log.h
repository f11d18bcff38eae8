#pragma once
// metrics.jsonl: one JSON object a line. It holds no wall times, so that a resumed run's lines are the same
// bytes as an uninterrupted run's.

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>

namespace modewise::train {

class MetricLog {
 public:
  /// Opens (or makes) the file and cuts it to `length` bytes: what a checkpoint recorded, 0 for a new run.
  /// The file, its length and its name in the folder are durable afterwards.
  MetricLog(const std::filesystem::path& path, int64_t length);
  ~MetricLog();
  MetricLog(const MetricLog&) = delete;
  MetricLog& operator=(const MetricLog&) = delete;

  void append(const nlohmann::ordered_json& line);
  /// Makes the lines durable; called before a checkpoint records length().
  void sync();
  int64_t length() const { return length_; }

 private:
  std::filesystem::path path_;
  int descriptor_ = -1;
  int64_t length_ = 0;
};

}  // namespace modewise::train
