#pragma once
// TensorBoard event files: TFRecords, each an Event of event.proto and summary.proto. A record is the length
// of its content (8 bytes, little-endian), the masked CRC-32C of the length, the content, and the masked
// CRC-32C of the content.

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace modewise::io {

struct EventImage {
  int64_t width = 0, height = 0;
  std::string png;
};

/// A value of a summary: `tag` is its name; the part before the first '/' is its group.
struct EventValue {
  std::string tag;
  std::variant<double, EventImage> value;  // numbers are stored as float32
};

/// `content` as a TFRecord.
std::string tf_record(std::string_view content);

// Events as bytes; `time` is in seconds since 1970.
/// The first event of a file.
std::string version_event(double time);
/// A session start: TensorBoard discards values of earlier files from `step` on.
std::string start_event(double time, int64_t step);
std::string summary_event(double time, int64_t step, std::span<const EventValue> values);

/// An event file that TensorBoard may read while it grows: each event is one write.
class EventFile {
 public:
  /// Creates events.out.tfevents.TIME.HOST in `folder`. Its name sorts after those of existing event files,
  /// the order in which TensorBoard reads them. cannot_create or io errors with the system's reason.
  explicit EventFile(const std::filesystem::path& folder);
  ~EventFile();
  EventFile(const EventFile&) = delete;
  EventFile& operator=(const EventFile&) = delete;

  void add_start(int64_t step);
  void add(int64_t step, std::span<const EventValue> values);
  /// Makes the events durable.
  void sync();
  const std::filesystem::path& path() const { return path_; }

 private:
  void write(std::string_view event);

  std::filesystem::path path_;
  int descriptor_ = -1;
};

/// Prefix of the names of event files.
inline constexpr std::string_view kEventFilePrefix = "events.out.tfevents.";

}  // namespace modewise::io
